import NIOCore
import RTMAccessToken
import RTMModel
import RTMServiceLink
import RTMWire

/// Watching a user's metadata: a subscription to the log that storage keeps under the user's name, with
/// nothing in it but that (D-44).
final class UserMetadataRequests {
    private let subscribing: Subscribing
    private let endOfTurn: EndOfTurn

    init(subscribing: Subscribing, endOfTurn: EndOfTurn) {
        self.subscribing = subscribing
        self.endOfTurn = endOfTurn
    }

    func subscribe(
        _ session: Session, _ request: ClientRequest.SubscribeUserMetadata, _ requestID: UInt64
    ) {
        do throws(RTMError) {
            try session.rates.subscribeUserMetadata(session.application.rates, now: endOfTurn.now)
            try enter(key(of: request.userID, for: session), of: session, requestID, request.after)
        } catch {
            session.answer(requestID, error)
        }
    }

    /// A user whom the login asked to follow. No rate counts it, as with channels.
    func subscribe(_ session: Session, _ user: LoginSubscriptions.User) {
        do throws(RTMError) {
            let metadata = try user.id.withWireText { id -> Result<ChannelKey, RTMError> in
                Result { () throws(RTMError) in try key(of: id, for: session) }
            }.get()
            try enter(metadata, of: session, user.requestID, user.after)
        } catch {
            session.answer(user.requestID, error)
        }
    }

    private func enter(
        _ key: ChannelKey, of session: Session, _ requestID: UInt64, _ after: StreamPosition?
    ) throws(RTMError) {
        try subscribing.checkIsPossible(key, .storageOperationFailed)
        try checkCapacity(for: key, of: session)
        subscribing.enter(
            SubscribeRequest(
                session: session.key, requestID: requestID, channel: key, purpose: .userMetadata,
                features: .metadata, after: after))
    }

    func unsubscribe(_ session: Session, _ userID: WireText, _ requestID: UInt64) {
        do throws(RTMError) {
            try session.rates.subscribeUserMetadata(session.application.rates, now: endOfTurn.now)
            let key = try key(of: userID, for: session)
            guard subscribing.leave(session, key) else {
                throw RTMError(
                    .storageNotSubscribe, "the metadata of user \"\(key.name)\" is not subscribed")
            }
            session.answer(requestID, Done())
        } catch {
            session.answer(requestID, error)
        }
    }

    /// The empty name is the session's own user.
    private func key(of userID: WireText, for session: Session) throws(RTMError) -> ChannelKey {
        guard !userID.isEmpty else { return session.metadata(of: session.userID) }
        try NameRule.user.check(userID.bytes)
        try session.checkMay(.read, .users, userID, else: .storagePermissionDenied)
        return session.metadata(of: userID.string)
    }

    /// A session may watch so many users (L-38).
    private func checkCapacity(for key: ChannelKey, of session: Session) throws(RTMError) {
        let limit = Limits.userMetadataSubscriptionsMax
        switch subscribing.room(for: key, of: session, countMax: limit) {
        case .free: return
        case .underWay:
            throw RTMError(
                .duplicateOperation, "a subscribe to the metadata of \"\(key.name)\" is under way")
        case .full:
            throw RTMError(
                .storageSubscribeUserExceedLimitation,
                "the metadata of \(limit) users is subscribed, which is the limit",
                limit: .init(name: "user metadata subscriptions", value: UInt64(limit)))
        }
    }
}
