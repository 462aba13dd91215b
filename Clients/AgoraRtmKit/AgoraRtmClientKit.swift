// The compatible API over `RTMClient`. It translates names, defaults and objects, and decides nothing.
//
// Ownership: the kit owns the client below. The task that forwards events, and calls under way, refer to that
// client and to the queues but never to the kit. So releasing the kit ends everything, just as `destroy`
// does.

import Logging
import NIOConcurrencyHelpers
import RTMClient
import RTMModel

/// One user of one app: it logs in, subscribes, publishes, and gets events through its delegates.
///
/// Every call has two forms that do the same: one takes a completion block, the other is `async`. Each call
/// completes exactly once, with a response and no error, or with an error and no response (S-0a). Completion
/// blocks and delegates are called on the main queue, or on the one that the app chooses (see
/// ``AgoraRtmClientConfig/callbackQueue``), one after the other and in the order in which things happened.
/// When the task that waits for an `async` form is cancelled, the call completes at once with an error; what
/// was already sent may still take effect.
///
/// A process may have several clients. A client that is released without `destroy()` logs out and releases
/// everything itself.
public final class AgoraRtmClientKit: NSObject, Sendable {
    /// Nil after `destroy`.
    private let client: NIOLockedValueBox<RTMClient?>
    private let services: AgoraRtmServiceType
    private let delegates = DelegateList()
    private let calls = SerialTaskExecutor(label: "AgoraRtmKit.calls")
    private let callbacks: CallbackQueue
    let streams = StreamLinks()

    /// Checks the configuration and copies it; nothing is sent (S-0c).
    ///
    /// - Parameter delegate: the first delegate, held weakly. More can be added with ``addDelegate(_:)``.
    /// - Throws: ``AgoraRtmErrorInfo`` with `.invalidAppId` (-10003) for an empty app id, `.invalidUserId`
    ///   (-10006), `.invalidPrivateConfig` (-10024) for an incomplete `privateConfig`, `.invalidParameter`
    ///   (-10014) for a proxy without server or port, `.invalidEncryptionParameter` (-10020) if mode, key and
    ///   salt of the encryption don't fit together, or `.initServiceFailed` (-10007) if the certificate
    ///   authorities can't be read or the log file can't be written.
    public init(_ config: AgoraRtmClientConfig, delegate: (any AgoraRtmClientDelegate)?) throws {
        let client: RTMClient
        do throws(RTMError) {
            client = try RTMClient(config.clientConfiguration())
        } catch {
            throw AgoraRtmErrorInfo(error)
        }
        self.client = NIOLockedValueBox(client)
        services = config.services
        callbacks = CallbackQueue(target: config.callbackQueue)
        super.init()
        if let delegate { delegates.add(delegate) }
        callbacks.setDelivery { [weak self] in self?.deliver($0) }
        let logger = client.configuration.logger
        client.attach(
            EventArrival(calls: calls) { [callbacks] event in
                Self.log(event, to: logger)
                callbacks.append(event)
            })
    }

    deinit {
        if let client = client.withLockedValue({ $0 }) { close(client) }
    }

    /// Logs out and releases everything. No delegate is called any more. The completion blocks of calls that
    /// are under way get `.instanceAlreadyReleased` (-10018), and so does every later call.
    ///
    /// It may be called anywhere, even inside a callback. It returns at once, and the connection is closed in
    /// the background (S-9).
    ///
    /// - Returns: `.ok`, or `.instanceAlreadyReleased` (-10018) from the second call on.
    @discardableResult
    public func destroy() -> AgoraRtmErrorCode {
        let client = client.withLockedValue { client in
            defer { client = nil }
            return client
        }
        guard let client else { return .instanceAlreadyReleased }
        delegates.removeAll()
        close(client)
        return .ok
    }

    var isReleased: Bool { client.withLockedValue { $0 == nil } }

    private func close(_ client: RTMClient) {
        // Unstructured: neither destroy() nor deinit can wait. It comes after the calls made before it.
        Task(executorPreference: calls) { await client.close() }
    }
}

// MARK: - Delegates

extension AgoraRtmClientKit {
    /// From now on the delegate gets every event, after the delegates that were added before it. It is held
    /// weakly, so the app has to keep it. Adding it again doesn't double its events.
    public func addDelegate(_ delegate: any AgoraRtmClientDelegate) {
        guard client.withLockedValue({ $0 != nil }) else { return }
        delegates.add(delegate)
    }

