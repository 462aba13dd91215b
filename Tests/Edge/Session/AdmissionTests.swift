import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAccessToken
@testable import RTMEdgeServer

@Suite("Who may log in")
struct AdmissionTests {
    private let admission = Admission([
        Application(id: "open", subscriptionsMax: 50, rates: .unlimited),
        Application(
            id: SampleApp.id, tokens: AppTokens(SampleApp.verifier, nil), subscriptionsMax: 50,
            rates: .unlimited),
    ])
    private let closed = SampleApp.id
    /// UTC, seconds since 1970.
    private let end: UInt64 = 1_700_000_000

    // MARK: Without a certificate

    @Test(
        "S-2: without a certificate the app id is the credential, and none will do", arguments: ["", "open"])
    func noCertificate(_ token: String) throws {
        let (application, grant) = try admit("open", "anna", token)
        #expect(application.id == "open")
        #expect(grant == nil, "nothing ends the session, nothing restricts it")
    }

    @Test("S-2: any other token is refused", arguments: ["OPEN", "open ", "closed", "007eJx"])
    func wrongToken(_ token: String) {
        #expect(refusal("open", "anna", token)?.code == .invalidToken)
    }

    @Test("an unknown app is -10003, whatever else is wrong", arguments: ["", "Open", "open\u{0}", "x"])
    func unknownApp(_ appID: String) {
        #expect(refusal(appID, "", "nonsense")?.code.rawValue == -10003)
    }

