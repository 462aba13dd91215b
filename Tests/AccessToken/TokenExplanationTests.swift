import RTMModel
import RTMTestSupport
import Testing

@testable import RTMAccessToken

@Suite("What is explained about a token")
struct TokenExplanationTests {
    @Test("who knows all that a server knows is told what the server would say")
    func agreesWithVerifier() throws {
        for seed in 0..<1000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let appID = generator.chance(7, in: 8) ? TokenVector.appID : TokenVector.otherCertificate
            let certificate =
                generator.chance(7, in: 8) ? TokenVector.certificate : TokenVector.otherCertificate
            let user = generator.chance(3, in: 4) ? "alice" : "bob"
            let now = UInt64.random(in: 600_000...1_500_000, using: &generator)
            let signed = try token(&generator).signed(with: TokenVector.certificate)

            let explanation = TokenExplanation(
                signed, appID: appID, certificate: certificate, userID: user, nowMilliseconds: now)
            let verdict = refusal {
                try TokenVerifier(appID: appID, certificate: certificate).verify(
                    signed.text, userID: user, nowMilliseconds: now)
            }
            #expect(explanation.refusal?.code == verdict?.code, "seed \(seed)")
            #expect(
                explanation.refusal?.reason.replacing("the clock of this machine", with: "server clock")
                    == verdict?.reason, "seed \(seed)")
        }
    }

    @Test("what isn't given isn't checked, and doesn't hide what can be")
    func unknown() throws {
        let explanation = TokenExplanation(
            try SignedToken(TokenVector.rtmLogin.text), appID: nil, certificate: nil, userID: nil,
            nowMilliseconds: 1_111_112_000)
        #expect(
            explanation.outcomes.map(\.outcome)
                == [.unknown, .unknown, .passed, .passed, .passed, .passed, .unknown])
        #expect(explanation.refusal == nil)
    }

    @Test("behind the first check that fails nothing is said")
    func firstFailure() throws {
        let explanation = TokenExplanation(
            try SignedToken(TokenVector.expired.text), appID: TokenVector.appID, certificate: nil,
            userID: "bob", nowMilliseconds: 1_000_000_097_000)
        let error = RTMError(.tokenExpired, "the token expired 37 s ago by the clock of this machine")
        #expect(
            explanation.outcomes.map(\.outcome)
                == [.passed, .unknown, .passed, .failed(error), .unreached, .unreached, .unreached])
        #expect(explanation.refusal == error)
    }

    @Test("without a user the privilege of any login is looked at")
    func privilegeOfAnybody() throws {
        let token = AccessToken(
            appID: TokenVector.appID, issuedAt: 1000, lifetimeSeconds: 600,
            services: [TokenService(.rtm(user: "alice"), privileges: [1: 60])])
        let explanation = TokenExplanation(
            try token.signed(with: TokenVector.certificate), appID: nil, certificate: nil, userID: nil,
            nowMilliseconds: 1_060_000)
        #expect(explanation.refusal?.code == .tokenExpired)
    }

    /// The kinds between which the checks distinguish.
    private func token(_ generator: inout SeededGenerator) -> AccessToken {
        let count = Int.random(in: 1...3, using: &generator)
        let services = (0..<count).map { _ in
            let user = generator.chance(2, in: 3) ? "alice" : "bob"
            let privilege: UInt16 = generator.chance(5, in: 6) ? 1 : 2
            let content: TokenService.Content =
                generator.chance(2, in: 3) ? .rtm(user: user) : .rtc(channel: "c", user: user)
            return TokenService(content, privileges: [privilege: generator.chance(1, in: 2) ? 0 : 100])
        }
        return AccessToken(
            appID: TokenVector.appID, issuedAt: 1000, lifetimeSeconds: 300, salt: 1, services: services)
    }

    private func refusal(_ call: () throws -> TokenGrant) -> RTMError? {
        do {
            _ = try call()
            return nil
        } catch {
            return error as? RTMError
        }
    }
}