    /// From now on no callback of the delegate begins, even for events that are already waiting (N-8). A
    /// callback that another thread is just running comes to its end.
    public func removeDelegate(_ delegate: any AgoraRtmClientDelegate) {
        delegates.remove(delegate)
    }

    private func deliver(_ next: CallbackBuffer.Next) {
        switch next {
        case .event(let event): deliver(event)
        case .loss(let dropped): deliver(dropped)
        case .block(let block): block()
        }
    }

    /// Calls the delegates for one event. It is called on the callback queue only.
    func deliver(_ event: RTMEvent) {
        switch event {
        case .message(let message):
            let event = AgoraRtmMessageEvent(message)
            delegates.notify { $0.rtmKit(self, didReceiveMessageEvent: event) }
        case .metadata(let event):
            let event = AgoraRtmStorageEvent(event)
            delegates.notify { $0.rtmKit(self, didReceiveStorageEvent: event) }
        case .lock(let event):
            let event = AgoraRtmLockEvent(event)
            delegates.notify { $0.rtmKit(self, didReceiveLockEvent: event) }
        case .linkState(let change):
            let event = AgoraRtmLinkStateEvent(change)
            delegates.notify { $0.rtmKit(self, didReceiveLinkStateEvent: event) }
            deliverInEarlierWords(change)
            if let event = AgoraRtmTokenEvent(change) { deliver(event) }
            if change.serviceType == .message { deliver(streams.linkChanged(change)) }
        case .topic(let event):
            let event = AgoraRtmTopicEvent(event)
            delegates.notify { $0.rtmKit(self, didReceiveTopicEvent: event) }
        case .streamChannelEnded(let event):
            deliver(streams.ended(event))
        case .presence(let presence):
            for event in AgoraRtmPresenceEvent.events(of: presence) {
                delegates.notify { $0.rtmKit(self, didReceivePresenceEvent: event) }
            }
        case .tokenWillExpire(let notice):
            delegates.notify { $0.rtmKit(self, tokenPrivilegeWillExpire: notice.channelName) }
            deliver(AgoraRtmTokenEvent(notice))
        case .gap, .undecryptable, .overflow, .outbox:
            // This API has no event for these, and no outbox. The log has the gap and what can't be decrypted
            // (E-4), and after a reconnect the channel is in `unrestoredChannels`. This client's events don't
            // overflow, they are dropped by its own line.
            break
        }
    }

    private func deliver(_ event: AgoraRtmTokenEvent) {
        delegates.notify { $0.rtmKit(self, didReceiveTokenEvent: event) }
    }

    /// The callback of earlier versions (S-24).
    private func deliverInEarlierWords(_ change: LinkStateEvent) {
        let channel = change.serviceType == .stream ? change.affectedChannels.first ?? "" : ""
        let state = AgoraRtmClientConnectionState(change)
        let reason = AgoraRtmClientConnectionChangeReason(change.reasonCode)
        delegates.notify {
            $0.rtmKit(self, channel: channel, connectionChangedToState: state, reason: reason)
        }
    }

    /// The links of stream channels change with the link of the client (S-31).
    private func deliver(_ changes: [LinkStateEvent]) {
        for change in changes { deliver(.linkState(change)) }
    }

    /// Reports the events for which the delegates were too slow: a link event in which the state stays what
    /// it is, and which names the channels whose events are missing (S-25).
    private func deliver(_ dropped: DroppedEvents) {
        guard let client = client.withLockedValue({ $0 }) else { return }
        client.configuration.logger.warning(
            "events were dropped: callbacks are too slow", metadata: ["events": "\(dropped.count)"])
        let event = AgoraRtmLinkStateEvent(dropped, state: client.linkState)
        delegates.notify { $0.rtmKit(self, didReceiveLinkStateEvent: event) }
    }

    private static func log(_ event: RTMEvent, to logger: Logger) {
        switch event {
        case .linkState(let change):
            logger.info(
                "link state changed",
                metadata: [
                    "from": "\(change.previousState)", "to": "\(change.currentState)",
                    "reason": "\(change.reasonCode)", "cause": "\(change.reason)",
                ])
        case .gap(let gap):
            logger.warning(
                "messages were lost: the server no longer has them",
                metadata: ["channel": "\(gap.channelName)", "type": "\(gap.channelType)"])
        case .undecryptable(let event):
            logger.error(
                "a content could not be decrypted",
                metadata: [
                    "channel": "\(event.channelName)", "type": "\(event.channelType)",
                    "publisher": "\(event.publisher ?? "")", "reason": "\(event.failure.reason)",
                    "key": "\(event.failure.keyID?.description ?? "")", "count": "\(event.count)",
                ])
        default: break
        }
    }
}

