import RTMModel
import Testing

@testable import RTMAccessToken

/// Tokens of other builders are read here, and the tokens written here have the same bytes as theirs.
@Suite("Token vectors")
struct TokenVectorTests {
    @Test(
        "A-1, A-2, A-3, A-4: a vector's bytes and fields are what its builder put in",
        arguments: TokenVector.all)
    func reading(_ vector: TokenVector) throws {
        let signed = try SignedToken(vector.text)
        #expect(hex(signed.signature) == vector.signature)
        #expect(hex(signed.signedBytes) == vector.signed)
        #expect(signed.token == vector.token)
        #expect(signed.unreadServicesCount == 0)
    }

    @Test("A-3 … A-5: we build the bytes and the signature of a vector", arguments: TokenVector.all)
    func building(_ vector: TokenVector) throws {
        let signed = try vector.token.signed(with: TokenVector.certificate)
        #expect(hex(signed.signedBytes) == vector.signed)
        #expect(hex(signed.signature) == vector.signature)
        #expect(try SignedToken(signed.text) == signed)
    }

    @Test("A-5: a vector verifies with its certificate and with no other", arguments: TokenVector.all)
    func signature(_ vector: TokenVector) throws {
        let signed = try SignedToken(vector.text)
        #expect(isSignatureRight(signed, TokenVector.certificate))
        #expect(!isSignatureRight(signed, TokenVector.otherCertificate))
    }

    @Test("A-6: expiry counts from the issue of the token")
    func expiry() {
        #expect(TokenVector.rtmLogin.token.expiresAt == 1_111_711)
        #expect(TokenVector.streamPublisher.token.expiresAt == 1_700_003_600)
        let late = AccessToken(appID: "", issuedAt: .max, lifetimeSeconds: .max, services: [])
        #expect(late.expiresAt == 2 * UInt64(UInt32.max))
    }

    @Test("a changed user id parses, and its signature is wrong")
    func tampered() throws {
        let signed = try SignedToken(TokenVector.tampered)
        #expect(signed.token.services.first?.content != TokenVector.rtmLogin.token.services.first?.content)
        #expect(!isSignatureRight(signed, TokenVector.certificate))
    }

    @Test("A-8: the same token by Go's deflate has another text and the same bytes")
    func otherDeflate() throws {
        let text =
            "007eJxSYOCdJftjyTM2zxW6Xhm/5T0j5LdcUt/xYVt48fb5Mp3PX9coMFiaGzg7GpumpJoZJJuYmJmYJiUlplokGhmaGpgZ"
            + "Jhkbu38RYIhgYmBgZABhJgZGBkYwn5OhJLW4JL60OLUIEAAA//9ZVh6A"
        #expect(text != TokenVector.rtmLogin.text)
        #expect(try SignedToken(text) == SignedToken(TokenVector.rtmLogin.text))
    }

    @Test("11.2: services that aren't ours are skipped by their layout, and RTM2 behind them is read")
    func otherServices() throws {
        let signed = try SignedToken(Self.extended)
        #expect(isSignatureRight(signed, TokenVector.certificate))
        #expect(signed.token.services.map(\.kind) == [.streaming, .fcdn, .rtm2])
        #expect(signed.unreadServicesCount == 0)
        let permissions = TokenPermissions([
            0: [0: ["message-a", "message-b"]], 1: [1: ["stream-a"]], 4: [0: ["user-a"]],
        ])
        #expect(signed.token.services.last?.content == .rtm2(user: "test_user", permissions: permissions))
        #expect(signed.token.signingBytes == signed.signedBytes)
    }

    @Test("11.2: rtc, rtm, fpa, chat and apaas in one token")
    func allOlderServices() throws {
        let text =
            "007eJxTYHh8IPKzTvBdf9ce8bk7G61vs06oca1e815/ot4+x7rfjDIKDJbmBs6OxqYpqWYGySYmZiamSUmJqRaJRoamBmaG"
            + "ScbG7l8EGCKYGBgYGRgYWIEkCxCD+ExgkhlMsoBJBQbzFHMjYzPT1CRLC2MTC1NjS/NU41TjNMsUEzODpJSURC4GIwsLI2MT"
            + "QyNzYyagORCTkEVZ4KKsWOXZgWIQm1HF//8HAL01L5I="
        let signed = try SignedToken(text)
        #expect(isSignatureRight(signed, TokenVector.certificate))
        #expect(signed.token.services.map(\.kind) == [.rtc, .rtm, .fpa, .chat, .apaas])
        #expect(signed.token.signingBytes == signed.signedBytes)
    }

    /// A token of the reference's C++ builder, with a streaming, an FCDN and an RTM2 service.
    static let extended =
        "007eJxTYPj86Lzdz79M25wNn/lMfvu+TkfmdpiviKvChm8ZV3SWndytwGBpbuDsaGyakmpmkGxiYmZimpSUmGqRaGRoamBmmGRs"
        + "7P5FgCGCiYGBkYGBgRkImYAsEJ8JTCowmKeYGxmbmaYmWVoYm1iYGluapxqnGqdZppiYGSSlpCRyMRhZWBgZmxgamRuzUaSbA6gX"
        + "opuToSS1uCS+tDi1iJkB4jQmoGBuanFxYnqqbiKCmcTIAIEcDMUlRamJubqJLGD1jAxsDCD9uokAO/VDvQ=="
}

/// Inputs that other builders refuse as well.
@Suite("Tokens that can't be made")
struct RefusedBuildTests {
    private let service = TokenService(.rtm(user: "alice"), privileges: [1: 600])

    @Test(
        "without a certificate there is no token",
        arguments: ["", "5CFd2fd1", "5CFd2fd1755d40ecb72977518be15d3g"])
    func certificate(_ certificate: String) {
        #expect(refusal(certificate: certificate) == .invalidParameter)
    }

    @Test(
        "an app id is 32 hexadecimal digits",
        arguments: ["", "dev", "970CA35de60c44645bbae8a215061b3z", "970CA35de60c44645bbae8a215061b3３"])
    func appID(_ appID: String) {
        #expect(refusal(appID: appID) == .invalidAppId)
    }

    @Test("a token has a service")
    func noService() {
        #expect(refusal(services: []) == .invalidParameter)
        #expect(refusal(services: [service]) == nil)
    }

    @Test("a token that no server would read is not made")
    func tooLong() throws {
        func services(_ bytes: Int) -> [TokenService] {
            [TokenService(.rtm(user: String(repeating: "x", count: bytes)), privileges: [1: 600])]
        }
        let most = try token(services: services(16_290)).signed(with: TokenVector.certificate)
        #expect(try SignedToken(most.text) == most)
        #expect(most.signedBytes.count + 34 == SignedToken.bytesMax)
        #expect(refusal(services: services(16_291)) == .invalidParameter)
        #expect(refusal(services: services(70_000)) == .invalidParameter)
    }

    private func token(
        appID: String = TokenVector.appID, services: [TokenService]
    ) -> AccessToken {
        AccessToken(appID: appID, issuedAt: 1, lifetimeSeconds: 600, services: services)
    }

    private func refusal(
        appID: String = TokenVector.appID, certificate: String = TokenVector.certificate,
        services: [TokenService]? = nil
    ) -> ErrorCode? {
        do throws(RTMError) {
            _ = try token(appID: appID, services: services ?? [service]).signed(with: certificate)
            return nil
        } catch {
            return error.code
        }
    }
}
