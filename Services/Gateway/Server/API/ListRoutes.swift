import Foundation
import Hummingbird
import NIOCore
import RTMCredentials
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMWire
import SwiftProtobuf

/// What there is in an app: its channels, the users who are online, and their connections. Each list is
/// filtered and ordered where the rows come from, so a page costs what its rows cost (decision 0028).
struct ListRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.get("channels", use: channels)
        group.get("channels/:channel", use: channel)
        group.get("users", use: users)
        group.get("users/:user", use: user)
        group.get("connections", use: connections)
        group.get("usage", use: usage)
    }

    // MARK: Bodies

    /// How many event loops of edges were asked, and how many have answered in time. If they differ, rows
    /// are missing.
    struct Edges: Encodable, Sendable {
        let asked: Int
        let answered: Int

        init(asked: Int, answered: Int) { (self.asked, self.answered) = (asked, answered) }
        init(_ reports: EdgeReports) { (asked, answered) = (reports.asked, reports.answered) }
    }

    struct Channel: Encodable, Sendable {
        let channel: String
        /// The epoch of the channel's log.
        let epoch: UInt64
        /// The offset of the newest message; 0 if there never was one.
        let offset: UInt64
        /// When the newest entry came, events included; absent if the channel isn't in memory.
        var active: UInt64?
        /// Sessions that are subscribed.
        let subscribers: Int

        init(_ listed: ListedChannel, subscribers: Int) {
            channel = listed.name
            (epoch, offset) = (listed.newest.epoch, listed.newest.offset)
            active = listed.timestampMilliseconds == 0 ? nil : listed.timestampMilliseconds
            self.subscribers = subscribers
        }
    }

    struct Channels: Encodable, Sendable {
        let channels: [Channel]
        /// How many there are with the prefix.
        let total: UInt64
        /// The `cursor` of the next request; absent on the last page.
        var nextCursor: String?
        let edges: Edges
    }

    struct ChannelDetail: Encodable, Sendable {
        let channel: String
        let epoch: UInt64
        let offset: UInt64
        var active: UInt64?
        let subscribers: Int
        /// Users whom presence lists.
        let members: UInt64
        let edges: Edges
    }

    struct Users: Encodable, Sendable {
        struct User: Encodable, Sendable { let user: String }
        let users: [User]
        let total: UInt64
        var nextCursor: String?
    }

    struct Connection: Encodable, Sendable {
        let user: String
        /// A number of 64 bits, as a text.
        let session: String
        let address: String
        /// The name that the client gives its software.
        let client: String
        let since: UInt64
        /// What waits for the client to read it.
        let queuedBytes: UInt64
        /// How many channels it is subscribed to.
        let channels: UInt32

        init(_ session: EdgeSession) {
            (user, self.session) = (session.userID, "\(session.sessionID)")
            (address, client) = (session.address, session.client)
            (since, queuedBytes) = (session.sinceMilliseconds, session.queuedBytes)
            channels = session.channelCount
        }
    }

    struct Connections: Encodable, Sendable {
        let connections: [Connection]
        let total: UInt64
        var nextCursor: String?
        let edges: Edges
    }

    struct UserDetail: Encodable, Sendable {
        let user: String
        /// Whether a message to the user would be accepted (M-31).
        let online: Bool
        let connections: [Connection]
        /// Until when the user is banned; absent if the user isn't.
        var bannedUntil: UInt64?
        let edges: Edges
    }

    /// What an app has, and what its limits at this gateway leave.
    struct Usage: Encodable, Sendable {
        struct Rate: Encodable, Sendable {
            /// Requests a second; absent if there is no limit.
            var perSecond: Int?
            /// How many may come at once now.
            var left: Int?
        }
        let channels: UInt64
        let users: UInt64
        let connections: UInt64
        let key: Rate
        let app: Rate
        let edges: Edges
    }

    // MARK: Channels

    /// `?prefix=&type=&limit=&cursor=`
    @Sendable func channels(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitKey(context, .read)
        let query = try request.query(["prefix", "type", "limit", "cursor"])
        let type = try query.channelType
        let page = try ListQuery(query)
        guard let prefix = client.reach(of: page.prefix) else {
            throw APIError(
                .forbidden, "channelOutOfReach",
                "the key is only for channels whose names begin with \"\(client.channels ?? "")\"")
        }
        let list = try await api.backend.list(
            ListRequest(
                appID: client.app, type: type, prefix: prefix, after: page.after.name, limit: page.limit))
        let keys = list.channels.map { ChannelKey(appID: client.app, type: type, name: $0.name) }
        let reports = try await api.backend.askEdges(EdgeQuery(appID: client.app, channels: keys))
        let rows = list.channels.enumerated().map { index, listed in
            Channel(listed, subscribers: reports.count(index))
        }
        let next = list.hasMore ? list.channels.last.map { PageCursor(name: $0.name).text } : nil
        return Response(
            json: Channels(channels: rows, total: list.total, nextCursor: next, edges: Edges(reports)))
    }

    /// `?type=`
    @Sendable func channel(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let type = try request.query(["type"]).channelType
        let channel = ChannelKey(appID: client.app, type: type, name: try context.parameter("channel"))
        try client.check(channel)
        guard let listed = try await api.backend.listing(channel) else { throw RTMError.unexpectedAnswer }
        let reports = try await api.backend.askEdges(EdgeQuery(appID: client.app, channels: [channel]))
        let row = Channel(listed, subscribers: reports.count(0))
        return Response(
            json: ChannelDetail(
                channel: row.channel, epoch: row.epoch, offset: row.offset, active: row.active,
                subscribers: row.subscribers, members: try await members(of: channel, client),
                edges: Edges(reports)))
    }

    private func members(of channel: ChannelKey, _ client: APIClient) async throws -> UInt64 {
        let ask = Rtm_Client_WhoNow.with {
            $0.channelType = channel.wireType
            $0.channel = channel.name
        }
        guard
            case .onlineUsers(let answer) = try await api.backend.presence(.whoNow(ask), by: client)
        else { throw RTMError.unexpectedAnswer }
        return answer.total
    }

    // MARK: Users

    /// `?prefix=&limit=&cursor=`
    @Sendable func users(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitForUsers(context, .read)
        let page = try ListQuery(request.query(["prefix", "limit", "cursor"]))
        let list = try await api.backend.list(
            ListRequest(
                appID: client.app, type: .user, prefix: page.prefix, after: page.after.name, limit: page.limit
            ))
        let next = list.hasMore ? list.channels.last.map { PageCursor(name: $0.name).text } : nil
        return Response(
            json: Users(
                users: list.channels.map { Users.User(user: $0.name) }, total: list.total, nextCursor: next))
    }

    @Sendable func user(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitForUsers(context, .moderate)
        _ = try request.query([])
        let user = try context.parameter("user")
        let inbox = ChannelKey(appID: client.app, type: .user, name: user)
        try client.check(inbox)
        let isOnline = try await api.backend.listing(inbox) != nil
        let reports = try await api.backend.askEdges(
            EdgeQuery(appID: client.app, limit: ListQuery.limitMax, userID: user))
        let until = api.authentication.bannedUntil(user, of: client.app)
        return Response(
            json: UserDetail(
                user: user, online: isOnline, connections: reports.sessions.map(Connection.init),
                bannedUntil: until, edges: Edges(reports)))
    }

    /// `?prefix=&user=&session=&order=queued&limit=&cursor=`
    @Sendable func connections(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitForUsers(context, .moderate)
        let query = try request.query(["prefix", "user", "session", "order", "limit", "cursor"])
        let isByQueue = try query.isByQueue
        let page = try ListQuery(query)
        var reports = try await api.backend.askEdges(
            EdgeQuery(
                appID: client.app, limit: page.limit, prefix: page.prefix, afterUser: page.after.name,
                afterSession: page.after.session, userID: query["user"] ?? "",
                sessionID: try query.number("session", default: 0), isByQueue: isByQueue,
                afterQueued: page.after.queuedBytes))
        if isByQueue { reports = reports.orderedByQueue() }
        reports = reports.first(Int(page.limit))
        let next =
            reports.hasMore
            ? reports.sessions.last.map { last in
                PageCursor(
                    name: last.userID, session: last.sessionID, queuedBytes: isByQueue ? last.queuedBytes : 0
                ).text
            } : nil
        return Response(
            json: Connections(
                connections: reports.sessions.map(Connection.init), total: reports.total, nextCursor: next,
                edges: Edges(reports)))
    }

    // MARK: Usage

    @Sendable func usage(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitForUsers(context, .read)
        _ = try request.query([])
        func total(_ type: ChannelType) async throws -> UInt64 {
            try await api.backend.list(ListRequest(appID: client.app, type: type, limit: 1)).total
        }
        // One session is more than none, so that they are counted.
        let reports = try await api.backend.askEdges(EdgeQuery(appID: client.app, limit: 1))
        let left = api.rates.left(to: client, now: .now())
        return Response(
            json: Usage(
                channels: try await total(.message) + total(.stream), users: try await total(.user),
                connections: reports.total,
                key: Usage.Rate(perSecond: left.key?.rate.perSecond, left: left.key.map { max(0, $0.left) }),
                app: Usage.Rate(perSecond: left.app?.rate.perSecond, left: left.app.map { max(0, $0.left) }),
                edges: Edges(reports)))
    }
}

