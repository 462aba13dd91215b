package import RTMModel

/// Decides whether a token of one app lets a user log in (S-3). Pure: the time is an argument.
package struct TokenVerifier: Sendable {
    package let appID: String
    /// The certificate with which the app's tokens are signed; a secret. A certificate that is not an
    /// `AccessToken.isIdentifier` verifies no token.
    package let certificate: String
    /// How long a token lives at most, counted from its issue, whatever it says itself (L-50). Zero means
    /// that there is no limit.
    package let lifeMax: Duration

    package init(appID: String, certificate: String, lifeMax: Duration = .zero) {
        self.appID = appID
        self.certificate = certificate
        self.lifeMax = lifeMax
    }

    /// - Parameters:
    /// - text: the token as the client sent it.
    /// - userID: the user as whom the client wants to log in. The caller has checked that it can be a user
    ///   id.
    /// - nowMilliseconds: the time since 1970 (UTC).
    /// - Throws: the error of the first check that fails: `.invalidToken` (-10005), `.tokenExpired` (-10009),
    ///   `.loginNotAuthorized` (-10015) or `.loginInconsistentAppId` (-10016), with the cause in words. The
    ///   cause never contains the token.
    package func verify(
        _ text: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> TokenGrant {
        guard text != appID else {
            throw RTMError(
                .invalidToken,
                "a login to this app needs a token, because the app has a certificate"
            )
        }
        let examination = TokenExamination(
            signed: try SignedToken(text), appID: appID, certificate: certificate, userID: userID,
            times: TokenTimes(now: nowMilliseconds, clock: "server clock", lifeMax: lifeMax))
        for check in TokenCheck.allCases { try examination.ask(check) }
        return examination.grant
    }

    /// Decides whether a token lets a user join a stream channel (C-2). It needs an rtc service for the
    /// channel and the user, or for any user, with the privilege to join.
    ///
    /// - Returns: when what the token gives ends unless it is renewed.
    /// - Throws: as `verify` does, and `.channelJoinFailed` (-11007) for a token that is for something else.
    @discardableResult
    package func verifyJoin(
        _ text: String, channel: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> JoinGrant {
        guard text != appID else {
            throw RTMError(
                .invalidToken,
                "a join in this app needs a token, because the app has a certificate")
        }
        let examination = TokenExamination(
            signed: try SignedToken(text), appID: appID, certificate: certificate, userID: userID,
            times: TokenTimes(now: nowMilliseconds, clock: "server clock", lifeMax: lifeMax))
        for check in [TokenCheck.appID, .signature, .issueTime, .expiry] { try examination.ask(check) }
        return try examination.askJoin(of: channel)
    }
}

/// What a token gives to the user for whom it was verified.
package struct TokenGrant: Sendable, Hashable {
    /// When the session ends unless the token is renewed, in milliseconds since 1970 (UTC): at the end of the
    /// token, of its login privilege, or of the life that the operator gives tokens, whichever comes first
    /// (A-12, S-50, L-50).
    package let expiresAtMilliseconds: UInt64

    /// The permissions of all RTM2 services for the user. If there are none, nothing is restricted.
    package let permissions: [TokenPermissions]

    /// When the token was issued, in seconds since 1970 (UTC).
    package var issuedAtSeconds: UInt32 = 0

    /// Whether the grant allows an access. Each service adds to what the others allow.
    ///
    /// - Parameter name: the bytes of a channel name or user id.
    package func allows(
        _ access: TokenPermissions.Access, to resource: TokenPermissions.Resource,
        named name: some Sequence<UInt8>
    ) -> Bool {
        permissions.isEmpty || lists(access, to: resource, named: name)
    }

    /// Whether a list of the grant names it. A grant without lists names nothing.
    package func lists(
        _ access: TokenPermissions.Access, to resource: TokenPermissions.Resource,
        named name: some Sequence<UInt8>
    ) -> Bool {
        permissions.contains { $0.allows(access, to: resource, named: name) }
    }
}
