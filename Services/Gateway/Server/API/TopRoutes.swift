import Hummingbird
import RTMCredentials
import RTMModel
import RTMServiceKit
import RTMWire

/// What is slow and loud in an app: the largest queues, the busiest channels, the loudest publishers, and the
/// users of whom most is refused (W-79). Edges look for it when they are asked, and at no other time.
struct TopRoutes: Sendable {
    let api: GatewayAPI

    /// Limit: rows of each list.
    static let limitMax = 100
    /// Limits: how long edges watch. They have two seconds for the answer.
    static let times = Duration.milliseconds(100)...Duration.seconds(1)

    func add(to group: RouterGroup<GatewayContext>) { group.get("top", use: top) }

    private struct Answer: Encodable, Sendable {
        let report: TopReport
        /// How many event loops of edges were asked, and how many have measured in time.
        let edges: ListRoutes.Edges
        private enum CodingKeys: String, CodingKey { case edges }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(edges, forKey: .edges)
        }
    }

    /// `?limit=20&for=1s`
    @Sendable func top(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitForUsers(context, .admin)
        let query = try request.query(["limit", "for"])
        let limit = try query.number("limit", default: 20)
        guard 1...Self.limitMax ~= limit else {
            throw APIError(.badRequest, "invalidQuery", "\"limit\" is from 1 to \(Self.limitMax)")
        }
        let time = try Self.time(query["for"] ?? "1s")
        let reports = try await api.backend.askEdges(
            EdgeQuery(appID: client.app, top: EdgeTop(limit: UInt32(limit), measure: time)))
        guard !reports.tops.contains(where: \.isBusy) else {
            throw APIError(
                .serviceUnavailable, "busy",
                "another app is measured at present; an edge measures one at a time",
                retryAfter: Self.times.upperBound)
        }
        return Response(
            json: Answer(
                report: TopReport(reports.tops, limit: limit),
                edges: ListRoutes.Edges(asked: reports.asked, answered: reports.tops.count)))
    }

    static func time(_ text: String) throws(APIError) -> Duration {
        guard let time = try? UnitText.duration(text), times.contains(time) else {
            throw APIError(.badRequest, "invalidQuery", "\"for\" is a time from 100ms to 1s")
        }
        return time
    }
}