    @Test(
        "S-4, C-2: a service that is switched off for an app lets nobody in, or nobody into stream channels")
    func services() throws {
        func app(_ service: AppService) -> Application {
            Application(
                id: "\(service)", subscriptionsMax: 50, rates: .unlimited, service: service)
        }
        let admission = Admission([app(.all), app(.messages), app(.none)])
        func login(_ id: String) throws(RTMError) -> Application {
            try admission.admit(appID: id, userID: "anna", token: "", nowMilliseconds: 0).application
        }
        #expect(throws: Never.self) {
            try login("all").checkJoin("c", "", userID: "anna", nowMilliseconds: 0)
        }
        let error = #expect(throws: RTMError.self) {
            try login("messages").checkJoin("c", "", userID: "anna", nowMilliseconds: 0)
        }
        #expect(error?.code == .channelNotAvailable)
        #expect(refusedCode { () throws(RTMError) in try login("none") } == .loginNotAuthorized)
    }

    private func refusedCode(_ body: () throws(RTMError) -> Application) -> ErrorCode? {
        do {
            _ = try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "L-1, L-2: a bad user id is -10006",
        arguments: ["", "ä", "a/b", "a\"b", String(repeating: "x", count: 65)])
    func badUser(_ userID: String) {
        #expect(refusal("open", userID, "")?.code.rawValue == -10006)
    }

    @Test("L-1: 64 bytes are a user id")
    func longestUser() throws {
        _ = try admit("open", String(repeating: "x", count: 64), "")
    }

    @Test("a refusal doesn't repeat a long app id, nor the token")
    func reasons() {
        #expect((refusal(String(repeating: "x", count: 5000), "anna", "")?.reason.count ?? .max) < 120)
        for app in ["open", closed] {
            #expect(refusal(app, "anna", "my secret token")?.reason.contains("my secret token") == false)
        }
    }

    // MARK: With one

    @Test(
        "S-2: with a certificate neither the app id nor nothing is a credential", arguments: ["", nil, "x"])
    func certificate(_ token: String?) {
        #expect(refusal(closed, "anna", token ?? closed)?.code == .invalidToken)
    }

    @Test("S-3: a token lets its user in until it ends, and the grant knows when")
    func accepted() throws {
        let token = try SampleApp.token(for: "anna", endsAt: end)
        let grant = try admit(closed, "anna", token, at: end * 1000 - 1).grant
        #expect(grant?.expiresAtMilliseconds == end * 1000 && grant?.permissions == [])
    }

    @Test("S-3: what is refused, and with which code")
    func refused() throws {
        let token = try SampleApp.token(for: "anna", endsAt: end)
        let forged = try SampleApp.token(
            for: "anna", endsAt: end, certificate: SampleApp.otherCertificate)
        let foreign = try SampleApp.token(
            for: "anna", endsAt: end, appID: SampleApp.otherCertificate)
        let streams = try SampleApp.token(
            endsAt: end, [TokenService(.rtc(channel: "c", user: "anna"), privileges: [1: 600])])
        let before = end * 1000 - 1
        #expect(refusal(closed, "bert", token, at: before)?.code == .invalidToken)
        #expect(refusal(closed, "anna", token, at: end * 1000)?.code == .tokenExpired)
        #expect(refusal(closed, "anna", token, at: 0)?.code == .invalidToken, "A-14: not issued yet")
        #expect(refusal(closed, "anna", forged, at: before)?.code == .invalidToken)
        #expect(refusal(closed, "anna", foreign, at: before)?.code == .loginInconsistentAppId)
        #expect(refusal(closed, "anna", streams, at: before)?.code == .loginNotAuthorized)
        #expect(refusal(closed, "anna", String(token.dropLast(4)), at: before)?.code == .invalidToken)
    }

    @Test("tokens that the reference's builder made are accepted and refused as ours are")
    func vectors() throws {
        let login =
            "007eJxTYOCdJftjyTM2zxW6Xhm/5T0j5LdcUt/xYVt48fb5Mp3PX9coMFiaGzg7GpumpJoZJJuYmJmYJ"
            + "iUlplokGhmaGpgZJhkbu38RYIhgYmBgZABhJiBmBPM5GUpSi0viS4tTiwBZVh6A"
        let grant = try admit(closed, "test_user", login, at: 1_111_111_000).grant
        #expect(grant?.expiresAtMilliseconds == 1_111_711_000)
        #expect(refusal(closed, "test_user", login, at: 1_111_711_000)?.code == .tokenExpired)
        // Its last byte was changed: the user is test_uses.
        let tampered = login.dropLast(4) + "FZVx6B"
        #expect(refusal(closed, "test_uses", String(tampered), at: 1_111_111_000)?.code == .invalidToken)
    }

    @Test("A-17: each app takes the kinds of tokens that it has keys for, and tells them apart by their form")
    func kinds() throws {
        let jwt = JWTVerifier(keys: try JWTKeySet(SampleJWT.secretJWK), audience: SampleApp.id)
        func app(_ tokens: TokenVerifier?, _ jwts: JWTVerifier?) -> Application {
            Application(
                id: SampleApp.id, tokens: AppTokens(tokens, jwts), subscriptionsMax: 50, rates: .unlimited)
        }
        let old = try SampleApp.token(for: "anna", endsAt: end)
        let new = try SampleJWT.claims(for: "anna", endsAt: end).signed(with: SampleJWT.signing(.hs256))
        func refusal(_ app: Application, _ credential: String) -> RTMError? {
            do throws(RTMError) {
                _ = try app.grant(for: credential, userID: "anna", nowMilliseconds: end * 1000 - 1)
                return nil
            } catch { return error }
        }
        let both = app(SampleApp.verifier, jwt)
        #expect(refusal(both, old) == nil)
        #expect(refusal(both, new) == nil)
        #expect(refusal(both, "")?.code == .invalidToken)
        #expect(refusal(both, SampleApp.id)?.reason.contains("needs a token") == true)
        let oldOnly = app(SampleApp.verifier, nil)
        #expect(refusal(oldOnly, old) == nil)
        #expect(refusal(oldOnly, new)?.reason == "this is a JWT, and the app takes only tokens 007")
        let newOnly = app(nil, jwt)
        #expect(refusal(newOnly, new) == nil)
        for credential in [old, "", SampleApp.id] {
            #expect(refusal(newOnly, credential)?.code == .invalidToken)
        }
    }

    @Test("an id that Swift takes for the app's is another one (S-3)")
    func spelling() {
        let kelvin = Admission([Application(id: "K", subscriptionsMax: 50, rates: .unlimited)])
        #expect(throws: Never.self) {
            try kelvin.admit(appID: "K", userID: "anna", token: "", nowMilliseconds: 1)
        }
        let error = #expect(throws: RTMError.self) {
            try kelvin.admit(appID: "\u{212A}", userID: "anna", token: "", nowMilliseconds: 1)
        }
        #expect(error?.code == .invalidAppId)
    }

    @Test("the permissions of a token are those of the grant (A-15)")
    func permissions() throws {
        let lists = TokenPermissions.channels(read: ["a"], write: ["b"])
        let token = try SampleApp.token(for: "anna", endsAt: end, permissions: lists)
        #expect(try admit(closed, "anna", token, at: end * 1000 - 1).grant?.permissions == [lists])
    }

    // MARK: -

    private func admit(
        _ appID: String, _ userID: String, _ token: String, at now: UInt64 = 0
    ) throws(RTMError) -> (application: Application, grant: TokenGrant?) {
        try admission.admit(appID: appID, userID: userID, token: token, nowMilliseconds: now)
    }

    private func refusal(
        _ appID: String, _ userID: String, _ token: String, at now: UInt64 = 0
    ) -> RTMError? {
        do throws(RTMError) {
            _ = try admit(appID, userID, token, at: now)
            return nil
        } catch { return error }
    }
}
