import Foundation
import HTTPTypes
import Hummingbird
import RTMAccessToken
import RTMModel
import RTMServiceKit
import Synchronization

/// Finds out who calls: the holder of an API key, in `Authorization: Bearer`, in `X-API-Key` or as the password
/// of `Authorization: Basic`, or a user with a token of the app, in `Authorization: agora token=` (W-1).
final class Authentication: Sendable {
    let keys: KeyRing
    private let apps: Mutex<[String: AppRecord]>

    init(_ keys: KeyRing, apps: [AppRecord]) {
        self.keys = keys
        self.apps = Mutex(Self.table(apps))
    }

    func take(_ apps: [AppRecord]) { self.apps.withLock { $0 = Self.table(apps) } }

    private static func table(_ apps: [AppRecord]) -> [String: AppRecord] {
        Dictionary(apps.map { ($0.id, $0) }) { first, _ in first }
    }

    /// - Throws: 401 if nobody is recognised, 403 if the key is for another app, 404 for an app that isn't here.
    func client(of request: Request, app: String, now: Date) throws(APIError) -> APIClient {
        let client =
            if let token = Self.token(in: request.headers) {
                try user(of: token, request.headers, app, now: now)
            } else {
                try holder(of: key(in: request.headers, now: now), app)
            }
        guard apps.withLock({ $0[app] != nil }) else {
            throw APIError(RTMError(.invalidAppId, "there is no app \"\(app)\" here"))
        }
        return client
    }

    /// The key that the request carries.
    func key(in headers: HTTPFields, now: Date) throws(APIError) -> APIKeyRecord {
        guard let text = Self.keyText(in: headers) else {
            throw APIError(
                .unauthorized, "missingKey",
                "send an API key: Authorization: Bearer rtmk_… (\"rtm-gateway key\" makes one)")
        }
        guard let key = APIKey(text), let record = keys.admit(key, now: now) else {
            throw APIError(.unauthorized, "unknownKey", "the API key is unknown, revoked or expired")
        }
        return record
    }

    private func holder(of record: APIKeyRecord, _ app: String) throws(APIError) -> APIClient {
        guard record.app == "*" || record.app == app else {
            throw APIError(.forbidden, "anotherApp", "the key is for the app \"\(record.app)\"")
        }
        return APIClient(
            scopes: record.scopes, app: app, name: "key \(record.id)", channels: record.channels, user: nil)
    }

    private func user(
        of token: String, _ headers: HTTPFields, _ app: String, now: Date
    ) throws(APIError) -> APIClient {
        guard let user = headers[.agoraUser], (try? NameRule.user.check(user.utf8)) != nil else {
            throw APIError(.unauthorized, "missingUser", "a token needs the header x-agora-uid with its user")
        }
        guard let record = apps.withLock({ $0[app] }), let certificate = record.certificate else {
            throw APIError(.unauthorized, "noCertificate", "the app has no certificate, so it has no tokens")
        }
        do throws(RTMError) {
            let verifier = TokenVerifier(appID: app, certificate: certificate.revealed)
            let grant = try verifier.verify(
                token, userID: user, nowMilliseconds: UInt64(now.timeIntervalSince1970 * 1_000))
            // What a token restricts is enforced by edges, per channel; here such a token isn't enough.
            guard grant.permissions.isEmpty else {
                throw RTMError(.loginNotAuthorized, "a token with permissions is not accepted over HTTP")
            }
        } catch {
            throw APIError(error)
        }
        return APIClient(
            scopes: [.read, .publish], app: app, name: "user \(user)", channels: nil, user: user)
    }

    private static func token(in headers: HTTPFields) -> String? {
        guard let value = headers[.authorization], value.lowercased().hasPrefix("agora token=") else {
            return headers[.agoraToken]
        }
        return String(value.dropFirst("agora token=".count))
    }

    private static func keyText(in headers: HTTPFields) -> String? {
        if let key = headers[.apiKey] { return key }
        guard let value = headers[.authorization] else { return nil }
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        switch words[0].lowercased() {
        case "bearer": return String(words[1])
        case "basic":
            let pair = Data(base64Encoded: String(words[1])).map { String(decoding: $0, as: UTF8.self) }
            return pair?.split(separator: ":", maxSplits: 1).last.map(String.init)
        default: return nil
        }
    }
}

extension HTTPField.Name {
    static let apiKey = Self("X-API-Key")!
    static let agoraToken = Self("x-agora-token")!
    static let agoraUser = Self("x-agora-uid")!
    static let idempotencyKey = Self("Idempotency-Key")!
}
