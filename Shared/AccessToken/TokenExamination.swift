import RTMModel

/// A token and everything that it is compared with.
struct TokenExamination {
    let signed: SignedToken
    let appID: String
    let certificate: String
    let userID: String
    /// The time in milliseconds since 1970 (UTC).
    let nowMilliseconds: UInt64
    /// Names the clock in the sentences of refusals.
    let clock: String
    /// How long a token lives at most, counted from its issue (L-50). Zero means that there is no limit.
    var lifeMax: Duration = .zero

    /// Limit: how far the clock of a token's issuer may be ahead of this one, in seconds.
    static let issuedAheadSecondsMax: UInt64 = 300

    func ask(_ check: TokenCheck) throws(RTMError) {
        switch check {
        case .appID: try askAppID()
        case .signature: try askSignature()
        case .issueTime: try askIssueTime()
        case .expiry:
            try askExpiry(token.expiresAt, of: "the token")
            try askLife()
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
        let services = usersLogins.filter { !isPast(expiry(of: $0)) }
        let expiresAt = (services.map(expiry) + [endOfLife].compactMap(\.self)).min() ?? 0
        let permissions = services.compactMap { service -> TokenPermissions? in
            if case .rtm2(_, let permissions) = service.content { permissions } else { nil }
        }
        return TokenGrant(expiresAtMilliseconds: expiresAt * 1000, permissions: permissions)
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
            throw RTMError(
                .channelJoinFailed,
                "the token doesn't let user \(userID.quoted) join stream channel \(channel.quoted)")
        }
        try askExpiry(last, of: "the token's privilege to join")
        func milliseconds(_ end: UInt64) -> UInt64 { min(end, endOfLife ?? end) * 1000 }
        return JoinGrant(
            expiresAtMilliseconds: milliseconds(last),
            publishesUntilMilliseconds: end(of: TokenService.Privilege.publishData).map(milliseconds))
    }

    private var token: AccessToken { signed.token }

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

    private func askIssueTime() throws(RTMError) {
        let issuedAt = UInt64(token.issuedAt) * 1000
        guard issuedAt <= nowMilliseconds + Self.issuedAheadSecondsMax * 1000 else {
            let ahead = Duration.milliseconds(issuedAt - nowMilliseconds)
            throw RTMError(
                .invalidToken,
                "the token is issued \(ahead.inWords) in the future by \(clock), "
                    + "\(Self.issuedAheadSecondsMax) s are allowed")
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
        guard isPast(seconds) else { return }
        let ago = Duration.milliseconds(nowMilliseconds - seconds * 1000)
        throw RTMError(.tokenExpired, "\(what) expired \(ago.inWords) ago by \(clock)")
    }

    private func askLife() throws(RTMError) {
        guard let endOfLife, isPast(endOfLife) else { return }
        let age = Duration.milliseconds(nowMilliseconds - UInt64(token.issuedAt) * 1000)
        throw RTMError(
            .tokenExpired,
            "the token was issued \(age.inWords) ago by \(clock), and this server lets tokens live for "
                + lifeMax.inWords,
            limit: .init(name: "seconds of a token's life", value: UInt64(lifeMax.components.seconds)))
    }

    /// The second at which the operator's limit ends the token; nil if there is no limit.
    private var endOfLife: UInt64? {
        guard lifeMax > .zero else { return nil }
        return UInt64(token.issuedAt) + UInt64(lifeMax.components.seconds)
    }

    /// The services that let a user log in.
    private var logins: [TokenService] { token.services.filter { $0.loginUser != nil } }

    private var usersLogins: [TokenService] { logins.filter { $0.loginUser?.isSpelled(userID) == true } }

    private func expiry(of login: TokenService) -> UInt64 {
        token.expiry(ofPrivilege: login.privileges[TokenService.Privilege.login] ?? 0)
    }

    /// Whether that second has come. The second at which something ends is no longer part of it.
    private func isPast(_ seconds: UInt64) -> Bool { nowMilliseconds >= seconds * 1000 }
}

extension String {
    /// Compares byte by byte. `==` takes the Kelvin sign for a K, and so one user for another.
    fileprivate func isSpelled(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// The text for a sentence: bounded, and without characters that would break the line.
    fileprivate var quoted: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(64))).debugDescription
    }
}

extension Duration {
    /// The duration as precise as a person needs it: `37 s`, `12 min`, `5 h`, `9 days`.
    package var inWords: String {
        let seconds = components.seconds
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
