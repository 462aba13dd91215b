// Users whose metadata are followed. They are like subscribed channels, and stand in the same table (D-44,
// L-38, S-19).

import Logging
import RTMModel
import RTMProtocol

final class FollowedUsers {
    let subscribed: LinkSubscriptions
    private let session: LinkSession
    private let requests: Requests
    private let refreshes: Refreshes

    init(
        session: LinkSession, requests: Requests, subscribed: LinkSubscriptions, refreshes: Refreshes
    ) {
        self.session = session
        self.requests = requests
        self.subscribed = subscribed
        self.refreshes = refreshes
    }

    // MARK: Calls

    func follow(_ userID: String, _ completion: Completion<Void>) {
        guard requests.isReady(for: completion) else { return }
        do {
            try subscribed.table.subscribe(
                to: .userMetadata(userID), features: .metadata, request: completion.id)
        } catch {
            return completion.fail(error)
        }
        let request = FollowRequest(users: self, completion: completion, userID: userID)
        requests.send(request, id: completion.id) { $0.subscribeUserMetadata.userID = userID }
    }

    /// Works without a connection too: then the user is just not followed again (S-16).
    func unfollow(_ userID: String, _ completion: Completion<Void>) {
        guard !session.isClosed else { return completion.fail(.released) }
        switch session.state {
        case .idle, .failed:
            completion.fail(session.notLoggedIn)
        case .connecting, .disconnected, .suspended:
            if session.isBeingRestored, subscribed.table.contains(.userMetadata(userID)) {
                requests.notify { $0.unsubscribeUserMetadata.userID = userID }
            }
            subscribed.table.remove(.userMetadata(userID))
            completion.succeed()
        case .connected:
            guard subscribed.table.contains(.userMetadata(userID)) else {
                return completion.fail(ChannelID.userMetadata(userID).isNotSubscribed)
            }
            // The server doesn't know of a user whom it is still to be asked for again.
            if session.cancelRetry(.followedUser(userID)) {
                subscribed.table.remove(.userMetadata(userID))
                return completion.succeed()
            }
            subscribed.table.beginLeaving(.userMetadata(userID))
            let request = UnfollowRequest(users: self, completion: completion, userID: userID)
            requests.send(request, id: completion.id) { $0.unsubscribeUserMetadata.userID = userID }
        }
    }

    // MARK: Answers

    /// Lost entries aren't reported, because the snapshot that follows an answer holds what they led to.
    func confirmed(_ userID: String, request: UInt64, _ answer: Rtm_Client_UserMetadataSubscribed) {
        _ = subscribed.table.confirm(
            .userMetadata(userID), request: request, position: StreamPosition(answer.position),
            hasGap: answer.gap)
        session.cancelRetry(.followedUser(userID))
    }

    /// The server may deliver although nobody waits for that any more. What the app doesn't know of must not
    /// stay.
    func abandon(_ userID: String, request: UInt64) {
        guard subscribed.table.abandon(.userMetadata(userID), request: request) else { return }
        requests.notify { $0.unsubscribeUserMetadata.userID = userID }
    }

    /// The server says that entries of the user's metadata are lost.
    func skip(_ userID: String, to position: StreamPosition) {
        if subscribed.table.skip(.userMetadata(userID), to: position) != nil {
            refreshes.request(Refresh(.metadata, of: .user(userID)))
        }
    }

    // MARK: Restoring

    /// - Parameter taken: those whom the server answers for, because the login carried them.
    func restore(taken: [LoginOffer.Item]) {
        let known = Set(taken.map(\.restoration.channel))
        let others = subscribed.table.userRestorations.filter { !known.contains($0.channel) }
        session.beginRestorations(taken.count + others.count)
        for item in taken {
            let request = FollowAgainRequest(
                users: self, userID: item.restoration.channel.name, isAwaited: true)
            requests.add(request, id: item.id)
        }
        for restoration in others { send(restoration, isAwaited: true) }
    }

    private func send(_ restoration: SubscriptionTable.Restoration, isAwaited: Bool) {
        let request = FollowAgainRequest(
            users: self, userID: restoration.channel.name, isAwaited: isAwaited)
        requests.send(request) {
            $0.subscribeUserMetadata.userID = restoration.channel.name
            if let after = restoration.after {
                $0.subscribeUserMetadata.after = Rtm_Client_StreamPosition(after)
            }
        }
    }

    func restored(_ userID: String, _ answer: Rtm_Client_UserMetadataSubscribed) {
        guard subscribed.table.contains(.userMetadata(userID)) else {
            // The app has ended it since, and the server has to end it, too (S-16).
            requests.notify { $0.unsubscribeUserMetadata.userID = userID }
            return
        }
        _ = subscribed.table.confirm(
            .userMetadata(userID), request: nil, position: StreamPosition(answer.position), hasGap: answer.gap
        )
    }

    func restorationRefused(_ userID: String, _ error: RTMError) {
        guard subscribed.table.contains(.userMetadata(userID)) else { return }
        // Messaging, where the user's log is, was lost before it answered.
        let isLost = error.code == .storageOperationFailed && error.limit == nil
        if error.mayPass || isLost { return followLater(userID, after: error.retryAfter) }
        subscribed.table.remove(.userMetadata(userID))
        session.connection?.restoration.failed(user: userID)
        session.logger.warning(
            "a user isn't followed any more", metadata: ["user": "\(userID)", "cause": "\(error)"])
    }

    /// Storage may be away for longer than the session is to wait for it. Until it is back the user stays
    /// among those who are followed (S-19).
    func followLater(_ userID: String, after pause: Duration? = nil) {
        session.retry(.followedUser(userID), after: pause ?? session.configuration.timing.refreshPause)
    }

    func followAgain(_ userID: String) {
        guard let restoration = subscribed.table.restoration(of: .userMetadata(userID)) else { return }
        send(restoration, isAwaited: false)
    }

    func restorationEnded() { session.restorationEnded() }

    func restorationUnanswered() {
        session.end(.connectionError("the server did not answer while subscriptions were restored"))
    }
}
