package import RTMModel

/// Decides whether a JWT lets a user of one app log in. Pure: the time is an argument, and the keys
/// are those that their source has.
package struct JWTVerifier: Sendable {
    let keys: any JWTKeySource
    /// Who has to have made the tokens (`iss`); nil if that isn't asked.
    let issuer: String?
    /// For whom the tokens have to be made (`aud`).
    let audience: String
    /// How long a token lives at most, counted from its issue, whatever it says itself (L-50). Zero means
    /// that there is no limit.
    let lifeMax: Duration

    package init(
        keys: any JWTKeySource, issuer: String? = nil, audience: String, lifeMax: Duration = .zero
    ) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
        self.lifeMax = lifeMax
    }

    /// - Parameters:
    /// - text: the token as the client sent it.
    /// - userID: the user as whom the client wants to log in. The caller has checked that it can be a user
    ///   id.
    /// - nowMilliseconds: the time since 1970 (UTC).
    /// - Throws: the error of the first check that fails: `.invalidToken` (-10005), `.tokenExpired` (-10009),
    ///   `.loginNotAuthorized` (-10015) or `.loginInconsistentAppId` (-10016), with the cause in words, or
    ///   `.loginNoServerResources` (-10010) while there are no keys. The cause never contains the token.
    package func verify(
        _ text: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> TokenGrant {
        let examination = try examination(of: text, userID, nowMilliseconds)
        for check in JWTCheck.ofClaims { try examination.ask(check) }
        return examination.grant
    }

    /// Decides whether a token lets a user join a stream channel (C-2).
    ///
    /// - Returns: when what the token gives ends unless it is renewed.
    /// - Throws: as `verify` does, and `.channelJoinFailed` (-11007) for a token of another user or without
    ///   the channel.
    package func verifyJoin(
        _ text: String, channel: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> JoinGrant {
        let examination = try examination(of: text, userID, nowMilliseconds)
        for check in JWTCheck.ofClaims where check != .userID { try examination.ask(check) }
        return try examination.askJoin(of: channel)
    }

    private func examination(
        of text: String, _ userID: String, _ now: UInt64
    ) throws(RTMError) -> JWTExamination {
        let signed = try SignedJWT(text)
        try keys.check(signed)
        return JWTExamination(
            claims: try signed.claims(), issuer: issuer, audience: audience, userID: userID,
            times: TokenTimes(now: now, clock: "server clock", lifeMax: lifeMax))
    }
}
