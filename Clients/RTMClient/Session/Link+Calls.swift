import NIOCore
import RTMModel
import RTMProtocol

// The calls of the app. Each either completes here or leaves its completion in a table.
extension Link {
    func login(token: String?, _ completion: Completion<Void>) {
        guard !isClosed else { return completion.fail(.released) }
        logins[completion.id] = completion
        perform(machine.login(completion.id, token: token, now: now))
    }

    /// S-7: the session lives on whatever the answer is.
    func reauthenticate(_ id: UInt64, token: String) {
        guard let completion = logins.removeValue(forKey: id) else { return }
        sendRenewal(token, completion)
    }

    /// S-52.
    func renewToken(_ token: String, _ completion: Completion<Void>) {
        guard isReady(for: completion) else { return }
        sendRenewal(token, completion)
    }

    private func sendRenewal(_ token: String, _ completion: Completion<Void>) {
        request(completion, .renewToken(completion, token: token)) { $0.renewToken.token = token }
    }

    func loginRequest(token: String?) -> Rtm_Client_Login {
        var login = Rtm_Client_Login()
        login.appID = configuration.appID
        login.userID = configuration.userID
        login.token = token ?? configuration.appID
        login.heartbeatIntervalS = configuration.heartbeatSeconds
        login.presenceTimeoutS = configuration.presenceTimeoutSeconds
        login.instance = instance
        login.attempt = connection?.attempt ?? 0
        login.asked = machine.pendingLogin != nil
        if let seen = inbox.seen { login.inboxAfter = Rtm_Client_StreamPosition(seen) }
        return login
    }

    /// T7, T8, T11.
    func networkChanged() {
        guard !isClosed else { return }
        perform(machine.networkChanged(now: now))
    }

    func logout(_ completion: Completion<Void>) {
        guard !isClosed else { return completion.fail(.released) }
        guard machine.state != .idle else { return completion.fail(.notLogin, "not logged in") }
        logouts.append(completion)
        perform(machine.logout())
        completeGoodbyes()
    }

    func close(_ continuation: CheckedContinuation<Void, Never>?) {
        if let continuation { closings.append(continuation) }
        if !isClosed {
            isClosed = true
            perform(machine.logout(loginError: .released))
            hub.finish()
            watchers.finish()
        }
        completeGoodbyes()
    }

    func subscribe(
        to channel: String, features: SubscriptionFeatures, _ completion: Completion<Subscription>
    ) {
        guard isReady(for: completion) else { return }
        do {
            try subscriptions.subscribe(to: channel, features: features, request: completion.id)
        } catch {
            return completion.fail(error)
        }
        request(completion, .subscribe(completion, channel: channel, features: features)) {
            $0.subscribe.channel = channel
            $0.subscribe.features = features.rawValue
        }
    }

    func unsubscribe(from channel: String, _ completion: Completion<Void>) {
        guard !isClosed else { return completion.fail(.released) }
        switch machine.state {
        case .idle, .failed:
            completion.fail(.notLogin, "not logged in")
        case .connecting, .disconnected, .suspended:
            // S-16: nothing to send; it is just not restored.
            ended(channel)
            endWaits(of: channel, .lockOperationFailed, "the channel was left")
            completion.succeed()
        case .connected:
            guard subscriptions.contains(channel) else {
                return completion.fail(.channelNotSubscribed, "channel '\(channel)' is not subscribed")
            }
            subscriptions.beginLeaving(channel)
            request(completion, .unsubscribe(completion, channel: channel)) {
                $0.unsubscribe.channel = channel
            }
        }
    }

    func publish(_ message: OutgoingMessage, _ completion: Completion<PublishReceipt>) {
        if machine.state == .connected, connection?.handler.isBacklogged == true {
            return completion.fail(
                RTMError(
                    .channelPublishMessageTooFrequent,
                    "messages are published faster than the connection takes them",
                    limit: .init(name: "unsent bytes", value: UInt64(ServerConnection.unsentBytesMax))))
        }
        guard isReady(for: completion) else { return }
        lastSequence += 1
        var publish = message.request
        publish.sequence = lastSequence
        let call = ServerCall(completion) { body in
            guard case .published(let published) = body else { return nil }
            return PublishReceipt(timestampMilliseconds: published.timestampMs, offset: published.offset)
        }
        let isBehind = connection?.holdsPublishes == true
        let unanswered = RequestTable.UnansweredPublish(
            call: call, request: publish, sentAt: now, epoch: inbox.seen?.epoch ?? 0,
            waiting: isBehind ? .unsent : nil)
        if isBehind {
            add(completion.id, .publish(unanswered), deadline: now + configuration.requestTimeout)
        } else {
            request(completion, .publish(unanswered)) { $0.publish = publish }
        }
    }

    func ping(_ completion: Completion<Duration>) {
        let sentAt = now
        call(completion, .heartbeat(Rtm_Client_Heartbeat())) { [self] body in
            guard case .heartbeatAck = body else { return nil }
            return now - sentAt
        }
    }

    /// S-8, S-9.
    func isReady<Value>(for completion: Completion<Value>) -> Bool {
        if isClosed {
            completion.fail(.released)
            return false
        }
        switch machine.state {
        case .connected where requests.isFull:
            completion.fail(
                RTMError(
                    .operationRateExceedLimitation,
                    "\(RequestTable.capacity) calls wait for an answer already",
                    limit: .init(name: "calls in flight", value: UInt64(RequestTable.capacity))))
        case .connected:
            return true
        case .idle, .failed:
            completion.fail(.notLogin, "not logged in")
        case .connecting, .disconnected, .suspended:
            completion.fail(
                completion.operation.codes.notConnected, "there is no connection at present: \(machine.state)"
            )
        }
        return false
    }

    func request<Value>(
        _ completion: Completion<Value>, _ request: RequestTable.Request, within time: AnswerTime = .usual,
        _ fill: (inout Rtm_Client_ClientFrame) -> Void
    ) {
        add(completion.id, request, deadline: time == .usual ? now + configuration.requestTimeout : nil)
        send(completion.id, fill)
    }

    private func add(_ id: UInt64, _ request: RequestTable.Request, deadline: Instant?) {
        requests.add(id, request, deadline: deadline)
        if let deadline { armTimer(by: deadline) }
    }

    /// The task that waited for this call was cancelled.
    func cancel(_ id: UInt64) {
        if let login = logins[id] {
            perform(machine.cancelLogin(id, error: .cancelled(login.operation)))
        } else if let request = requests.take(id) {
            giveUp(id, request) { .cancelled($0) }
        } else if cancelWait(id) {
            return
        } else if let index = logouts.firstIndex(where: { $0.id == id }) {
            logouts.remove(at: index).fail(.cancelled(.logout))
        }
    }
}
