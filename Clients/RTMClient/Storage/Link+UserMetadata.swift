import Logging
import RTMModel
import RTMProtocol

// Users whose metadata are followed: like subscribed channels, in a table of their own (D-44, L-38, S-19).
extension Link {
    func subscribeUserMetadata(_ userID: String, _ completion: Completion<Void>) {
        guard isReady(for: completion) else { return }
        do {
            try userMetadata.subscribe(to: userID, features: .metadata, request: completion.id)
        } catch {
            return completion.fail(error)
        }
        request(completion, .userMetadata(.subscribe(completion, userID: userID))) {
            $0.subscribeUserMetadata.userID = userID
        }
    }

    /// D-15; S-16: works without a connection too.
    func unsubscribeUserMetadata(_ userID: String, _ completion: Completion<Void>) {
        guard !isClosed else { return completion.fail(.released) }
        switch machine.state {
        case .idle, .failed:
            completion.fail(.notLogin, "not logged in")
        case .connecting, .disconnected, .suspended:
            userMetadata.remove(userID)
            completion.succeed()
        case .connected:
            guard userMetadata.contains(userID) else {
                return completion.fail(
                    .storageNotSubscribe, "the metadata of user '\(userID)' are not subscribed")
            }
            // The server doesn't know of one that it is still to be asked for.
            if connection?.unfollowed.remove(userID) == true {
                userMetadata.remove(userID)
                return completion.succeed()
            }
            userMetadata.beginLeaving(userID)
            request(completion, .userMetadata(.unsubscribe(completion, userID: userID))) {
                $0.unsubscribeUserMetadata.userID = userID
            }
        }
    }

    func restoreUserMetadata() {
        let restorations = userMetadata.restorations
        connection?.restoring += restorations.count
        for restoration in restorations { send(restoration, .restore(restoration)) }
    }

    private func send(_ restoration: SubscriptionTable.Restoration, _ request: UserMetadataRequest) {
        let id = requestIDs.next()
        let deadline = now + configuration.requestTimeout
        requests.add(id, .userMetadata(request), deadline: deadline)
        send(id) {
            $0.subscribeUserMetadata.userID = restoration.channel
            if let after = restoration.after {
                $0.subscribeUserMetadata.after = Rtm_Client_StreamPosition(after)
            }
        }
        armTimer(by: deadline)
    }

    /// S-19: storage may be away for longer than the session is to wait for it. Until it is back the user
    /// stays among those that are followed.
    private func followLater(_ userID: String, after pause: Duration) {
        let time = now + pause
        connection?.unfollowed.put(userID, until: time)
        armTimer(by: time)
    }

    func followAgainIfDue() {
        let due = connection?.unfollowed.takeDue(now: now) ?? []
        guard !due.isEmpty else { return }
        for restoration in userMetadata.restorations where due.contains(restoration.channel) {
            send(restoration, .restoreLate(restoration))
        }
    }

    // MARK: Answers

    /// Lost entries are not told: the snapshot that follows an answer holds what they led to.
    func answered(_ request: UserMetadataRequest, _ body: ServerBody) {
        switch (request, body) {
        case (_, .error(let error)):
            refused(request, RTMError(error, unknownCode: request.operation.codes.refused))
        case (.subscribe(let completion, let userID), .userMetadataSubscribed(let answer)):
            _ = userMetadata.confirm(
                userID, request: completion.id, position: StreamPosition(answer.position), hasGap: answer.gap)
            _ = connection?.unfollowed.remove(userID)
            completion.succeed()
        case (.unsubscribe(let completion, let userID), .done):
            userMetadata.finishLeaving(userID)
            completion.succeed()
        case (.restore(let restoration), .userMetadataSubscribed(let answer)):
            restored(restoration.channel, answer)
            restorationEnded()
        case (.restoreLate(let restoration), .userMetadataSubscribed(let answer)):
            restored(restoration.channel, answer)
        default:
            let code = request.operation.codes.failed
            refused(request, RTMError(code, "the server's answer doesn't fit the request"))
        }
    }

    private func restored(_ userID: String, _ answer: Rtm_Client_UserMetadataSubscribed) {
        guard userMetadata.contains(userID) else {
            // S-16: the app has ended it since, and the server is to know of it.
            return send(requestIDs.next()) { $0.unsubscribeUserMetadata.userID = userID }
        }
        _ = userMetadata.confirm(
            userID, request: nil, position: StreamPosition(answer.position), hasGap: answer.gap)
    }

    private func refusedToRestore(_ userID: String, _ error: RTMError) {
        guard userMetadata.contains(userID) else { return }
        // Messaging, where its log is, was lost before it answered.
        let isLost = error.code == .storageOperationFailed && error.limit == nil
        if error.isRetryable || isLost {
            return followLater(userID, after: error.retryAfter ?? refreshPause)
        }
        userMetadata.remove(userID)
        connection?.unrestoredUsers.append(userID)
        logger.warning(
            "a user isn't followed any more", metadata: ["user": "\(userID)", "cause": "\(error)"])
    }

    func refused(_ request: UserMetadataRequest, _ error: RTMError) {
        switch request {
        case .subscribe(let completion, let userID):
            _ = userMetadata.abandon(userID, request: completion.id)
            completion.fail(error)
        case .unsubscribe(let completion, let userID):
            // A server that knows of no subscription has none to go on with.
            if error.code == .storageNotSubscribe {
                userMetadata.finishLeaving(userID)
            } else {
                userMetadata.stay(userID)
            }
            completion.fail(error)
        case .restore(let restoration):
            refusedToRestore(restoration.channel, error)
            restorationEnded()
        case .restoreLate(let restoration):
            refusedToRestore(restoration.channel, error)
        }
    }

    /// Nobody waits for the answer any more, though it may still come.
    func giveUp(_ request: UserMetadataRequest, _ error: RTMError) {
        switch request {
        case .subscribe(let completion, let userID):
            // The server may have subscribed: what nobody heard of must not stay.
            if userMetadata.abandon(userID, request: completion.id) {
                send(requestIDs.next()) { $0.unsubscribeUserMetadata.userID = userID }
            }
            completion.fail(error)
        case .unsubscribe(let completion, let userID):
            userMetadata.finishLeaving(userID)
            completion.fail(error)
        case .restoreLate(let restoration):
            followLater(restoration.channel, after: refreshPause)
        case .restore:
            end(.connectionError("the server did not answer while subscriptions were restored"))
        }
    }

    /// The connection is gone before the answer.
    func lost(_ request: UserMetadataRequest, reason: String) {
        switch request {
        case .subscribe(let completion, let userID):
            _ = userMetadata.abandon(userID, request: completion.id)
            completion.fail(.notConnected, "the connection was lost: \(reason)")
        case .unsubscribe(let completion, let userID):
            // S-16: it won't be restored, which is what was asked for.
            userMetadata.finishLeaving(userID)
            completion.succeed()
        case .restore, .restoreLate:
            break
        }
    }
}
