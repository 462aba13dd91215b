import Foundation
import HTTPTypes
import RTMAppConfiguration
import RTMConfigurationFile
import RTMCredentials
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAccessToken
@testable import RTMGatewayServer

@Suite("W-1: who calls with a token of the app")
struct AuthenticationTests {
    private static let end: UInt64 = 1_700_000_000

    /// An app with both kinds of tokens, one that has no tokens, and one that is switched off.
    private func apps(keys: String = SampleJWT.secretJWK, lifeMax: String = "0s") throws -> [ConfiguredApp] {
        let file = """
            tokens: {lifeMax: \(lifeMax)}
            apps:
              - id: \(SampleApp.id)
                certificate: \(SampleApp.certificate)
                jwtKeys: KEYS
                jwtIssuer: "\(SampleJWT.issuer)"
              - {id: open}
              - {id: Kiosk}
              - {id: off, jwtKeys: KEYS, jwtAudience: \(SampleApp.id), service: none}
            """
        let schema = ConfigurationSchema(ConfiguredApp.keys, section: "gateway")
        let loader = ConfigurationLoader(schema: schema, parse: FileNode.yaml) { _ in file }
        let configuration = try loader.load(arguments: ["--config", "f"], environment: [:])
        return try ConfiguredApp.all(in: configuration) { _ in keys }
    }

    private func jwt(
        for user: String = "anna", _ key: JWTSigningKey? = nil,
        _ change: (inout JWTClaims) -> Void = { _ in }
    ) throws -> String {
        var claims = SampleJWT.claims(for: user, endsAt: Self.end)
        change(&claims)
        return try claims.signed(with: key ?? SampleJWT.signing(.hs256))
    }

    private func authentication(_ apps: [ConfiguredApp], _ bans: GatewayBans = GatewayBans())
        -> Authentication
    {
        Authentication(KeyRing([]), bans, apps)
    }

    /// - Parameter secondsLeft: how long it is to the end of the tokens.
    private func client(
        _ authentication: Authentication, _ token: String, as user: String = "anna",
        in app: String = SampleApp.id, secondsLeft: Int = 1
    ) throws(APIError) -> APIClient {
        try authentication.client(
            of: [.authorization: "agora token=\(token)", .agoraUser: user], app: app,
            now: Date(timeIntervalSince1970: TimeInterval(Int(Self.end) - secondsLeft)))
    }

    private func refusal(
        _ authentication: Authentication, _ token: String, as user: String = "anna",
        in app: String = SampleApp.id, secondsLeft: Int = 1
    ) -> APIError? {
        do throws(APIError) {
            _ = try client(authentication, token, as: user, in: app, secondsLeft: secondsLeft)
            return nil
        } catch {
            return error
        }
    }

    @Test("no other spelling of an app's id is an app")
    func spelling() throws {
        let key = APIKey.random()
        let keys = ["*", "Kiosk"].map { app in
            KeyRing([APIKeyRecord(id: key.id, hash: key.hash, app: app, scopes: [.admin])])
        }
        for ring in keys {
            let authentication = Authentication(ring, GatewayBans(), try apps())
            func status(_ app: String) throws -> Int {
                do throws(APIError) {
                    _ = try authentication.client(
                        of: [.apiKey: key.text], app: app, now: Date(timeIntervalSince1970: 0))
                    return 200
                } catch { return error.status.code }
            }
            #expect(try status("Kiosk") == 200)
            // Swift takes the Kelvin sign for a K.
            #expect(try [403, 404].contains(status("\u{212A}iosk")))
            #expect(authentication.record(of: "\u{212A}iosk") == nil)
        }
    }

    @Test("A-17: a token 007 and a JWT let in their user alone, until they end")
    func accepted() throws {
        let authentication = authentication(try apps())
        for token in [try jwt(), try SampleApp.token(for: "anna", endsAt: Self.end)] {
            let client = try client(authentication, token)
            #expect(client.user == "anna" && client.scopes == [.read, .publish] && client.channels == nil)
            let another = refusal(authentication, token, as: "bert")
            #expect(another?.status == .unauthorized && another?.body.name == "invalidToken")
            let late = refusal(authentication, token, secondsLeft: 0)
            #expect(late?.status == .unauthorized && late?.body.name == "tokenExpired")
        }
    }

