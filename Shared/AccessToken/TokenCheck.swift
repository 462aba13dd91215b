/// A question that decides about a token (S-3). The cases stand in the order in which they are asked, and the
/// first that fails is the answer to the login. `TokenExamination` knows the answers.
package enum TokenCheck: Sendable, CaseIterable {
    /// Is the token for this app? If not, the login gets `.loginInconsistentAppId` (-10016).
    case appID
    /// Was the token signed with the app's certificate? If not, the login gets `.invalidToken` (-10005). The
    /// token can't be trusted before this check, and can be after it.
    case signature
    /// Was the token issued already, allowing for a difference of the clocks? If not, the login gets
    /// `.invalidToken` (-10005).
    case issueTime
    /// Is the token still valid? If not, the login gets `.tokenExpired` (-10009).
    case expiry
    /// Does the token let anybody log in at all? If not, the login gets `.loginNotAuthorized` (-10015).
    case loginPrivilege
    /// Is the login privilege still valid? If not, the login gets `.tokenExpired` (-10009).
    case privilegeExpiry
    /// Is the token for the user who logs in? If not, the login gets `.invalidToken` (-10005).
    case userID
}
