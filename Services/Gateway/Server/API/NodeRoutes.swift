import Hummingbird
import RTMCredentials
import RTMModel
import RTMServiceKit

/// How the installation is, for the operator: all of it is about all apps, so it needs a key for all of them
/// (`*`) with the scope admin (W-78).
struct NodeRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.get("nodes", use: nodes)
        group.get("incidents", use: incidents)
        group.get("configuration", use: configuration)
    }

    struct Nodes: Encodable, Sendable { let nodes: [NodeRow] }
    struct Incidents: Encodable, Sendable { let incidents: [IncidentRow] }
    struct Settings: Encodable, Sendable { let settings: [SettingRow] }

    @Sendable func nodes(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try admit(request, context)
        _ = try request.query([])
        return Response(json: Nodes(nodes: await api.nodes.all().map(NodeRow.init)))
    }

    /// `?limit=`
    @Sendable func incidents(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try admit(request, context)
        let limit = try ListQuery(request.query(["limit"])).limit
        return Response(
            json: Incidents(incidents: IncidentRow.newest(Int(limit), of: await api.nodes.all())))
    }

    /// `?prefix=&changed=true`
    @Sendable func configuration(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try admit(request, context)
        let query = try request.query(["prefix", "changed"])
        let onlyChanged = try query.flag("changed")
        return Response(
            json: Settings(
                settings: SettingRow.all(
                    of: await api.nodes.all(), prefix: query["prefix"] ?? "", onlyChanged: onlyChanged)))
    }

    private func admit(_ request: Request, _ context: GatewayContext) throws {
        let record = try api.admitHolder(api.authentication.credentials(of: request), context)
        guard record.scopes.contains(.admin) else { throw APIError.missing(.admin) }
        guard record.channels == nil else { throw APIError.installationOutOfReach }
        guard record.app == "*" else {
            throw APIError(
                .forbidden, "operatorNeeded",
                "this is about all apps, and the key is for the app \"\(record.app)\" alone")
        }
    }
}
