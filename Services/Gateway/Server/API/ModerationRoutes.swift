import Hummingbird
import Logging
import RTMAccessToken
import RTMCredentials
import RTMModel
import RTMStorageClient
import RTMWire

/// Ends sessions and shuts users out. Every edge acts within a second, and the log has a line for each.
struct ModerationRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.post("users/:user/kick", use: kick)
        group.post("users/:user/ban", use: ban)
        group.post("users/:user/unban", use: unban)
        group.post("users/:user/revoke-tokens", use: revokeTokens)
        group.get("bans", use: bans)
    }

    struct Reason: APIBody {
        /// One sentence for the user.
        var reason: String?
        enum CodingKeys: String, CodingKey, CaseIterable { case reason }
    }

    struct Term: APIBody {
        /// For how long; or for ever, which somebody who forgets the time must not get.
        var seconds: UInt64?
        var forever: Bool?
        var reason: String?
        enum CodingKeys: String, CodingKey, CaseIterable { case seconds, forever, reason }

        fileprivate func until(now: UInt64) throws(APIError) -> UInt64 {
            switch (seconds, forever ?? false) {
            case (nil, true): return BanTable.forever
            case (let seconds?, false): return now + (try ModerationRoutes.term(seconds)) * 1_000
            default:
                throw APIError(
                    .badRequest, "invalidBody", "a ban has either \"seconds\" or \"forever\", which is true")
            }
        }
    }

    struct TokenRevocation: APIBody {
        /// Tokens that were issued earlier are refused, in milliseconds since 1970. Absent: now. The clock of
        /// an issuer may be ahead, and so may this time.
        var issuedBefore: UInt64?
        /// For how long that is kept: longer than those tokens would live.
        var seconds: UInt64?
        var reason: String?
        enum CodingKeys: String, CodingKey, CaseIterable { case issuedBefore, seconds, reason }
    }

    struct Outcome: Encodable, Sendable {
        /// How many sessions of the user were ended.
        let sessions: UInt32
        /// How many event loops of edges were asked, and how many have answered in time.
        let asked: UInt32
        let answered: UInt32
        /// Until when the user is shut out, or the revocation is kept; absent if there is neither.
        var until: UInt64?
        /// True if the user is shut out for ever. `until` is the end of the year 9999 then.
        var forever: Bool?
        /// The same of what held before.
        var untilBefore: UInt64?
        /// Only tokens that were issued earlier are refused.
        var issuedBefore: UInt64?
        /// Whether the effect survives a restart of everything. Sessions that were ended stay ended either
        /// way.
        let isDurable: Bool
    }

    struct Bans: Encodable, Sendable {
        struct Ban: Encodable, Sendable {
            let user: String
            let since: UInt64
            let until: UInt64
            /// True if it has no end. `until` is the end of the year 9999 then.
            var forever: Bool?
            let reason: String
            let by: String
        }
        let bans: [Ban]
        /// The `after` of the next request; absent on the last page.
        var nextAfter: String?
    }

    @Sendable func kick(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let body = try await api.body(Reason.self, of: request, by: client)
        return try await carryOut(context, client, until: 0, body.reason, endsSession: true)
    }

    @Sendable func ban(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let body = try await api.body(Term.self, of: request, by: client)
        let until = try body.until(now: WallClock.milliseconds())
        return try await carryOut(context, client, until: until, body.reason, endsSession: true)
    }

    @Sendable func unban(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let body = try await api.body(Reason.self, of: request, by: client)
        return try await carryOut(context, client, until: 0, body.reason, endsSession: false)
    }

    /// A year, if nothing is said.
    private static let revocationSeconds: UInt64 = 365 * 86_400

    @Sendable func revokeTokens(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let body = try await api.body(TokenRevocation.self, of: request, by: client)
        let now = WallClock.milliseconds()
        let before = body.issuedBefore ?? now
        let ahead = TokenTimes.aheadSecondsMax
        guard 1...(now + ahead * 1_000) ~= before else {
            throw APIError(
                .badRequest, "invalidBody",
                "\"issuedBefore\" is a time that is past, or at most \(ahead) s ahead")
        }
        let seconds = try Self.term(body.seconds ?? Self.revocationSeconds)
        return try await carryOut(
            context, client, until: now + seconds * 1_000, body.reason, endsSession: true,
            // Tokens know seconds: one of the same second counts as earlier.
            tokensBefore: (before + 999) / 1_000)
    }

    fileprivate static func term(_ seconds: UInt64) throws(APIError) -> UInt64 {
        guard seconds > 0, seconds <= 100 * 365 * 86_400 else {
            throw APIError(.badRequest, "invalidBody", "\"seconds\" is from 1 to a hundred years")
        }
        return seconds
    }

    private func admit(_ context: GatewayContext) throws -> APIClient {
        try api.admitForUsers(context, .moderate)
    }

    private func carryOut(
        _ context: GatewayContext, _ client: APIClient, until: UInt64, _ reason: String?, endsSession: Bool,
        tokensBefore: UInt64 = 0
    ) async throws -> Response {
        let user = try context.parameter("user")
        try NameRule.user.check(user.utf8)
        let ban = Ban(
            appID: client.app, userID: user, untilMilliseconds: until, reason: reason ?? "",
            endsSession: endsSession, sinceMilliseconds: until == 0 ? 0 : WallClock.milliseconds(),
            by: client.name, tokensBeforeSeconds: tokensBefore)
        let outcome = try await api.backend.ask(StorageMethod.ban, ban)
        return Response(
            json: Outcome(
                sessions: outcome.sessions, asked: outcome.asked, answered: outcome.answered,
                until: until == 0 ? nil : until, forever: until.isForever,
                untilBefore: outcome.before?.untilMilliseconds,
                issuedBefore: tokensBefore == 0 ? nil : tokensBefore * 1_000,
                isDurable: until != 0 || !endsSession))
    }

    /// `?after=USER`
    @Sendable func bans(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let query = try request.query(["after"])
        let after = query["after"] ?? ""
        if !after.isEmpty { try NameRule.user.check(after.utf8) }
        let place = BansRequest(afterApp: client.app, afterUser: after)
        let page = try await api.backend.bans(place)
        let own = page.bans.filter { $0.appID == client.app }
        let bans = own.map {
            Bans.Ban(
                user: $0.userID, since: $0.sinceMilliseconds, until: $0.untilMilliseconds,
                forever: $0.untilMilliseconds.isForever, reason: $0.reason, by: $0.by)
        }
        let hasMore = page.hasMore && page.bans.last?.appID == client.app
        return Response(json: Bans(bans: bans, nextAfter: hasMore ? own.last?.userID : nil))
    }
}

extension UInt64 {
    /// True for the end of a ban that has none; otherwise nil, which no answer shows.
    fileprivate var isForever: Bool? { self == BanTable.forever ? true : nil }
}