/// What lists have in common in their queries.
struct ListQuery {
    /// Limit: rows of a page.
    static let limitMax: UInt32 = 1_000

    let prefix: String
    let limit: UInt32
    let after: PageCursor

    init(_ query: Query) throws(APIError) {
        prefix = query["prefix"] ?? ""
        limit = try query.number("limit", default: 100)
        guard 1...Self.limitMax ~= limit else {
            throw APIError(.badRequest, "invalidQuery", "\"limit\" is from 1 to \(Self.limitMax)")
        }
        guard let text = query["cursor"] else {
            after = PageCursor(name: "")
            return
        }
        guard let cursor = PageCursor(text) else {
            throw APIError(
                .badRequest, "invalidQuery", "\"cursor\" takes the \"nextCursor\" of the page before")
        }
        after = cursor
    }
}

extension Query {
    /// Whether `order` asks for the connections for which the most waits first.
    fileprivate var isByQueue: Bool {
        get throws(APIError) {
            switch self["order"] ?? "user" {
            case "user": return false
            case "queued": return true
            default: throw APIError(.badRequest, "invalidQuery", "\"order\" is user or queued")
            }
        }
    }
}

/// The last row of a page. Its text is opaque to backends.
struct PageCursor: Equatable {
    let name: String
    /// The session of the last row in a list of connections; 0 in other lists.
    var session: UInt64 = 0
    /// The queued bytes of the last row in a list that is ordered by them; 0 in other lists.
    var queuedBytes: UInt64 = 0

    init(name: String, session: UInt64 = 0, queuedBytes: UInt64 = 0) {
        (self.name, self.session, self.queuedBytes) = (name, session, queuedBytes)
    }

    /// Nil if the text is no cursor.
    init?(_ text: String) {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: plain + padding), let pair = String(data: data, encoding: .utf8)
        else { return nil }
        let parts = pair.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let session = UInt64(parts[0]), let queuedBytes = UInt64(parts[1]),
            !parts[2].isEmpty
        else { return nil }
        self.init(name: String(parts[2]), session: session, queuedBytes: queuedBytes)
    }

    var text: String {
        Data("\(session) \(queuedBytes) \(name)".utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

extension APIClient {
    /// The prefix of the channels that a list may show; nil if the key reaches none of them.
    fileprivate func reach(of prefix: String) -> String? {
        guard let channels, !prefix.utf8.starts(with: channels.utf8) else { return prefix }
        return channels.utf8.starts(with: prefix.utf8) ? channels : nil
    }
}

extension EdgeReports {
    /// The subscribers of a channel that was asked about. Without edges there are none.
    fileprivate func count(_ index: Int) -> Int { index < subscribers.count ? subscribers[index] : 0 }
}
