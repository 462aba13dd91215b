import Hummingbird
import Logging
import RTMModel
import RTMWire

/// Ends sessions and shuts users out. Every edge acts within a second, and the log has a line for each.
struct ModerationRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.post("users/:user/kick", use: kick)
        group.post("users/:user/ban", use: ban)
        group.post("users/:user/unban", use: unban)
        group.get("bans", use: bans)
    }

    struct Reason: APIBody {
        /// One sentence for the user.
        var reason: String?
        enum CodingKeys: String, CodingKey, CaseIterable { case reason }
    }

    struct Term: APIBody {
        var seconds: UInt64
        var reason: String?
        enum CodingKeys: String, CodingKey, CaseIterable { case seconds, reason }
    }

    struct Outcome: Encodable, Sendable {
        /// How many sessions of the user were ended.
        let sessions: UInt32
        /// How many event loops of edges were asked, and how many have answered in time.
        let asked: UInt32
        let answered: UInt32
        /// Until when the user is shut out; absent if the user is not.
        var until: UInt64?
        /// Until when the user was shut out before; absent if the user wasn't.
        var untilBefore: UInt64?
        /// Whether the effect survives a restart of everything. Sessions that were ended stay ended either
        /// way.
        let isDurable: Bool
    }

    struct Bans: Encodable, Sendable {
        struct Ban: Encodable, Sendable {
            let user: String
            let since: UInt64
            let until: UInt64
            let reason: String
            let by: String
        }
        let bans: [Ban]
        /// The `after` of the next request; absent on the last page.
        var nextAfter: String?
    }

    @Sendable func kick(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let body = try await request.body(Reason.self, upTo: api.bodyBytesMax)
        return try await carryOut(context, client, until: 0, body.reason, endsSession: true)
    }

    @Sendable func ban(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let body = try await request.body(Term.self, upTo: api.bodyBytesMax)
        guard body.seconds > 0, body.seconds <= 100 * 365 * 86_400 else {
            throw APIError(.badRequest, "invalidBody", "\"seconds\" is from 1 to a hundred years")
        }
        let until = WallClock.milliseconds() + body.seconds * 1_000
        return try await carryOut(context, client, until: until, body.reason, endsSession: true)
    }

    @Sendable func unban(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let body = try await request.body(Reason.self, upTo: api.bodyBytesMax)
        return try await carryOut(context, client, until: 0, body.reason, endsSession: false)
    }

    /// A key for some channels has no power over users, who are in other channels, too.
    private func admit(_ context: GatewayContext) throws -> APIClient {
        let client = try api.admit(context, .moderate)
        guard client.channels == nil else {
            throw APIError(.forbidden, "channelOutOfReach", "a key for some channels can't moderate users")
        }
        return client
    }

    private func carryOut(
        _ context: GatewayContext, _ client: APIClient, until: UInt64, _ reason: String?, endsSession: Bool
    ) async throws -> Response {
        let user = try context.parameter("user")
        try NameRule.user.check(user.utf8)
        let ban = Ban(
            appID: client.app, userID: user, untilMilliseconds: until, reason: reason ?? "",
            endsSession: endsSession, sinceMilliseconds: until == 0 ? 0 : WallClock.milliseconds(),
            by: client.name)
        let outcome = try await api.backend.ban(ban)
        return Response(
            json: Outcome(
                sessions: outcome.sessions, asked: outcome.asked, answered: outcome.answered,
                until: until == 0 ? nil : until, untilBefore: outcome.before?.untilMilliseconds,
                isDurable: until != 0 || !endsSession))
    }

    /// `?after=USER`
    @Sendable func bans(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let query = try request.query(["after"])
        let place = BansRequest(afterApp: client.app, afterUser: query["after"] ?? "")
        let page = try await api.backend.bans(place)
        let own = page.bans.filter { $0.appID == client.app }
        let bans = own.map {
            Bans.Ban(
                user: $0.userID, since: $0.sinceMilliseconds, until: $0.untilMilliseconds, reason: $0.reason,
                by: $0.by)
        }
        let hasMore = page.hasMore && page.bans.last?.appID == client.app
        return Response(json: Bans(bans: bans, nextAfter: hasMore ? own.last?.userID : nil))
    }
}
