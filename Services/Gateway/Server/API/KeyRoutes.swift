import Foundation
import Hummingbird
import RTMCredentials
import RTMModel

/// What keys may do. Nobody learns a secret here: the gateway has only their hashes.
struct KeyRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.get("keys/self", use: own)
        group.get("keys", use: all)
    }

    struct Key: Encodable, Sendable {
        let id: String
        let app: String
        let scopes: [String]
        var channels: String?
        var expires: Date?
        /// When this gateway last saw the key before this request; absent if it never did.
        var lastUse: Date?

        init(_ record: APIKeyRecord, lastUse: Date?) {
            (id, app) = (record.id, record.app)
            scopes = record.scopes.sorted().map(\.rawValue)
            (channels, expires) = (record.channels, record.expires)
            self.lastUse = lastUse
        }
    }

    struct Keys: Encodable, Sendable { let keys: [Key] }

    @Sendable func own(_ request: Request, _ context: GatewayContext) throws -> Response {
        let record = try api.admitHolder(api.authentication.credentials(of: request), context)
        _ = try request.query([])
        // The last use is this one, which is no news.
        return Response(json: Key(record, lastUse: api.authentication.keys.use(of: record.id)?.before))
    }

    /// Those of the caller's app.
    @Sendable func all(_ request: Request, _ context: GatewayContext) throws -> Response {
        let record = try api.admitHolder(api.authentication.credentials(of: request), context)
        _ = try request.query([])
        guard record.scopes.contains(.admin) else { throw APIError.missing(.admin) }
        guard record.channels == nil else { throw APIError.installationOutOfReach }
        let keys = api.authentication.keys.uses.filter { record.app == "*" || $0.record.app == record.app }
        return Response(json: Keys(keys: keys.map { Key($0.record, lastUse: $0.use?.last) }))
    }
}

extension APIError {
    /// For a key that is only for channels whose names begin so.
    static let installationOutOfReach = APIError(
        .forbidden, "channelOutOfReach", "a key for some channels reaches neither keys nor the installation")
}
