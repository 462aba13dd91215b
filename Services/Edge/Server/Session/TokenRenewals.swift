import NIOCore
import RTMAccessToken
import RTMModel
import RTMServiceLink
import RTMWire

/// Renews the tokens of sessions. A token that is refused changes nothing: the session lives on until the end
/// of the token that it has (S-52).
final class TokenRenewals {
    private let logins: Logins
    private let subscribing: Subscribing
    private let metrics: EdgeMetrics
    private let endOfTurn: EndOfTurn
    private let wallClock: () -> UInt64

    init(
        logins: Logins, subscribing: Subscribing, metrics: EdgeMetrics, endOfTurn: EndOfTurn,
        wallClock: @escaping () -> UInt64
    ) {
        self.logins = logins
        self.subscribing = subscribing
        self.metrics = metrics
        self.endOfTurn = endOfTurn
        self.wallClock = wallClock
    }

    func renew(_ session: Session, _ token: WireText) throws(RTMError) {
        do throws(RTMError) {
            try session.rates.renewal(session.application.rates, now: endOfTurn.now)
            let grant = try logins.application(of: session).grant(
                for: token.string, userID: session.userID, nowMilliseconds: wallClock())
            try logins.check(grant, of: session)
            try checkSubscriptions(of: session, under: grant)
            session.grant = grant
            metrics.tokenRenewed()
        } catch {
            metrics.renewalRefused()
            throw error
        }
    }

    /// A token that takes away the right to read what is subscribed is refused. The protocol has no way to
    /// end a subscription from here, and to keep it would leave the right in force.
    private func checkSubscriptions(of session: Session, under grant: TokenGrant?) throws(RTMError) {
        guard let grant, !grant.permissions.isEmpty else { return }
        let lost = subscribing.channelsOfMember(session.key).map(\.channel).filter {
            !grant.allows(
                .read, to: $0.type == .message ? .messageChannels : .streamChannels, named: $0.name.utf8)
        }
        guard let channel = lost.map(\.name).min() else { return }
        throw RTMError(
            .channelSubscribePermissionDenied,
            "the new token doesn't allow to subscribe to channel \"\(channel)\", which is subscribed")
    }
}
