import RTMAccessToken
import RTMModel
import RTMServiceKit
import RTMWire

/// Who may join a stream channel (C-2).
extension Application {
    /// - Parameters:
    /// - credential: a token with an rtc service for the channel and the user. An app without certificate
    ///   takes the app id, or nothing.
    /// - nowMilliseconds: UTC, since 1970.
    /// - Returns: what the token gives; nil where there is no token.
    func checkJoin(
        _ channel: String, _ credential: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> JoinGrant? {
        guard service == .all else {
            throw RTMError(.channelNotAvailable, "stream channels are switched off for app \"\(id)\"")
        }
        guard let certificate else {
            _ = try grant(for: credential, userID: userID, nowMilliseconds: nowMilliseconds)
            return nil
        }
        return try TokenVerifier(appID: id, certificate: certificate, lifeMax: tokenLifeMax)
            .verifyJoin(credential, channel: channel, userID: userID, nowMilliseconds: nowMilliseconds)
    }
}
