import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAccessToken

@Suite("Who is let in by a token")
struct TokenVerifierTests {
    // MARK: C-2

    @Test("C-2: a join needs an rtc service for the channel and the user, or for any user, while it lasts")
    func joins() throws {
        func refusal(
            _ services: [TokenService], user: String = "anna", channel: String = "room", at time: UInt64 = 0
        ) throws -> RTMError? {
            let token = try SampleApp.token(endsAt: 2_000_000_600, services)
            do throws(RTMError) {
                try TokenVerifier(appID: SampleApp.id, certificate: SampleApp.certificate).verifyJoin(
                    token, channel: channel, userID: user, nowMilliseconds: (2_000_000_000 + time) * 1000)
                return nil
            } catch {
                return error
            }
        }
        func rtc(_ channel: String, _ user: String, lasting: UInt32 = 0) -> TokenService {
            TokenService(
                .rtc(channel: channel, user: user),
                privileges: [TokenService.Privilege.joinChannel: lasting])
        }
        #expect(try refusal([rtc("room", "anna")]) == nil)
        #expect(try refusal([rtc("other", "anna"), rtc("room", "")]) == nil)
        #expect(try refusal([rtc("room", "ben")])?.code == .channelJoinFailed)
        #expect(try refusal([rtc("rooms", "anna")])?.code == .channelJoinFailed)
        #expect(
            try refusal([TokenService(.rtm(user: "anna"), privileges: [1: 0])])?.code == .channelJoinFailed)
        let publishes = TokenService(.rtc(channel: "room", user: "anna"), privileges: [2: 0, 3: 0, 4: 0])
        #expect(try refusal([publishes])?.code == .channelJoinFailed)
        #expect(try refusal([rtc("room", "anna", lasting: 60)], at: 59) == nil)
        #expect(try refusal([rtc("room", "anna", lasting: 60)], at: 60)?.code == .tokenExpired)
        #expect(try refusal([rtc("room", "anna")], at: 600)?.code == .tokenExpired)
    }

    @Test("A-13: a join tells until when its user may publish: the privilege, the token and its life at most")
    func publishing() throws {
        func grant(_ privileges: [[UInt16: UInt32]], user: String = "anna", lifeMax: Duration = .zero)
            throws -> JoinGrant
        {
            let services = privileges.map {
                TokenService(.rtc(channel: "room", user: user), privileges: $0)
            }
            let token = try SampleApp.token(endsAt: 2_000_000_600, services)
            return try TokenVerifier(
                appID: SampleApp.id, certificate: SampleApp.certificate, lifeMax: lifeMax
            ).verifyJoin(token, channel: "room", userID: "anna", nowMilliseconds: 2_000_000_000_000)
        }
        let (join, publish) = (TokenService.Privilege.joinChannel, TokenService.Privilege.publishData)
        let end: UInt64 = 2_000_000_600_000
        #expect(try grant([[join: 0]]) == JoinGrant(expiresAtMilliseconds: end))
        #expect(
            try grant([[join: 0, publish: 0]])
                == JoinGrant(expiresAtMilliseconds: end, publishesUntilMilliseconds: end))
        let brief = try grant([[join: 0, publish: 60]])
        #expect(brief.publishesUntilMilliseconds == 2_000_000_060_000, "A-12")
        #expect(brief.allowsPublishing(now: 2_000_000_059_999))
        #expect(!brief.allowsPublishing(now: 2_000_000_060_000))
        #expect(try grant([[join: 0], [publish: 0]]).publishesUntilMilliseconds == end, "A-11")
        #expect(
            try grant([[join: 0, publish: 0]], lifeMax: .seconds(100)).publishesUntilMilliseconds
                == 2_000_000_100_000, "L-50")
    }

    // MARK: S-3, check by check

    @Test("a token for the user is accepted until it expires (S-3, S-50)")
    func accepted() throws {
        let grant = try verify(token(), at: issuedAt)
        #expect(
            grant
                == TokenGrant(
                    expiresAtMilliseconds: UInt64(issuedAt + 600) * 1000, permissions: [],
                    issuedAtSeconds: issuedAt))
    }

    @Test("every vector with a login is accepted for its user in its time (A-5)")
    func vectors() throws {
        for vector in [TokenVector.rtmLogin, .combined, .expired] {
            let user = try #require(vector.token.services.compactMap(\.loginUser).first)
            let grant = try verifier.verify(
                vector.text, userID: user, nowMilliseconds: UInt64(vector.token.issuedAt) * 1000)
            #expect(grant.permissions.isEmpty)
        }
    }

    @Test("no token, a text that is none, or an older version: -10005", arguments: ["", "secret", "006abc"])
    func form(_ text: String) {
        let error = refusal(text)
        #expect(error?.code == .invalidToken)
        #expect(error?.reason.contains("secret") == false)
    }

    @Test("S-2: the app id is no credential for an app with a certificate")
    func appIDAsCredential() {
        let error = refusal(TokenVector.appID)
        #expect(error?.code == .invalidToken)
        #expect(error?.reason.contains("needs a token") == true)
    }

    @Test("another app's token: -10016, even if nothing else is right")
    func otherApp() throws {
        var token = token(user: "bob")
        token.appID = TokenVector.otherCertificate
        let text = try token.signed(with: TokenVector.otherCertificate).text
        let error = refusal(text, at: .max)
        #expect(error?.code == .loginInconsistentAppId)
        #expect(error?.reason.hasPrefix("the token is signed for another app id") == true)
        token.appID = TokenVector.appID.lowercased()
        #expect(
            try refusal(token.signed(with: TokenVector.certificate).text)?.code == .loginInconsistentAppId)
    }

    @Test("another certificate's token, or a changed one: -10005, even if it is expired")
    func otherCertificate() throws {
        let error = try refusal(token().signed(with: TokenVector.otherCertificate).text, at: .max)
        #expect(error?.code == .invalidToken)
        #expect(error?.reason.contains("signature is wrong") == true)
        #expect(refusal(TokenVector.tampered, at: 1_111_111)?.code == .invalidToken)
    }

    @Test(
        "a certificate that is none verifies nothing, not even what was signed with it",
        arguments: ["", "short"])
    func badCertificate(_ certificate: String) {
        let bytes = token().signingBytes
        let signature = TokenSignature.make(
            over: bytes, issuedAt: issuedAt, salt: 1, certificate: certificate)
        let verifier = TokenVerifier(appID: TokenVector.appID, certificate: certificate)
        let error = #expect(throws: RTMError.self) {
            try verifier.verify(
                tokenText(inflated: [32, 0] + signature + bytes), userID: "alice",
                nowMilliseconds: UInt64(issuedAt) * 1000)
        }
        #expect(error?.code == .invalidToken)
        #expect(error?.reason.contains("certificate") == true)
    }

    @Test("A-14: the issuer's clock may be 5 minutes ahead of ours, not more")
    func issuedAhead() throws {
        #expect(throws: Never.self) { try verify(token(), at: issuedAt - 300) }
        let error = try refusal(text(token()), at: issuedAt - 301)
        #expect(error?.code == .invalidToken)
        #expect(error?.reason == "the token is issued 5 min in the future by server clock, 300 s are allowed")
    }

    @Test("the last millisecond of a token counts, its expiry doesn't: -10009, with how long ago")
    func expiry() throws {
        let text = try text(token())
        let end = UInt64(issuedAt + 600) * 1000
        #expect(throws: Never.self) {
            try verifier.verify(text, userID: "alice", nowMilliseconds: end - 1)
        }
        func reason(_ milliseconds: UInt64) -> String? {
            let error = #expect(throws: RTMError.self) {
                try verifier.verify(text, userID: "alice", nowMilliseconds: end + milliseconds)
            }
            #expect(error?.code == .tokenExpired)
            return error?.reason
        }
        #expect(reason(0) == "the token expired 0 s ago by server clock")
        #expect(reason(37_999) == "the token expired 37 s ago by server clock")
        #expect(reason(120_000) == "the token expired 2 min ago by server clock")
        #expect(reason(7_200_000) == "the token expired 2 h ago by server clock")
        #expect(reason(864_000_000) == "the token expired 10 days ago by server clock")
    }

    @Test("L-50: the operator's limit ends a token that would live longer, and leaves a shorter one alone")
    func lifeMax() throws {
        let strict = TokenVerifier(
            appID: TokenVector.appID, certificate: TokenVector.certificate, lifeMax: .seconds(3_600))
        func verify(_ token: AccessToken, after seconds: UInt64) throws -> TokenGrant {
            try strict.verify(text(token), userID: "alice", nowMilliseconds: now + seconds * 1000)
        }
        let long = token(lifetime: 86_400, login: 86_400)
        #expect(try verify(long, after: 3_599).expiresAtMilliseconds == now + 3_600_000)
        let short = token(lifetime: 600)
        #expect(try verify(short, after: 0).expiresAtMilliseconds == now + 600_000)
        let error = #expect(throws: RTMError.self) { try verify(long, after: 7_200) }
        #expect(error?.code == .tokenExpired)
        #expect(
            error?.reason
                == "the token was issued 2 h ago by server clock, and this server lets tokens live for 60 min"
        )
        #expect(error?.limit == .init(name: "seconds of a token's life", value: 3_600))
    }

    @Test("a token without life is never valid (A-6)")
    func noLife() throws {
        #expect(try refusal(text(token(lifetime: 0)))?.code == .tokenExpired)
    }

    @Test("expiry is told before what is missing or whose it is")
    func expiryFirst() throws {
        let other = token(
            user: "bob", services: [TokenService(.rtc(channel: "c", user: "bob"), privileges: [1: 0])])
        #expect(try refusal(text(other), at: issuedAt + 600)?.code == .tokenExpired)
    }

    @Test("a token of another service, or without its login privilege: -10015")
    func loginPrivilege() throws {
        let stream = TokenService(.rtc(channel: "c", user: "alice"), privileges: [1: 600])
        #expect(try refusal(text(token(services: [stream])))?.code == .loginNotAuthorized)
        let noLogin = TokenService(.rtm(user: "alice"), privileges: [2: 600])
        let error = try refusal(text(token(services: [stream, noLogin])))
        #expect(error?.code == .loginNotAuthorized)
        #expect(error?.reason.contains("no login privilege") == true)
    }

    @Test("release note 2.2.2: a token of the wrong type is a typed refusal, nothing worse")
    func wrongTokenType() {
        let vector = TokenVector.streamPublisher
        let error = refusal(vector.text, userID: "uniqueUserId", at: vector.token.issuedAt)
        #expect(error?.code == .loginNotAuthorized)
        #expect(error?.reason == "the token is not for this service: it has no rtm service")
    }

    @Test("a login privilege that ends before its token: -10009, and the end of the session (A-12)")
    func privilegeExpiry() throws {
        let token = token(login: 60)
        #expect(try verify(token, at: issuedAt + 59).expiresAtMilliseconds == UInt64(issuedAt + 60) * 1000)
        let error = try refusal(text(token), at: issuedAt + 97)
        #expect(error?.code == .tokenExpired)
        #expect(error?.reason == "the token's login privilege expired 37 s ago by server clock")
        #expect(try refusal(text(token), userID: "bob", at: issuedAt + 97)?.code == .tokenExpired)
    }

    @Test(
        "a privilege of 0 has no limit of its own, a long one ends with its token (A-12)",
        arguments: [0, 601, .max])
    func privilegeBeyondToken(_ login: UInt32) throws {
        let grant = try verify(token(login: login), at: issuedAt)
        #expect(grant.expiresAtMilliseconds == UInt64(issuedAt + 600) * 1000)
    }

    @Test("another user's token: -10005, and whose it is")
    func otherUser() throws {
        let error = try refusal(text(token(user: "bob")))
        #expect(error?.code == .invalidToken)
        #expect(error?.reason == #"the token is for user "bob", not for "alice""#)
    }

    @Test("names are compared byte by byte: what only looks or counts as the same is another user")
    func spelling() throws {
        #expect("K" == "\u{212A}", "Swift's == is what this test is about")
        for (inToken, user) in [("\u{212A}", "K"), ("alice\0", "alice"), ("Alice", "alice"), ("", "alice")] {
            #expect(try refusal(text(token(user: inToken)), userID: user)?.code == .invalidToken)
        }
    }

    @Test("a stranger's name in a reason is bounded and can't break a line")
    func quoting() throws {
        let name = "\u{1B}[2J\n" + String(repeating: "x", count: 10_000)
        let reason = try #require(try refusal(text(token(user: name)))?.reason)
        #expect(reason.utf8.count < 200)
        #expect(!reason.unicodeScalars.contains { $0.value < 32 })
    }

    // MARK: Several services

    @Test("A-11: of several logins any may be the user's")
    func anyLogin() throws {
        let services = ["bob", "alice"].map { TokenService(.rtm(user: $0), privileges: [1: 600]) }
        #expect(throws: Never.self) { try verify(token(services: services)) }
        let error = try refusal(text(token(services: services)), userID: "carol")
        #expect(error?.reason == #"the token is for user "bob", "alice", not for "carol""#)
    }

    @Test("A-11: the user's own expired login is not mended by another's, nor spoilt by it")
    func ownExpiry() throws {
        let token = token(services: [
            TokenService(.rtm(user: "alice"), privileges: [1: 60]),
            TokenService(.rtm(user: "bob"), privileges: [1: 600]),
        ])
        #expect(try refusal(text(token), at: issuedAt + 60)?.code == .tokenExpired)
        let grant = try verify(token, userID: "bob", at: issuedAt + 60)
        #expect(grant.expiresAtMilliseconds == UInt64(issuedAt + 600) * 1000)
    }

    @Test("A-11: with two logins of the user nothing outlives its own limit")
    func twoLogins() throws {
        let short = TokenPermissions([0: [0: ["a"]]])
        let token = token(services: [
            TokenService(.rtm2(user: "alice", permissions: short), privileges: [1: 60]),
            TokenService(.rtm2(user: "alice", permissions: TokenPermissions()), privileges: [1: 0]),
        ])
        let first = try verify(token, at: issuedAt)
        #expect(first.expiresAtMilliseconds == UInt64(issuedAt + 60) * 1000)
        #expect(first.allows(.read, to: .messageChannels, named: "a".utf8))
        let second = try verify(token, at: issuedAt + 60)
        #expect(second.expiresAtMilliseconds == UInt64(issuedAt + 600) * 1000)
        #expect(!second.allows(.read, to: .messageChannels, named: "a".utf8))
    }

    @Test("A-10: the signature covers services that we can't read")
    func unknownService() throws {
        // A known service, then one of type 999, then a known one: only the first is read.
        let known = token()
        let last = TokenService(.rtm2(user: "bob", permissions: TokenPermissions()), privileges: [1: 0])
        let tail = token(services: [last]).signingBytes.dropFirst(48)
        var bytes = known.signingBytes
        bytes[46] = 3
        bytes += [0xE7, 3, 1, 0, 1, 0, 9, 9, 9, 9] + tail
        let text = tokenText(signing: bytes, issuedAt: issuedAt, salt: 1)
        #expect(try SignedToken(text).unreadServicesCount == 2)
        #expect(throws: Never.self) { try verifier.verify(text, userID: "alice", nowMilliseconds: now) }
        bytes[bytes.count - 1] ^= 1
        let changed = try tokenText(inflated: [32, 0] + SignedToken(text).signature + bytes)
        #expect(refusal(changed)?.code == .invalidToken)
    }

    @Test("A-10: with only unknown services nobody is let in, and the reason says what was not read")
    func onlyUnknownServices() {
        var bytes = token(services: []).signingBytes
        bytes[46] = 1
        let text = tokenText(signing: bytes + [0, 0, 0, 0], issuedAt: issuedAt, salt: 1)
        let error = refusal(text)
        #expect(error?.code == .loginNotAuthorized)
        #expect(error?.reason.contains("1 services at its end are of unknown kinds") == true)
    }

    // MARK: A-15

    @Test("A-15: without an RTM2 service everything is allowed")
    func unrestricted() throws {
        let grant = try verify(token())
        for resource in TokenPermissions.Resource.allCases {
            #expect(grant.allows(.write, to: resource, named: "anything".utf8))
        }
    }

    @Test("A-15: an RTM2 service allows exactly what it lists")
    func restricted() throws {
        let permissions = TokenPermissions([0: [0: ["lobby", "*", "\u{212A}"]], 4: [1: ["bob"]]])
        let service = TokenService(.rtm2(user: "alice", permissions: permissions), privileges: [1: 0])
        let rtm = TokenService(.rtm(user: "alice"), privileges: [1: 0])
        for services in [[service], [rtm, service]] {
            let grant = try verify(token(services: services))
            #expect(grant.allows(.read, to: .messageChannels, named: "lobby".utf8))
            #expect(grant.allows(.write, to: .users, named: "bob".utf8))
            #expect(!grant.allows(.write, to: .messageChannels, named: "lobby".utf8))
            #expect(!grant.allows(.read, to: .streamChannels, named: "lobby".utf8))
            for name in ["lobb", "lobbyy", "Lobby", "hall", "", "K"] {
                #expect(!grant.allows(.read, to: .messageChannels, named: name.utf8), "\(name)")
            }
        }
    }

    @Test("A-15: another user's RTM2 service restricts that user alone")
    func othersPermissions() throws {
        let grant = try verify(
            token(services: [
                TokenService(.rtm(user: "alice"), privileges: [1: 0]),
                TokenService(.rtm2(user: "bob", permissions: TokenPermissions()), privileges: [1: 0]),
            ]))
        #expect(grant.allows(.read, to: .messageChannels, named: "lobby".utf8))
    }

    // MARK: -

    private let issuedAt: UInt32 = 1_700_000_000
    private var now: UInt64 { UInt64(issuedAt) * 1000 }
    private let verifier = TokenVerifier(appID: TokenVector.appID, certificate: TokenVector.certificate)

    private func token(
        user: String = "alice", lifetime: UInt32 = 600, login: UInt32 = 600, services: [TokenService]? = nil
    ) -> AccessToken {
        AccessToken(
            appID: TokenVector.appID, issuedAt: issuedAt, lifetimeSeconds: lifetime, salt: 1,
            services: services ?? [TokenService(.rtm(user: user), privileges: [1: login])])
    }

    private func text(_ token: AccessToken) throws -> String {
        try token.signed(with: TokenVector.certificate).text
    }

    private func verify(
        _ token: AccessToken, userID: String = "alice", at seconds: UInt32? = nil
    ) throws -> TokenGrant {
        try verifier.verify(
            text(token), userID: userID, nowMilliseconds: UInt64(seconds ?? issuedAt) * 1000)
    }

    private func refusal(
        _ text: String, userID: String = "alice", at seconds: UInt32? = nil
    ) -> RTMError? {
        do throws(RTMError) {
            _ = try verifier.verify(
                text, userID: userID, nowMilliseconds: UInt64(seconds ?? issuedAt) * 1000)
            return nil
        } catch {
            return error
        }
    }
}
