import Foundation
import Hummingbird
import RTMModel

/// What the caller's key may do.
struct KeyRoutes: Sendable {
    let api: GatewayAPI

    struct Key: Encodable, Sendable {
        let id: String
        let app: String
        let scopes: [String]
        var channels: String?
        var expires: Date?
    }

    func own(_ request: Request) throws -> Response {
        let record = try api.authentication.key(in: request.headers, now: Date())
        let encodable = Key(
            id: record.id, app: record.app, scopes: record.scopes.sorted().map(\.rawValue),
            channels: record.channels, expires: record.expires)
        return Response(json: encodable)
    }
}