// MARK: - Performing calls

extension AgoraRtmClientKit {
    typealias Block<Response> = @Sendable (Response?, AgoraRtmErrorInfo?) -> Void
    typealias Call<Response> = @Sendable (RTMClient) async throws(RTMError) -> Response

    /// The block form of a call. It doesn't keep the kit alive.
    func begin<Response: Sendable>(
        _ operation: String, needs service: AgoraRtmServiceType = [], _ completion: Block<Response>?,
        _ call: @escaping Call<Response>
    ) {
        let target = target(of: operation, needing: service)
        // Unstructured: the completion block is how the app waits. Ends with the call, or by close().
        Task(executorPreference: calls) { [callbacks] in
            let (response, errorInfo) = await Self.outcome(of: call, operation, on: target)
            if let completion { callbacks.append { completion(response, errorInfo) } }
        }
    }

    /// The `async` form of a call. It takes the same way as the block form, which keeps the order among both.
    func perform<Response: Sendable>(
        _ operation: String, needs service: AgoraRtmServiceType = [], _ call: @escaping Call<Response>
    ) async -> (Response?, AgoraRtmErrorInfo?) {
        let target = target(of: operation, needing: service)
        return await withTaskExecutorPreference(calls) {
            await Self.outcome(of: call, operation, on: target)
        }
    }

    /// Shows a change of the link of a stream channel, behind what happened before it.
    func show(_ change: LinkStateEvent) { callbacks.append(.linkState(change)) }

    /// Whether privateConfig leaves the service out.
    func lacks(_ service: AgoraRtmServiceType) -> Bool { !services.isSuperset(of: service) }

    /// The block form of a call whose success has no content.
    func begin(
        _ operation: String, needs service: AgoraRtmServiceType = [], _ completion: AgoraRtmOperationBlock?,
        _ call: @escaping Call<Void>
    ) {
        begin(operation, needs: service, completion, Self.withCommonResponse(call))
    }

    /// The `async` form of a call whose success has no content.
    func perform(
        _ operation: String, needs service: AgoraRtmServiceType = [], _ call: @escaping Call<Void>
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform(operation, needs: service, Self.withCommonResponse(call))
    }

    private static func withCommonResponse(_ call: @escaping Call<Void>) -> Call<AgoraRtmCommonResponse> {
        { client in
            try await call(client)
            return AgoraRtmCommonResponse()
        }
    }

    private func target(
        of operation: String, needing service: AgoraRtmServiceType
    ) -> Result<RTMClient, RTMError> {
        guard let client = client.withLockedValue({ $0 }) else {
            return .failure(
                RTMError(
                    .instanceAlreadyReleased, "the client was used after destroy()", operation: operation))
        }
        guard services.isSuperset(of: service) else {
            return .failure(
                RTMError(
                    .serviceNotSupport,
                    "\(operation) needs a service that privateConfig.serviceType leaves out",
                    operation: operation))
        }
        return .success(client)
    }

    private static func outcome<Response: Sendable>(
        of call: Call<Response>, _ operation: String, on target: Result<RTMClient, RTMError>
    ) async -> (Response?, AgoraRtmErrorInfo?) {
        do throws(RTMError) {
            return try await (call(target.get()), nil)
        } catch {
            var error = error
            // The operation's name in this API: the call below may have another name, or may not have been
            // reached.
            error.operation = operation
            return (nil, AgoraRtmErrorInfo(error))
        }
    }
}

// MARK: - Services

extension AgoraRtmClientKit {
    /// Returns the calls about the metadata of channels and users. The object keeps this client alive.
    public func getStorage() -> AgoraRtmStorage? { AgoraRtmStorage(self) }

    /// Returns the calls about the locks of channels. The object keeps this client alive.
    public func getLock() -> AgoraRtmLock? { AgoraRtmLock(self) }

    /// Returns the calls about stored messages. The object keeps this client alive.
    public func getHistory() -> AgoraRtmHistory? { AgoraRtmHistory(self) }
}
