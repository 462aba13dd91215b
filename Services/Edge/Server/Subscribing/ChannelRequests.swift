import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// Subscribing to message channels and unsubscribing, as clients ask for it: what is asked is checked here,
/// and `Subscribing` does it.
final class ChannelRequests {
    private let subscribing: Subscribing
    private let memberships: Memberships
    private let locks: Locks
    private let endOfTurn: EndOfTurn

    init(subscribing: Subscribing, memberships: Memberships, locks: Locks, endOfTurn: EndOfTurn) {
        self.subscribing = subscribing
        self.memberships = memberships
        self.locks = locks
        self.endOfTurn = endOfTurn
    }

    func subscribe(_ session: Session, _ request: ClientRequest.Subscribe, _ requestID: UInt64) {
        do throws(RTMError) {
            let rates = session.application.rates
            try session.rates.callToSubscribe(rates, now: endOfTurn.now)
            try NameRule.channel.check(request.channel.bytes)
            guard SubscriptionFeatures.known.isSuperset(of: request.features) else {
                throw RTMError(
                    .invalidParameter, "the feature set \(request.features.rawValue) has unknown features")
            }
            try session.checkMayRead(request.channel)
            guard subscribing.isPossible else { throw .messagingUnreachable(.channelSubscribeFailed) }
            let key = session.channel(request.channel.string)
            try checkRoom(for: key, of: session)
            try session.rates.subscribe(key.name, rates, now: endOfTurn.now)
            subscribing.enter(
                SubscribeRequest(
                    session: session.key, requestID: requestID, channel: key, purpose: .subscribe,
                    features: request.features, after: request.after))
        } catch {
            session.answer(requestID, error)
        }
    }

    /// A session may be subscribed to so many channels (L-24).
    private func checkRoom(for key: ChannelKey, of session: Session) throws(RTMError) {
        let limit = session.application.subscriptionsMax
        switch subscribing.room(for: key, of: session, countMax: limit) {
        case .free: return
        case .underWay:
            throw RTMError(.duplicateOperation, "a subscribe to \"\(key.name)\" is under way")
        case .full:
            throw RTMError(
                .channelSubscribeFailed, "\(limit) channels are subscribed, which is the limit",
                limit: .init(name: "subscribed channels", value: UInt64(limit)))
        }
    }

    func unsubscribe(_ session: Session, _ channel: WireText, _ requestID: UInt64) {
        do throws(RTMError) {
            try session.rates.call(session.application.rates, now: endOfTurn.now)
            try NameRule.channel.check(channel.bytes)
            let key = session.channel(channel.string)
            guard subscribing.leave(session, key) else {
                throw RTMError(.channelNotSubscribed, "channel \"\(key.name)\" is not subscribed")
            }
            memberships.tell(.left(session.key, key, session.caller))
            locks.tell(of: session, .left, key)
            session.answer(requestID, Unsubscribed())
        } catch {
            session.answer(requestID, error)
        }
    }
}
