package import RTMModel

/// Decides whether a token of one app lets a user log in (S-3). Pure: the time is an argument.
package struct TokenVerifier: Sendable {
    package let appID: String
    /// What the app's tokens are signed with; a secret. One that is no `AccessToken.isIdentifier` verifies
    /// nothing.
    package let certificate: String

    package init(appID: String, certificate: String) {
        self.appID = appID
        self.certificate = certificate
    }

    /// - Parameters:
    ///   - text: as the client sent it.
    ///   - userID: whom the client wants to be. The caller has checked that it can be a user id.
    ///   - nowMilliseconds: UTC, since 1970.
    /// - Throws: the first check that fails: -10005, -10009, -10015 or -10016, with the cause in words. None
    ///   of them contains the token.
    package func verify(
        _ text: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> TokenGrant {
        guard text != appID else {
            throw RTMError(
                .invalidToken, "the app id is no credential here: the app has a certificate and needs a token"
            )
        }
        let examination = TokenExamination(
            signed: try SignedToken(text), appID: appID, certificate: certificate, userID: userID,
            nowMilliseconds: nowMilliseconds, clock: "server clock")
        for check in TokenCheck.allCases { try examination.ask(check) }
        return examination.grant
    }
}

/// What a token gives to the user it was verified for.
package struct TokenGrant: Sendable, Hashable {
    /// The end of the session unless the token is renewed: the end of the token or of its login privilege,
    /// whichever is first (A-12, S-50). UTC, since 1970.
    package let expiresAtMilliseconds: UInt64

    /// Of all RTM2 services for the user. None is no restriction.
    package let permissions: [TokenPermissions]

    /// Each service adds to what the others allow.
    ///
    /// - Parameter name: the bytes of a channel name or user id.
    package func allows(
        _ access: TokenPermissions.Access, to resource: TokenPermissions.Resource,
        named name: some Sequence<UInt8>
    ) -> Bool {
        permissions.isEmpty || permissions.contains { $0.allows(access, to: resource, named: name) }
    }
}
