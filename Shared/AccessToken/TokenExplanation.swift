package import RTMModel

/// What a server would say to a token, check by check, by somebody who may not have all that a server has.
package struct TokenExplanation: Sendable {
    package enum Outcome: Sendable, Hashable {
        case passed
        case failed(RTMError)
        /// Nothing to compare with was given.
        case unknown
        /// An earlier check has failed, which ends it.
        case unreached
    }

    package let signed: SignedToken
    /// All checks in their order.
    package let outcomes: [(check: TokenCheck, outcome: Outcome)]

    /// - Parameters:
    ///   - appID: of the server's app, as far as it is known; likewise certificate and user.
    ///   - nowMilliseconds: UTC, since 1970, by the clock of this machine.
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

    /// What a server would answer, as far as can be known here.
    package var refusal: RTMError? {
        for case (_, .failed(let error)) in outcomes { return error }
        return nil
    }
}
