package import RTMModel

/// What a server would answer to a token, check by check, as far as that can be known without everything that
/// a server knows.
package struct TokenExplanation: Sendable {
    package let signed: SignedToken
    /// The outcomes of all checks in their order.
    package let outcomes: [(check: TokenCheck, outcome: CheckOutcome)]

    /// - Parameters:
    /// - appID: the app id of the server, if it is known; the same holds for certificate and user.
    /// - nowMilliseconds: the time since 1970 (UTC) by the clock of this machine.
    package init(
        _ signed: SignedToken, appID: String?, certificate: String?, userID: String?, nowMilliseconds: UInt64
    ) {
        self.signed = signed
        let examination = TokenExamination(
            signed: signed, appID: appID ?? "", certificate: certificate ?? "", userID: userID ?? "",
            times: .ofThisMachine(nowMilliseconds))
        outcomes = CheckOutcome.all(TokenCheck.allCases) { check throws(RTMError) in
            let isKnown =
                switch check {
                case .appID: appID != nil
                case .signature: certificate != nil
                case .userID: userID != nil
                case .issueTime, .expiry, .loginPrivilege, .privilegeExpiry: true
                }
            if isKnown { try examination.ask(check) }
            return isKnown
        }
    }

    /// The refusal that a server would answer, as far as it can be known here.
    package var refusal: RTMError? { outcomes.lazy.compactMap(\.outcome.refusal).first }
}

/// What came of one check of a token.
package enum CheckOutcome: Sendable, Hashable {
    case passed
    case failed(RTMError)
    /// The value to compare with was not given.
    case unknown
    /// An earlier check has failed, so this one is not reached.
    case unreached

    package var refusal: RTMError? { if case .failed(let error) = self { error } else { nil } }

    /// - Parameter ask: makes one check; false if the value to compare with was not given.
    static func all<Check>(
        _ checks: [Check], _ ask: (Check) throws(RTMError) -> Bool
    ) -> [(check: Check, outcome: CheckOutcome)] {
        var isRefused = false
        return checks.map { check in
            guard !isRefused else { return (check, .unreached) }
            do throws(RTMError) {
                return (check, try ask(check) ? .passed : .unknown)
            } catch {
                isRefused = true
                return (check, .failed(error))
            }
        }
    }
}
