import Foundation
import NIOCore
import RTMModel
import RTMProtocol

// What ends a call: the server's answer, the time, a cancellation, or the loss of the connection.
extension Link {
    func answered(_ id: UInt64, _ body: Rtm_Client_ServerFrame.OneOf_Body) {
        if case .heartbeatAck = body { connection?.heartbeat?.answered(id) }
        if case .error(let error) = body, willPublishAgain(id, error) { return }
        guard let request = requests.take(id) else { return answeredLate(id, body) }
        switch (request, body) {
        case (.call(let call), _):
            call.answered(body)
        case (.userMetadata(let request), _):
            answered(request, body)
        case (.lock(let request), _):
            answered(request, body)
        case (.refresh(let refresh), _):
            refreshed(refresh, body)
        case (.publish(let publish), _):
            publish.call.answered(body)
            publishHeld()
        case (.subscribe(let completion, let channel, let features), .subscribed(let answer)):
            subscribed(completion, channel: channel, features: features, answer)
        case (.unsubscribe(let completion, let channel), .unsubscribed):
            left(channel)
            completion.succeed()
        case (.renewToken(let completion, let token), .tokenRenewed):
            machine.tokenRenewed(token)
            completion.succeed()
        case (.restore(let restoration), .subscribed(let answer)):
            restored(restoration, answer)
        case (_, .error(let error)):
            refused(id, request, RTMError(error, unknownCode: request.operation.codes.refused))
        default:
            let code = request.operation.codes.failed
            refused(id, request, RTMError(code, "the server's answer doesn't fit the request"))
        }
    }

    /// Nobody waits any more, but what the server has taken is what counts.
    private func answeredLate(_ id: UInt64, _ body: Rtm_Client_ServerFrame.OneOf_Body) {
        switch body {
        case .tokenRenewed:
            guard let late = connection?.lateRenewal, late.request == id else { return }
            machine.tokenRenewed(late.token)
        case .subscribed(let answer):
            guard let channel = connection?.lateSubscribes.removeValue(forKey: id) else { return }
            let gap = subscriptions.confirm(
                channel, request: nil, position: StreamPosition(answer.position), hasGap: answer.gap)
            if let gap { hub.emit(.gap(gap)) }
        case .lockAcquired:
            acquiredLate(id)
        default: break
        }
    }

    private func subscribed(
        _ completion: Completion<Subscription>, channel: String, features: SubscriptionFeatures,
        _ answer: Rtm_Client_Subscribed
    ) {
        let position = StreamPosition(answer.position)
        let gap = subscriptions.confirm(
            channel, request: completion.id, position: position, hasGap: answer.gap)
        let unavailable = SubscriptionFeatures(rawValue: answer.featuresUnavailable)
        completion.succeed(
            Subscription(
                channelName: channel, position: position, features: features,
                unavailableFeatures: unavailable))
        if let gap { emit(.gap(gap), of: channel, .message) }
        guard subscriptions.isActive(channel) else { return }
        putOffRefresh(of: channel, unavailable)
        followPresence(
            of: channel, features: features, unavailable: unavailable, epoch: position.epoch, isNew: true)
    }

    private func restored(
        _ restoration: SubscriptionTable.Restoration, _ answer: Rtm_Client_Subscribed
    ) {
        let channel = restoration.channel
        guard subscriptions.contains(channel) else {
            // S-16: the app has left it since, and the server is to know of it.
            send(requestIDs.next()) { $0.unsubscribe.channel = channel }
            return restorationEnded()
        }
        let position = StreamPosition(answer.position)
        let unavailable = SubscriptionFeatures(rawValue: answer.featuresUnavailable)
        if let gap = subscriptions.confirm(channel, request: nil, position: position, hasGap: answer.gap) {
            emit(.gap(gap), of: channel, .message)
            connection?.unrestored.append(channel)
        }
        // What was missed, or was never there, would have come as a snapshot.
        putOffRefresh(of: channel, unavailable)
        followPresence(
            of: channel, features: restoration.features, unavailable: unavailable, epoch: position.epoch,
            isNew: false)
        restorationEnded()
    }

    func restorationEnded() {
        connection?.restoring -= 1
        finishRestoringIfDone()
    }

    private func refused(_ id: UInt64, _ request: RequestTable.Request, _ error: RTMError) {
        switch request {
        case .call(let call): call.fail(error)
        case .userMetadata(let request): refused(request, error)
        case .lock(let request): refused(request, error)
        case .refresh(let refresh): refreshFailed(refresh, error)
        case .publish(let publish): publish.call.fail(error)
        case .renewToken(let completion, _): completion.fail(error)
        case .subscribe(let completion, let channel, _):
            _ = subscriptions.abandon(channel, request: id)
            completion.fail(error)
        case .unsubscribe(let completion, let channel):
            // A server that knows of no subscription has none to go on with.
            if error.code == .channelNotSubscribed {
                left(channel)
            } else {
                subscriptions.stay(channel)
            }
            completion.fail(error)
        case .restore(let restoration) where !subscriptions.contains(restoration.channel):
            restorationEnded()
        case .restore where error.maySoonPass:
            // S-19: the app asked for this subscription and isn't to ask again because of a bad moment.
            end(.connectionError("a subscription could not be restored yet: \(error.reason)"))
        case .restore(let restoration):
            ended(restoration.channel)
            connection?.unrestored.append(restoration.channel)
            restorationEnded()
        }
    }

