package import RTMModel

/// What a server would answer to a JWT, check by check, as far as that can be known without everything that
/// a server knows.
package struct JWTExplanation: Sendable {
    package let header: JWTHeader
    package let claims: JWTClaims
    /// The outcomes of all checks in their order.
    package let outcomes: [(check: JWTCheck, outcome: CheckOutcome)]

    /// - Parameters:
    /// - keys: the keys of the app, if they are known; the same holds for issuer, audience and user.
    /// - nowMilliseconds: the time since 1970 (UTC) by the clock of this machine.
    /// - Throws: `.invalidToken` (-10005) for a token that can't be read.
    package init(
        _ signed: SignedJWT, keys: JWTKeySet?, issuer: String?, audience: String?, userID: String?,
        nowMilliseconds: UInt64
    ) throws(RTMError) {
        header = signed.header
        claims = try signed.claims()
        let examination = JWTExamination(
            claims: claims, issuer: issuer, audience: audience ?? "", userID: userID ?? "",
            times: .ofThisMachine(nowMilliseconds))
        outcomes = CheckOutcome.all(JWTCheck.allCases) { check throws(RTMError) in
            switch check {
            case .key, .signature:
                guard let keys else { return false }
                if check == .key { _ = try keys.key(of: signed.header) } else { try keys.check(signed) }
            case .issuer where issuer == nil, .audience where audience == nil, .userID where userID == nil:
                return false
            default: try examination.ask(check)
            }
            return true
        }
    }

    /// The refusal that a server would answer, as far as it can be known here.
    package var refusal: RTMError? { outcomes.lazy.compactMap(\.outcome.refusal).first }
}
