import NIOCore
import RTMAccessToken
import RTMModel
import RTMServiceLink
import RTMWire

/// Renewing a token. One that is refused changes nothing: the session lives on until the end of the token
/// that it has (S-52).
extension EdgeLoop {
    func renewToken(of session: Session, _ token: WireText) throws(RTMError) {
        // What was published before it was published under the old permissions.
        sendRun()
        do throws(RTMError) {
            try session.rates.renewal(session.application.rates, now: endOfTurn.now)
            let grant = try session.application.grant(
                for: token.string, userID: session.userID, nowMilliseconds: wallClock())
            try checkSubscriptions(of: session, under: grant)
            session.grant = grant
            metrics.tokenRenewed()
        } catch {
            metrics.renewalRefused()
            throw error
        }
    }

    /// A token that takes away the right to read what is subscribed is refused, because the protocol has no
    /// way to end a subscription from here, and to let it go on would leave the right in force.
    private func checkSubscriptions(of session: Session, under grant: TokenGrant?) throws(RTMError) {
        guard let grant, !grant.permissions.isEmpty else { return }
        let subscribed = session.subscriptions.keys.map { index.key(at: $0) }
            .filter { $0.type == .message }.map(\.name)
        let lost = session.entering.union(subscribed).filter {
            !grant.allows(.read, to: .messageChannels, named: $0.utf8)
        }
        guard let channel = lost.min() else { return }
        throw RTMError(
            .channelSubscribePermissionDenied,
            "the new token doesn't allow to subscribe to channel \"\(channel)\", which is subscribed")
    }
}
