// Users whose metadata are followed. They are like subscribed channels, in a table of their own (D-44, L-38,
// S-19).

import Logging
import RTMModel
import RTMProtocol

final class FollowedUsers {
    private unowned let link: Link
    var table = SubscriptionTable(.userMetadata)

    init(_ link: Link) { self.link = link }

    // MARK: Calls

    func follow(_ userID: String, _ completion: Completion<Void>) {
        guard link.requests.isReady(for: completion) else { return }
        do {
            try table.subscribe(to: userID, features: .metadata, request: completion.id)
        } catch {
            return completion.fail(error)
        }
        let request = FollowRequest(users: self, completion: completion, userID: userID)
        link.requests.ask(request, id: completion.id) { $0.subscribeUserMetadata.userID = userID }
    }

    /// Works without a connection too: then the user is just not followed again (S-16).
    func unfollow(_ userID: String, _ completion: Completion<Void>) {
        guard !link.isClosed else { return completion.fail(.released) }
        switch link.state {
        case .idle, .failed:
            completion.fail(link.notLoggedIn)
        case .connecting, .disconnected, .suspended:
            if link.isBeingRestored, table.contains(userID) {
                link.requests.tell { $0.unsubscribeUserMetadata.userID = userID }
            }
            table.remove(userID)
            completion.succeed()
        case .connected:
            guard table.contains(userID) else {
                return completion.fail(
                    .storageNotSubscribe, "the metadata of user '\(userID)' are not subscribed")
            }
            // The server doesn't know a user yet whom it is still to be asked for again.
            if link.connection?.retries.remove(.followedUser(userID)) == true {
                table.remove(userID)
                return completion.succeed()
            }
            table.beginLeaving(userID)
            let request = UnfollowRequest(users: self, completion: completion, userID: userID)
            link.requests.ask(request, id: completion.id) { $0.unsubscribeUserMetadata.userID = userID }
        }
    }

    func forgetAll() { table.removeAll() }

    // MARK: Answers

    /// The app hears of no lost entries, because the snapshot that follows an answer holds what they led to.
    func confirmed(_ userID: String, request: UInt64, _ answer: Rtm_Client_UserMetadataSubscribed) {
        _ = table.confirm(
            userID, request: request, position: StreamPosition(answer.position), hasGap: answer.gap)
        link.connection?.retries.remove(.followedUser(userID))
    }

    /// The server may deliver although nobody waits for that any more. What the app doesn't know of must not
    /// stay.
    func abandon(_ userID: String, request: UInt64) {
        guard table.abandon(userID, request: request) else { return }
        link.requests.tell { $0.unsubscribeUserMetadata.userID = userID }
    }

    /// The server says that entries of the user's metadata are lost.
    func skip(_ userID: String, to position: StreamPosition) {
        if table.skip(userID, to: position) != nil {
            link.refreshes.ask(Refresh(.metadata, of: .user(userID)))
        }
    }

    // MARK: Restoring

    /// - Parameter taken: those whom the server answers for, because the login carried them.
    func restore(taken: [LoginOffer.Item]) {
        let known = Set(taken.map(\.restoration.channel))
        let others = table.restorations.filter { !known.contains($0.channel) }
        link.connection?.restoration.begin(taken.count + others.count)
        for item in taken {
            let request = FollowAgainRequest(
                users: self, userID: item.restoration.channel, isAwaited: true)
            link.requests.add(request, id: item.id)
        }
        for restoration in others { ask(restoration, isAwaited: true) }
    }

    private func ask(_ restoration: SubscriptionTable.Restoration, isAwaited: Bool) {
        let request = FollowAgainRequest(
            users: self, userID: restoration.channel, isAwaited: isAwaited)
        link.requests.ask(request) {
            $0.subscribeUserMetadata.userID = restoration.channel
            if let after = restoration.after {
                $0.subscribeUserMetadata.after = Rtm_Client_StreamPosition(after)
            }
        }
    }

    func restored(_ userID: String, _ answer: Rtm_Client_UserMetadataSubscribed) {
        guard table.contains(userID) else {
            // The app has ended it since, and the server has to hear of that (S-16).
            link.requests.tell { $0.unsubscribeUserMetadata.userID = userID }
            return
        }
        _ = table.confirm(
            userID, request: nil, position: StreamPosition(answer.position), hasGap: answer.gap)
    }

    func restorationRefused(_ userID: String, _ error: RTMError) {
        guard table.contains(userID) else { return }
        // Messaging, where the user's log is, was lost before it answered.
        let isLost = error.code == .storageOperationFailed && error.limit == nil
        if error.isRetryable || isLost { return followLater(userID, after: error.retryAfter) }
        table.remove(userID)
        link.connection?.restoration.failed(user: userID)
        link.logger.warning(
            "a user isn't followed any more", metadata: ["user": "\(userID)", "cause": "\(error)"])
    }

    /// Storage may be away for longer than the session is to wait for it. Until it is back the user stays
    /// among those who are followed (S-19).
    func followLater(_ userID: String, after pause: Duration? = nil) {
        link.retry(.followedUser(userID), after: pause ?? link.configuration.timing.refreshPause)
    }

    func followAgain(_ userID: String) {
        guard let restoration = table.restoration(of: userID) else { return }
        ask(restoration, isAwaited: false)
    }

    func restorationEnded() { link.opening.restorationEnded() }

    func restorationUnanswered() {
        link.end(.connectionError("the server did not answer while subscriptions were restored"))
    }
}
