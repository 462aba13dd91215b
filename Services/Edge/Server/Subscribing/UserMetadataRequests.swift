import NIOCore
import RTMAccessToken
import RTMAppConfiguration
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
        _ session: Session, _ frame: ClientRequest.SubscribeUserMetadata, _ requestID: UInt64
    ) {
        do throws(RTMError) {
            try session.rates.subscribeUserMetadata(session.application.rates, now: endOfTurn.now)
            try checkMayRead(frame.userID, session)
            let request = SubscribeRequest(
                frame, requestID, of: session.key, in: session.appID, userID: session.userID)
            try begin(request, session)
        } catch {
            session.answer(requestID, error)
        }
    }

    /// A user whom the login asked to follow. No rate counts it, as with channels.
    func subscribe(_ session: Session, _ request: SubscribeRequest) {
        do throws(RTMError) {
            try request.channel.name.withWireText { id -> Result<Void, RTMError> in
                Result { () throws(RTMError) in try checkMayRead(id, session) }
            }.get()
            try begin(request, session)
        } catch {
            session.answer(request.requestID, error)
        }
    }

    private func begin(_ request: SubscribeRequest, _ session: Session) throws(RTMError) {
        try subscribing.checkIsPossible(request.channel, .storageOperationFailed)
        try checkCapacity(for: request.channel, of: session)
        subscribing.begin(request)
    }

    func unsubscribe(_ session: Session, _ userID: WireText, _ requestID: UInt64) {
        do throws(RTMError) {
            try session.rates.subscribeUserMetadata(session.application.rates, now: endOfTurn.now)
            try checkMayRead(userID, session)
            let key = session.metadata(of: userID.isEmpty ? session.userID : userID.string)
            guard subscribing.leave(session, key) else {
                throw RTMError(
                    .storageNotSubscribe, "the metadata of user \"\(key.name)\" is not subscribed")
            }
            session.answer(requestID, Done())
        } catch {
            session.answer(requestID, error)
        }
    }

    /// The empty id is the session's own user.
    private func checkMayRead(_ userID: WireText, _ session: Session) throws(RTMError) {
        guard !userID.isEmpty else { return }
        try NameRule.user.check(userID.bytes)
        try session.checkMay(.read, .users, userID, else: .storagePermissionDenied)
    }

    /// A session may watch so many users (L-38).
    private func checkCapacity(for key: ChannelKey, of session: Session) throws(RTMError) {
        let limit = Limits.userMetadataSubscriptionsMax
        switch subscribing.capacity(for: key, of: session, countMax: limit) {
        case .free: return
        case .isSubscribing:
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
