import RTMModel
import RTMProtocol

/// The app's request to deliver a user's metadata.
struct FollowRequest: Request {
    let users: FollowedUsers
    let completion: Completion<Void>
    let userID: String

    var operation: Operation { .subscribeUserMetadata }

    func answered(_ body: ServerBody) -> Bool {
        guard case .userMetadataSubscribed(let answer) = body else { return false }
        users.confirmed(userID, request: completion.id, answer)
        completion.succeed()
        return true
    }

    func refused(_ error: RTMError) {
        _ = users.subscribed.table.abandon(.userMetadata(userID), request: completion.id)
        completion.fail(error)
    }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        users.abandon(userID, request: completion.id)
        completion.fail(error)
        return nil
    }

    func lost(_ reason: String) {
        _ = users.subscribed.table.abandon(.userMetadata(userID), request: completion.id)
        completion.fail(.notConnected, "the connection was lost: \(reason)")
    }
}

/// The app's request to end the delivery of a user's metadata.
struct UnfollowRequest: Request {
    let users: FollowedUsers
    let completion: Completion<Void>
    let userID: String

    var operation: Operation { .unsubscribeUserMetadata }

    func answered(_ body: ServerBody) -> Bool {
        guard case .done = body else { return false }
        users.subscribed.table.finishLeaving(.userMetadata(userID))
        completion.succeed()
        return true
    }

    func refused(_ error: RTMError) {
        // The server has no subscription that could continue.
        if error.code == .storageNotSubscribe {
            users.subscribed.table.finishLeaving(.userMetadata(userID))
        } else {
            users.subscribed.table.stay(.userMetadata(userID))
        }
        completion.fail(error)
    }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        users.subscribed.table.finishLeaving(.userMetadata(userID))
        completion.fail(error)
        return nil
    }

    /// The user isn't followed again, which is what the app asked for (S-16).
    func lost(_ reason: String) {
        users.subscribed.table.finishLeaving(.userMetadata(userID))
        completion.succeed()
    }
}

/// The client's own request after a reconnect, which continues what the app asked for (S-19).
struct FollowAgainRequest: Request {
    let users: FollowedUsers
    let userID: String
    /// The link counts as connected only after the answer. A request that is made later, because storage
    /// could not be reached, delays nothing.
    let isAwaited: Bool

    var operation: Operation { .subscribeUserMetadata }

    func answered(_ body: ServerBody) -> Bool {
        guard case .userMetadataSubscribed(let answer) = body else { return false }
        users.restored(userID, answer)
        if isAwaited { users.restorationEnded() }
        return true
    }

    func refused(_ error: RTMError) {
        users.restorationRefused(userID, error)
        if isAwaited { users.restorationEnded() }
    }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        if isAwaited { users.restorationUnanswered() } else { users.followLater(userID) }
        return nil
    }

    /// The next connection follows the user again.
    func lost(_ reason: String) {}
}
