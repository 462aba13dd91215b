import RTMModel

/// A token and everything that it is compared with.
struct TokenExamination {
    let signed: SignedToken
    let appID: String
    let certificate: String
    let userID: String
    let times: TokenTimes

    func ask(_ check: TokenCheck) throws(RTMError) {
        switch check {
        case .appID: try askAppID()
        case .signature: try askSignature()
        case .issueTime: try times.checkBegin(issuedAt, "the token is issued")
        case .expiry:
            try askExpiry(token.expiresAt, of: "the token")
            try times.checkLife(issuedAt: issuedAt)
        case .loginPrivilege: try askLoginPrivilege()
        case .privilegeExpiry: try askPrivilegeExpiry()
        case .userID: try askUserID()
        }
    }

    /// What a token that has passed all checks grants.
    ///
    /// If several services let the user log in, the grant ends with the first of them that ends, so
    /// that no service outlives its own limit.
    var grant: TokenGrant {
        let services = usersLogins.filter { !times.isPast(expiry(of: $0) * 1000) }
        let ends = services.map { expiry(of: $0) * 1000 } + [endOfLife].compactMap(\.self)
        let permissions = services.compactMap { service -> TokenPermissions? in
            if case .rtm2(_, let permissions) = service.content { permissions } else { nil }
        }
        return TokenGrant(
            expiresAtMilliseconds: ends.min() ?? 0, permissions: permissions,
            issuedAtSeconds: token.issuedAt)
    }
}

extension TokenExamination {
    /// Does the token let the user join this stream channel, and is that privilege still valid?
    ///
    /// - Returns: its end, and that of the privilege to publish there.
    func askJoin(of channel: String) throws(RTMError) -> JoinGrant {
        let joins = token.services.filter { service in
            guard case .rtc(let name, let user) = service.content, name.isSpelled(channel) else {
                return false
            }
            return user.isEmpty || user.isSpelled(userID)
        }
        func end(of privilege: UInt16) -> UInt64? {
            joins.compactMap { $0.privileges[privilege] }.map(token.expiry(ofPrivilege:)).max()
        }
        guard let last = end(of: TokenService.Privilege.joinChannel) else {
            throw .tokenDoesNotJoin(channel, as: userID)
        }
        try askExpiry(last, of: "the token's privilege to join")
        func milliseconds(_ end: UInt64) -> UInt64 { min(end * 1000, endOfLife ?? .max) }
        return JoinGrant(
            expiresAtMilliseconds: milliseconds(last),
            publishesUntilMilliseconds: end(of: TokenService.Privilege.publishData).map(milliseconds))
    }

    private var token: AccessToken { signed.token }

    private var issuedAt: UInt64 { UInt64(token.issuedAt) * 1000 }

    private var endOfLife: UInt64? { times.endOfLife(issuedAt: issuedAt) }

    private func askAppID() throws(RTMError) {
        guard token.appID.isSpelled(appID) else {
            throw RTMError(
                .loginInconsistentAppId, "the token is signed for another app id, \(token.appID.quoted)")
        }
    }

    private func askSignature() throws(RTMError) {
        guard AccessToken.isIdentifier(certificate) else {
            throw RTMError(
                .invalidToken, "the certificate that the token is checked with is not 32 hexadecimal digits")
        }
        let signature = TokenSignature.make(
            over: signed.signedBytes, issuedAt: token.issuedAt, salt: token.salt, certificate: certificate)
        guard TokenSignature.areEqual(signature, signed.signature) else {
            throw RTMError(
                .invalidToken,
                "the token's signature is wrong: it was made with another certificate, or the token was changed"
            )
        }
    }

    private func askLoginPrivilege() throws(RTMError) {
        guard logins.isEmpty else { return }
        let isSignaling = token.services.contains { $0.kind == .rtm || $0.kind == .rtm2 }
        let unread =
            signed.unreadServicesCount > 0
            ? "; \(signed.unreadServicesCount) services at its end are of unknown kinds" : ""
        throw RTMError(
            .loginNotAuthorized,
            isSignaling
                ? "the token is for this service, but has no login privilege"
                : "the token is not for this service: it has no rtm service\(unread)")
    }

    /// Checks the logins of this user if there are any, otherwise all logins; `askUserID` then finds out that
    /// they are another user's.
    private func askPrivilegeExpiry() throws(RTMError) {
        let relevant = usersLogins.isEmpty ? logins : usersLogins
        guard let last = relevant.map(expiry).max() else { return }
        try askExpiry(last, of: "the token's login privilege")
    }

    private func askUserID() throws(RTMError) {
        guard usersLogins.isEmpty else { return }
        let others = logins.compactMap(\.loginUser).map(\.quoted).prefix(3).joined(separator: ", ")
        throw RTMError(.invalidToken, "the token is for user \(others), not for \(userID.quoted)")
    }

    private func askExpiry(_ seconds: UInt64, of what: String) throws(RTMError) {
        try times.checkExpiry(seconds * 1000, of: what)
    }

    /// The services that let a user log in.
    private var logins: [TokenService] { token.services.filter { $0.loginUser != nil } }

    private var usersLogins: [TokenService] { logins.filter { $0.loginUser?.isSpelled(userID) == true } }

    private func expiry(of login: TokenService) -> UInt64 {
        token.expiry(ofPrivilege: login.privileges[TokenService.Privilege.login] ?? 0)
    }
}
