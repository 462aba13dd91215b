/// A question that decides on a token (S-3). The cases stand in the order in which they are asked, and the
/// first that fails is the answer to the login; `TokenExamination` knows the answers.
package enum TokenCheck: Sendable, CaseIterable {
    /// Is it for this app? Else -10016.
    case appID
    /// Has somebody signed it who has the app's certificate? Else -10005. What comes before is not to be
    /// trusted, what comes after is.
    case signature
    /// Has it been issued already, give or take the clocks' difference? Else -10005.
    case issueTime
    /// Is it still valid? Else -10009.
    case expiry
    /// Does it let anybody log in at all? Else -10015.
    case loginPrivilege
    /// Is that still valid? Else -10009.
    case privilegeExpiry
    /// Is it the user who logs in? Else -10005.
    case userID
}
