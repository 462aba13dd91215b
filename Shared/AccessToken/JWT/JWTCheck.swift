/// A question that decides about a JWT. The cases stand in the order in which they are asked, and the
/// first that fails is the answer to the login.
package enum JWTCheck: Sendable, CaseIterable {
    /// Is the key known that the token names, and is it for the token's algorithm? If not, the login gets
    /// `.invalidToken` (-10005).
    case key
    /// Is the token signed with that key? If not, the login gets `.invalidToken` (-10005). Nothing in the
    /// claims is read before.
    case signature
    /// Is the token of the app's issuer, if the app has one? If not, the login gets `.invalidToken` (-10005).
    case issuer
    /// Is the token for this app? If not, the login gets `.loginInconsistentAppId` (-10016).
    case audience
    /// Has its time begun, allowing for a difference of the clocks? If not, the login gets
    /// `.invalidToken` (-10005).
    case begin
    /// Is it still valid? If not, the login gets `.tokenExpired` (-10009).
    case expiry
    /// Is the token for the user who logs in? If not, the login gets `.invalidToken` (-10005), and
    /// `.loginNotAuthorized` (-10015) if it is for no user.
    case userID

    /// Those that are about the claims.
    static let ofClaims: [JWTCheck] = [.issuer, .audience, .begin, .expiry, .userID]
}