    /// An unsubscribe is over: unless the channel was subscribed anew meanwhile, nothing of it remains.
    private func left(_ channel: String) {
        if subscriptions.finishLeaving(channel) { forgetPresence(of: channel) }
    }

    func ended(_ channel: String) {
        subscriptions.remove(channel)
        forgetPresence(of: channel)
    }

    func expire(_ id: UInt64, _ request: RequestTable.Request) {
        let time = configuration.requestTimeout
        giveUp(id, request) { operation in
            let outcome = operation == .publish ? "; whether the message was published is unknown" : ""
            return RTMError(operation.codes.timedOut, "the server did not answer within \(time)\(outcome)")
        }
    }

    /// Nobody waits for the answer any more, though it may still come.
    func giveUp(_ id: UInt64, _ request: RequestTable.Request, _ error: (Operation) -> RTMError) {
        switch request {
        case .call(let call): call.fail(error(call.operation))
        case .userMetadata(let request): giveUp(request, error(request.operation))
        case .lock(let request): giveUp(id, request, error(request.operation))
        case .refresh(let refresh): refreshFailed(refresh, error(.getChannelMetadata))
        case .publish(let publish): giveUp(publish, error(.publish))
        case .renewToken(let completion, let token):
            connection?.lateRenewal = (id, token)
            completion.fail(error(completion.operation))
        case .subscribe(let completion, let channel, _):
            // The server may have subscribed: what nobody heard of must not stay.
            if subscriptions.abandon(channel, request: id) {
                send(requestIDs.next()) { $0.unsubscribe.channel = channel }
            } else if subscriptions.contains(channel) {
                connection?.lateSubscribes[id] = channel
            }
            completion.fail(error(.subscribe))
        case .unsubscribe(let completion, let channel):
            left(channel)
            completion.fail(error(.unsubscribe))
        case .restore:
            end(.connectionError("the server did not answer while subscriptions were restored"))
        }
    }

    /// The connection is gone, and the client will come back: publishes without an answer are sent again
    /// then. Nothing else is.
    func failLostRequests(reason: String) {
        for (id, request) in requests.takeLost(keptMax: Limits.repeatedPublishesMax) {
            fail(id, request, reason: reason)
        }
    }

    /// The session is over. What can't be known is said.
    func failRequests(reason: String) {
        for (id, request) in requests.takeAll() { fail(id, request, reason: reason) }
    }

    private func fail(_ id: UInt64, _ request: RequestTable.Request, reason: String) {
        if isClosed { return giveUp(id, request) { _ in .released } }
        switch request {
        case .publish(let publish): lost(publish.call, reason: reason)
        case .call(let call): lost(call, reason: reason)
        case .userMetadata(let request): lost(request, reason: reason)
        case .lock(let request): lost(request, reason: reason)
        case .renewToken(let completion, _):
            completion.fail(
                .notConnected, "the connection was lost before the token was renewed: \(reason)")
        case .subscribe(let completion, let channel, _):
            _ = subscriptions.abandon(channel, request: id)
            completion.fail(.notConnected, "the connection was lost: \(reason)")
        case .unsubscribe(let completion, let channel):
            // S-16: it won't be restored, which is what was asked for.
            left(channel)
            completion.succeed()
        case .restore, .refresh:
            break
        }
    }

    private func lost(_ call: ServerCall, reason: String) {
        call.fail(
            RTMError(
                call.operation.codes.lost,
                "the connection was lost before the answer came, what became of the call is unknown: "
                    + reason))
    }
}

extension RequestTable.Request {
    var operation: Operation {
        switch self {
        case .renewToken(let completion, _): completion.operation
        case .subscribe, .restore: .subscribe
        case .unsubscribe: .unsubscribe
        case .call(let call): call.operation
        case .userMetadata(let request): request.operation
        case .lock(let request): request.operation
        case .refresh: .getChannelMetadata
        case .publish: .publish
        }
    }
}

extension StreamPosition {
    init(_ position: Rtm_Client_StreamPosition) {
        self.init(epoch: position.epoch, offset: position.offset)
    }
}

extension Rtm_Client_StreamPosition {
    init(_ position: StreamPosition) {
        self.init()
        epoch = position.epoch
        offset = position.offset
    }
}

extension RTMError {
    /// Of a subscribe: nothing is wrong with the request, the server just couldn't do it.
    fileprivate var maySoonPass: Bool {
        code == .channelSubscribeTimeout || code == .channelSubscribeFailed && limit == nil
    }

    /// A code that this version doesn't know is shown by its number in the reason.
    init(_ error: Rtm_Client_Error, unknownCode: ErrorCode) {
        let code = ErrorCode(rawValue: error.code.rawValue)
        let reason = code == nil ? "\(error.reason) (code \(error.code.rawValue))" : error.reason
        self.init(
            code ?? unknownCode, reason,
            retryAfter: error.retryAfterMs > 0 ? .milliseconds(error.retryAfterMs) : nil,
            limit: error.hasLimit ? .init(name: error.limit.name, value: error.limit.value) : nil,
            conflict: error.hasConflict ? .init(error.conflict) : nil)
    }
}

extension RTMError.Conflict {
    init(_ conflict: Rtm_Client_Conflict) {
        self.init(
            majorRevision: conflict.majorRevision, key: conflict.key.isEmpty ? nil : conflict.key,
            revision: conflict.revision)
    }
}