    @Test("A-19: what is refused at a login is refused here, with the same code")
    func refused() throws {
        let authentication = authentication(try apps())
        let header = Data(#"{"alg":"none"}"#.utf8).base64EncodedString().replacing("=", with: "")
        let cases: [(String, ErrorCode, Int)] = [
            (try jwt { $0.issuer = "https://else" }, .invalidToken, 401),
            (try jwt { $0.audience = ["other"] }, .loginInconsistentAppId, 401),
            (try jwt { $0.beginsAt = Self.end * 2000 }, .invalidToken, 401),
            (try jwt { $0.expiresAt = nil }, .invalidToken, 401),
            (try jwt { $0.subject = nil }, .loginNotAuthorized, 403),
            (try jwt { $0.permissions = .channels(read: ["a"], write: []) }, .loginNotAuthorized, 403),
            (try jwt(SampleJWT.signing(.es256)), .invalidToken, 401),
            ("\(header).\(try jwt().split(separator: ".")[1]).", .invalidToken, 401),
            (
                try SampleApp.token(
                    for: "anna", endsAt: Self.end, permissions: .channels(read: ["a"], write: [])),
                .loginNotAuthorized, 403
            ),
        ]
        for (token, code, status) in cases {
            let error = refusal(authentication, token)
            #expect(error?.body.code == code.rawValue && error?.status.code == status, "\(token)")
        }
        #expect(refusal(authentication, try jwt { $0.joins = ["stage"] }) == nil)
    }

    @Test("an app without tokens takes none, and one that is switched off lets nobody in (S-4)")
    func otherApps() throws {
        let authentication = authentication(try apps())
        for token in ["", "open", try jwt()] {
            let error = refusal(authentication, token, in: "open")
            #expect(error?.status == .unauthorized, "\(token)")
        }
        #expect(refusal(authentication, try jwt(), in: "open")?.body.name == "noTokens")
        let off = refusal(authentication, try jwt(), in: "off")
        #expect(off?.status == .forbidden && off?.body.name == "loginNotAuthorized")
    }

    @Test("L-50: a token lives no longer than the operator lets tokens live, whatever its kind")
    func lifeMax() throws {
        let authentication = authentication(try apps(lifeMax: "60s"))
        // They are issued 600 seconds before their end.
        for token in [try jwt(), try SampleApp.token(for: "anna", endsAt: Self.end)] {
            #expect(refusal(authentication, token, secondsLeft: 541) == nil)
            #expect(refusal(authentication, token, secondsLeft: 540)?.body.name == "tokenExpired")
        }
    }

    @Test("A-18: with other keys the next request is checked with them")
    func rotation() throws {
        let authentication = authentication(try apps())
        let next = try jwt(SampleJWT.signing(.es256))
        #expect(refusal(authentication, try jwt()) == nil)
        #expect(refusal(authentication, next) != nil)
        authentication.take(try apps(keys: SampleJWT.curveJWK))
        #expect(refusal(authentication, try jwt()) != nil)
        #expect(refusal(authentication, next) == nil)
    }

    @Test("a file of keys that can't be used keeps a gateway from starting, as it does an edge")
    func unusable() throws {
        let definition = GatewayDefinition.service
        func load(_ record: String) throws(ConfigurationError) -> Configuration {
            let schema = ConfigurationSchema(definition.keys, section: "gateway")
            return try ConfigurationLoader(schema: schema, rules: definition.rules, parse: FileNode.yaml) {
                _ in "apps: [{id: a, \(record)}]"
            }.load(arguments: ["--config", "f"], environment: [:])
        }
        let configuration = try load("jwtKeys: KEYS")
        let problem = definition.check(configuration) { _ in SampleJWT.weakJWK }
        #expect(problem?.description.contains("the file KEYS can't be used") == true)
        #expect(definition.check(configuration) { _ in SampleJWT.rsaJWK } == nil)
        #expect(throws: ConfigurationError.self) { try load("jwtIssuer: i") }
    }
}
