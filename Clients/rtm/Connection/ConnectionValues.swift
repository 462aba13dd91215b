import RTMAccessToken
import RTMClient

/// What one source says about the connection: the options, the environment, or a context. A value that it
/// doesn't name comes from the next source.
struct ConnectionValues: Sendable, Hashable {
    var servers: [ServerAddress] = []
    var appID: String?
    var userID: String?
    var token: String?
    /// Whether to encrypt; nil leaves it to the address of the server.
    var tls: Bool?
    /// A PEM file of the authorities to trust.
    var ca: String?

    /// A token is made for one app and one user, so whoever names a token names these, too. A JWT names only
    /// its user. A token that can't be read names nothing; the server will refuse it.
    var withTokenOwner: ConnectionValues {
        guard let token else { return self }
        var values = self
        if SignedJWT.isOne(token) {
            // Its audience need not be the app id.
            values.userID = userID ?? (try? SignedJWT(token).claims())?.subject
            return values
        }
        guard let signed = try? SignedToken(token) else { return self }
        values.appID = appID ?? signed.token.appID
        values.userID = userID ?? signed.token.services.lazy.compactMap(\.messagingUser).first
        return values
    }

    /// Takes from the other source what this one doesn't name.
    func completed(by other: ConnectionValues) -> ConnectionValues {
        ConnectionValues(
            servers: servers.isEmpty ? other.servers : servers, appID: appID ?? other.appID,
            userID: userID ?? other.userID, token: token ?? other.token, tls: tls ?? other.tls,
            ca: ca ?? other.ca)
    }
}

extension TokenService {
    /// The user that this service lets log in; nil for a service that is not about messaging, and for one
    /// that lets anybody in.
    fileprivate var messagingUser: String? {
        switch content {
        case .rtm(let user), .rtm2(let user, _): user.isEmpty ? nil : user
        case .rtc, .other: nil
        }
    }
}
