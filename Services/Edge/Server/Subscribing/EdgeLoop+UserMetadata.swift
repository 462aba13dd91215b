import NIOCore
import RTMAccessToken
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// Watching a user's metadata: a subscription to the log that storage keeps under the user's name, with
/// nothing in it but that (D-44).
extension EdgeLoop {
    func subscribeUserMetadata(
        _ session: Session, _ request: ClientRequest.SubscribeUserMetadata, _ requestID: UInt64
    ) {
        sendRun()
        do throws(RTMError) {
            try session.rates.subscribeUserMetadata(session.application.rates, now: endOfTurn.now)
            let key = try metadataKey(of: request.userID, for: session)
            guard messaging.isUp else { throw .messagingUnreachable(.storageOperationFailed) }
            try checkRoomForMetadata(key, of: session)
            session.enteringMetadata.insert(key.name)
            var pending = PendingSubscribe(
                session: session, requestID: requestID, features: .metadata, after: request.after,
                purpose: .userMetadata)
            // D-46: who asks twice gets the snapshot again.
            pending.renewed = .metadata
            enter(pending, key)
        } catch {
            session.answer(requestID, error)
        }
    }

    func unsubscribeUserMetadata(_ session: Session, _ userID: WireText, _ requestID: UInt64) {
        sendRun()
        do throws(RTMError) {
            try session.rates.subscribeUserMetadata(session.application.rates, now: endOfTurn.now)
            let key = try metadataKey(of: userID, for: session)
            guard let place = index.place(of: key), session.subscriptions[place] != nil else {
                throw RTMError(
                    .storageNotSubscribe, "the metadata of user \"\(key.name)\" is not subscribed")
            }
            if let detach = index.remove(session, at: place) { messaging.detach(detach) }
            session.enteringMetadata.remove(key.name)
            reportChannels()
            session.answer(requestID, Done())
        } catch {
            session.answer(requestID, error)
        }
    }

    /// The empty name is the session's own user.
    private func metadataKey(of userID: WireText, for session: Session) throws(RTMError) -> ChannelKey {
        guard !userID.isEmpty else { return session.metadata(of: session.userID) }
        try NameRule.user.check(userID.bytes)
        try session.checkMay(.read, .users, userID, else: .storagePermissionDenied)
        return session.metadata(of: userID.string)
    }

    /// L-38.
    private func checkRoomForMetadata(_ key: ChannelKey, of session: Session) throws(RTMError) {
        guard !session.enteringMetadata.contains(key.name) else {
            throw RTMError(
                .duplicateOperation, "a subscribe to the metadata of \"\(key.name)\" is under way")
        }
        if let place = index.place(of: key), session.subscriptions[place] != nil { return }
        let limit = Limits.userMetadataSubscriptionsMax
        guard session.liveMetadata + session.enteringMetadata.count < limit else {
            throw RTMError(
                .storageSubscribeUserExceedLimitation,
                "the metadata of \(limit) users is subscribed, which is the limit",
                limit: .init(name: "user metadata subscriptions", value: UInt64(limit)))
        }
    }
}
