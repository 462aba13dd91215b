import Hummingbird
import RTMCredentials
import RTMModel
import RTMWire

/// What holders of keys have changed in an app, or tried to change (W-31).
struct AuditRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) { group.get("audit", use: audit) }

    struct Page: Encodable, Sendable {
        struct Line: Encodable, Sendable {
            let time: UInt64
            let by: String
            let address: String
            let what: String
            let whom: String
            let outcome: String
            /// Lines of this key and kind before it that were left out, because they were too many.
            var omitted: UInt64?
        }
        /// The newest first.
        let audit: [Line]
        /// The `after` of the next request; absent on the last page.
        var nextAfter: UInt64?
    }

    /// `?after=NUMBER&limit=`
    @Sendable func audit(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitForUsers(context, .admin)
        let query = try request.query(["after", "limit"])
        let page = try await api.backend.ask(
            StorageMethod.audit,
            AuditRequest(
                appID: client.app, before: query.number("after", default: 0), limit: ListQuery(query).limit))
        let lines = page.lines.map {
            Page.Line(
                time: $0.timeMilliseconds, by: $0.by, address: $0.address, what: $0.what, whom: $0.whom,
                outcome: $0.outcome, omitted: $0.omitted == 0 ? nil : $0.omitted)
        }
        return Response(json: Page(audit: lines, nextAfter: page.hasMore ? page.lines.last?.number : nil))
    }
}
