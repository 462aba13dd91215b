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
            let key = try check(request.channel, request.features, for: session)
            try session.rates.subscribe(key.name, rates, now: endOfTurn.now)
            enter(key, of: session, requestID, request.features, request.after)
        } catch {
            session.answer(requestID, error)
        }
    }

    /// A subscription that came with the login. The rate of logins bounds these, so no other rate counts
    /// them.
    func subscribe(_ session: Session, _ channel: SubscriptionsAtLogin.Channel) {
        do throws(RTMError) {
            let key = try channel.name.withWireText { name -> Result<ChannelKey, RTMError> in
                Result { () throws(RTMError) in try check(name, channel.features, for: session) }
            }.get()
            enter(key, of: session, channel.requestID, channel.features, channel.after)
        } catch {
            session.answer(channel.requestID, error)
        }
    }

    private func check(
        _ channel: WireText, _ features: SubscriptionFeatures, for session: Session
    ) throws(RTMError) -> ChannelKey {
        try NameRule.channel.check(channel.bytes)
        guard SubscriptionFeatures.known.isSuperset(of: features) else {
            throw RTMError(.invalidParameter, "the feature set \(features.rawValue) has unknown features")
        }
        try session.checkMayRead(channel)
        let key = session.channel(channel.string)
        guard subscribing.isPossible(key) else { throw .messagingUnreachable(.channelSubscribeFailed) }
        try checkRoom(for: key, of: session)
        return key
    }

    private func enter(
        _ key: ChannelKey, of session: Session, _ requestID: UInt64, _ features: SubscriptionFeatures,
        _ after: StreamPosition?
    ) {
        subscribing.enter(
            SubscribeRequest(
                session: session.key, requestID: requestID, channel: key, purpose: .subscribe,
                features: features, after: after))
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
