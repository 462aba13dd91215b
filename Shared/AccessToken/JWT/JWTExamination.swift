import RTMModel

/// The claims of a JWT and everything that they are compared with.
struct JWTExamination {
    let claims: JWTClaims
    /// Nil if the app takes tokens of every issuer that has its keys.
    let issuer: String?
    let audience: String
    let userID: String
    let times: TokenTimes

    func ask(_ check: JWTCheck) throws(RTMError) {
        switch check {
        case .key, .signature: break
        case .issuer: try askIssuer()
        case .audience: try askAudience()
        case .begin: try askBegin()
        case .expiry: try askExpiry()
        case .userID: try askUserID()
        }
    }

    /// What a token that has passed all checks grants.
    var grant: TokenGrant {
        TokenGrant(
            expiresAtMilliseconds: end, permissions: claims.permissions.map { [$0] } ?? [],
            issuedAtSeconds: UInt32(clamping: (claims.issuedAt ?? 0) / 1000))
    }

    /// Does the token let the user join this stream channel?
    func askJoin(of channel: String) throws(RTMError) -> JoinGrant {
        let isUser = claims.subject?.isSpelled(userID) == true
        guard isUser, claims.joins.contains(where: channel.isSpelled) else {
            throw .tokenDoesNotJoin(channel, as: userID)
        }
        return JoinGrant(
            expiresAtMilliseconds: end,
            publishesUntilMilliseconds: claims.publishesData.contains(where: channel.isSpelled) ? end : nil)
    }

    private var end: UInt64 {
        let endOfLife = claims.issuedAt.flatMap(times.endOfLife) ?? .max
        return min(claims.expiresAt ?? 0, endOfLife)
    }

    private func askIssuer() throws(RTMError) {
        guard let issuer, claims.issuer?.isSpelled(issuer) != true else { return }
        let other = claims.issuer.map { "another issuer (iss), \($0.quoted)" } ?? "no issuer (iss)"
        throw RTMError(.invalidToken, "the token names \(other)")
    }

    private func askAudience() throws(RTMError) {
        guard !claims.audience.contains(where: audience.isSpelled) else { return }
        let others = claims.audience.prefix(3).map(\.quoted).joined(separator: ", ")
        throw RTMError(
            .loginInconsistentAppId,
            others.isEmpty
                ? "the token names no audience (aud)" : "the token is for another audience (aud), \(others)")
    }

    private func askBegin() throws(RTMError) {
        if let issuedAt = claims.issuedAt { try times.checkBegin(issuedAt, "the token is issued") }
        if let beginsAt = claims.beginsAt {
            try times.checkBegin(beginsAt, "the token begins to be valid (nbf)")
        }
    }

    private func askExpiry() throws(RTMError) {
        guard let expiresAt = claims.expiresAt else {
            throw RTMError(.invalidToken, "the token doesn't say when it expires (exp)")
        }
        try times.checkExpiry(expiresAt, of: "the token")
        guard times.lifeMax > .zero else { return }
        guard let issuedAt = claims.issuedAt else {
            throw RTMError(
                .invalidToken,
                "the token doesn't say when it was issued (iat), and this server limits the life of tokens")
        }
        try times.checkLife(issuedAt: issuedAt)
    }

    private func askUserID() throws(RTMError) {
        guard let subject = claims.subject, !subject.isEmpty else {
            throw RTMError(
                .loginNotAuthorized, "the token names no user (sub), so it lets nobody log in")
        }
        guard subject.isSpelled(userID) else {
            throw RTMError(.invalidToken, "the token is for user \(subject.quoted), not for \(userID.quoted)")
        }
    }
}

extension RTMError {
    static func tokenDoesNotJoin(_ channel: String, as userID: String) -> RTMError {
        RTMError(
            .channelJoinFailed,
            "the token doesn't let user \(userID.quoted) join stream channel \(channel.quoted)")
    }
}
