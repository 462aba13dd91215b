package import RTMModel

/// What a server would answer to a token, check by check, as far as it can be told without everything that a
/// server knows.
package struct TokenExplanation: Sendable {
    package enum Outcome: Sendable, Hashable {
        case passed
        case failed(RTMError)
        /// The value to compare with was not given.
        case unknown
        /// An earlier check has failed, so this one is not reached.
        case unreached
    }

    package let signed: SignedToken
    /// The outcomes of all checks in their order.
    package let outcomes: [(check: TokenCheck, outcome: Outcome)]

    /// - Parameters:
    /// - appID: the app id of the server, if it is known; the same holds for certificate and user.
    /// - nowMilliseconds: the time since 1970 (UTC) by the clock of this machine.
    package init(
        _ signed: SignedToken, appID: String?, certificate: String?, userID: String?, nowMilliseconds: UInt64
    ) {
        self.signed = signed
        let examination = TokenExamination(
            signed: signed, appID: appID ?? "", certificate: certificate ?? "", userID: userID ?? "",
            nowMilliseconds: nowMilliseconds, clock: "the clock of this machine")
        var isRefused = false
        outcomes = TokenCheck.allCases.map { check in
            let isKnown =
                switch check {
                case .appID: appID != nil
                case .signature: certificate != nil
                case .userID: userID != nil
                case .issueTime, .expiry, .loginPrivilege, .privilegeExpiry: true
                }
            guard isKnown, !isRefused else { return (check, isRefused ? .unreached : .unknown) }
            do throws(RTMError) {
                try examination.ask(check)
                return (check, .passed)
            } catch {
                isRefused = true
                return (check, .failed(error))
            }
        }
    }

    /// The refusal that a server would answer, as far as it can be known here.
    package var refusal: RTMError? {
        for case (_, .failed(let error)) in outcomes { return error }
        return nil
    }
}
