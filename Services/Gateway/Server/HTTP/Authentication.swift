import Foundation
import HTTPTypes
import Hummingbird
import RTMAccessToken
import RTMAppConfiguration
import RTMCredentials
import RTMModel
import RTMServiceKit
import Synchronization

/// Finds out who calls: the holder of an API key, in `Authorization: Bearer`, in `X-API-Key` or as the
/// password of `Authorization: Basic`, or a user with a token of the app, in `Authorization: agora token=` or
/// in `x-agora-token`, and with a JWT also in `Authorization: Bearer` (W-1).
final class Authentication: Sendable {
    let keys: KeyRing
    private let bans: GatewayBans
    private let configured: Mutex<[String: ConfiguredApp]>
    /// Encrypts the sessions of the console.
    let seal: ConsoleSession.Seal
    /// Where holders of keys wait for events.
    let places: EventPlaces

    /// - Parameter secret: what gateways share; nil for nothing.
    init(
        _ keys: KeyRing, _ bans: GatewayBans, _ apps: [ConfiguredApp],
        places: EventPlaces = EventPlaces(countMax: .max), secret: String? = nil
    ) {
        self.keys = keys
        self.places = places
        seal = ConsoleSession.Seal(secret)
        self.bans = bans
        configured = Mutex(Self.table(apps))
    }

    /// The configuration has other apps now.
    func take(_ apps: [ConfiguredApp]) { configured.withLock { $0 = Self.table(apps) } }

    /// The ids of all apps, in order.
    var apps: [String] { configured.withLock { $0.keys.sorted() } }

    /// Nil for an app that isn't here.
    func record(of app: String) -> AppRecord? { configuredApp(app)?.record }

    /// Ids are compared byte by byte: `==` takes the Kelvin sign for a K, and so would make a second app of
    /// one.
    private func configuredApp(_ id: String) -> ConfiguredApp? {
        configured.withLock { $0[id] }.flatMap { $0.record.id.utf8.elementsEqual(id.utf8) ? $0 : nil }
    }

    private static func table(_ apps: [ConfiguredApp]) -> [String: ConfiguredApp] {
        Dictionary(apps.map { ($0.record.id, $0) }) { _, last in last }
    }

    /// - Throws: 401 if nobody is recognised, 403 if the key is for another app, 404 for an app that isn't
    ///   here.
    func client(of headers: HTTPFields, app: String, now: Date) throws(APIError) -> APIClient {
        let client =
            switch try Credentials(headers) {
            case .token(let token): try user(of: token, headers, app, now: now)
            case .key(let text): try holder(of: key(text, now: now), app)
            }
        guard configuredApp(app) != nil else {
            throw APIError(RTMError(.invalidAppId, "there is no app \"\(app.cut())\" here"))
        }
        return client
    }

    /// Until when a user is banned, in milliseconds; nil if the user isn't.
    func bannedUntil(_ user: String, of app: String) -> UInt64? {
        bans.until(user, of: app, nowMilliseconds: WallClock.milliseconds())
    }

    /// The key that the request carries.
    func key(in headers: HTTPFields, now: Date) throws(APIError) -> APIKeyRecord {
        guard case .key(let text) = try Credentials(headers) else { throw Credentials.missing }
        return try key(text, now: now)
    }

    private func key(_ text: String, now: Date) throws(APIError) -> APIKeyRecord {
        guard let key = APIKey(text), let record = keys.admit(key, now: now) else {
            throw Credentials.unknown
        }
        return record
    }

    private func holder(of record: APIKeyRecord, _ app: String) throws(APIError) -> APIClient {
        guard record.app == "*" || record.app.utf8.elementsEqual(app.utf8) else {
            throw APIError(.forbidden, "anotherApp", "the key is for the app \"\(record.app)\"")
        }
        return APIClient(record, app: app)
    }

    private func user(
        of token: String, _ headers: HTTPFields, _ appID: String, now: Date
    ) throws(APIError) -> APIClient {
        guard let user = headers[.agoraUser], (try? NameRule.user.check(user.utf8)) != nil else {
            throw APIError(.unauthorized, "missingUser", "a token needs the header x-agora-uid with its user")
        }
        guard let app = configuredApp(appID), let tokens = app.tokens else {
            throw APIError(
                .unauthorized, "noTokens", "the app has neither a certificate nor keys of JWTs, so no tokens")
        }
        let rights: UserRights
        do throws(RTMError) {
            guard app.record.service != AppService.none else {
                throw RTMError(.loginNotAuthorized, "the service is switched off for app \"\(appID)\"")
            }
            let grant = try tokens.verify(
                token, userID: user, nowMilliseconds: UInt64(now.timeIntervalSince1970 * 1_000))
            // What a token restricts is enforced by edges, per channel; here such a token isn't enough.
            guard grant.permissions.isEmpty else {
                throw RTMError(.loginNotAuthorized, "a token with permissions is not accepted over HTTP")
            }
            try bans.check(
                user, of: appID, issuedAtSeconds: grant.issuedAtSeconds,
                nowMilliseconds: WallClock.milliseconds())
            rights = UserRights(userID: user, grant: grant, policies: app.policies)
        } catch {
            throw APIError(error)
        }
        return APIClient(rights, app: appID)
    }
}

/// What a request says about who calls. One way to say it is enough: of two, a proxy and the gateway might
/// believe different ones.
enum Credentials: Equatable {
    case key(String)
    case token(String)

    static let unknown = APIError(
        .unauthorized, "unknownKey", "the API key is unknown, revoked or expired")

    static let missing = APIError(
        .unauthorized, "missingKey",
        "send an API key: Authorization: Bearer rtmk_… (\"rtm key create\" makes one)")

    private static let fields = [HTTPField.Name.authorization, .apiKey, .agoraToken]

    /// Whether the request says in any way who calls.
    static func areIn(_ headers: HTTPFields) -> Bool { fields.contains { headers.contains($0) } }

    init(_ headers: HTTPFields) throws(APIError) {
        var named: HTTPField?
        for field in headers where Self.fields.contains(field.name) {
            guard named == nil else {
                throw APIError(
                    .unauthorized, "ambiguousCredentials",
                    "send one of Authorization, X-API-Key and x-agora-token, and that once")
            }
            named = field
        }
        guard let field = named else { throw Self.missing }
        switch field.name {
        case .apiKey: self = .key(field.value)
        case .agoraToken: self = .token(field.value)
        default: try self.init(authorization: field.value)
        }
    }

    private init(authorization value: String) throws(APIError) {
        // One space or several (RFC 9110, 11.4).
        let words = value.utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
        guard words.count == 2 else { throw Self.missing }
        switch words[0].lowercased() {
        case "bearer":
            // Keys have no dots.
            let text = String(words[1])
            self = SignedJWT.isOne(text) ? .token(text) : .key(text)
        case "basic":
            guard let pair = Data(base64Encoded: String(words[1])),
                let text = String(data: pair, encoding: .utf8),
                let password = text.split(separator: ":", maxSplits: 1).last
            else { throw Self.missing }
            self = .key(String(password))
        case "agora" where words[1].hasPrefix("token="):
            self = .token(String(words[1].dropFirst("token=".count)))
        default: throw Self.missing
        }
    }
}

extension HTTPField.Name {
    static let apiKey = Self("X-API-Key")!
    static let agoraToken = Self("x-agora-token")!
    static let agoraUser = Self("x-agora-uid")!
    static let idempotencyKey = Self("Idempotency-Key")!
}
