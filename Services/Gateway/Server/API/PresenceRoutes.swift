import Hummingbird
import RTMCredentials
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf

/// Who is where.
struct PresenceRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.get("presence", use: users)
        group.get("users/:user/channels", use: channels)
        group.get("users/:user/state", use: state)
    }

    struct Users: Encodable, Sendable {
        /// Absent if only the count was asked for.
        var users: [User]?
        let total: UInt64
        /// The `page` of the next request; absent on the last page.
        var nextPage: String?
    }

    struct User: Encodable, Sendable {
        let user: String
        /// The temporary states; absent if they were not asked for.
        var state: [String: String]?
    }

    struct Channels: Encodable, Sendable {
        struct Channel: Encodable, Sendable {
            let channel: String
            let type: String
        }
        let channels: [Channel]
    }

    /// `?channel=&type=&state=true&page=`, or `count=true` for the number alone.
    @Sendable func users(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let query = try request.query(["channel", "type", "state", "page", "count"])
        let channel = try query.channel(of: client)
        let (countsOnly, hasState) = (try query.flag("count"), try query.flag("state"))
        let ask = Rtm_Client_WhoNow.with {
            $0.channelType = channel.wireType
            $0.channel = channel.name
            $0.includeUserID = !countsOnly
            $0.includeState = !countsOnly && hasState
            $0.page = query["page"] ?? ""
        }
        guard case .onlineUsers(let answer) = try await api.backend.presence(.whoNow(ask), by: client)
        else {
            throw RTMError.unexpectedAnswer
        }
        let users = answer.users.map { user in
            User(user: user.userID, state: ask.includeState ? user.texts : nil)
        }
        return Response(
            json: Users(
                users: countsOnly ? nil : users, total: answer.total,
                nextPage: answer.nextPage.isEmpty ? nil : answer.nextPage))
    }

    @Sendable func channels(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        _ = try request.query([])
        let user = try context.parameter("user")
        let ask = Rtm_Client_WhereNow.with { $0.userID = user }
        guard case .userChannels(let answer) = try await api.backend.presence(.whereNow(ask), by: client)
        else { throw RTMError.unexpectedAnswer }
        let channels = answer.channels.map {
            Channels.Channel(channel: $0.name, type: $0.type == .stream ? "stream" : "message")
        }
        return Response(json: Channels(channels: channels.filter { client.reaches($0.channel) }))
    }

    /// `?channel=&type=`
    @Sendable func state(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let channel = try request.query(["channel", "type"]).channel(of: client)
        let user = try context.parameter("user")
        let ask = Rtm_Client_GetState.with {
            $0.channelType = channel.wireType
            $0.channel = channel.name
            $0.userID = user
        }
        guard case .userState(let answer) = try await api.backend.presence(.getState(ask), by: client)
        else { throw RTMError.unexpectedAnswer }
        return Response(json: User(user: answer.userID, state: answer.texts))
    }
}

extension Rtm_Client_UserState {
    fileprivate var texts: [String: String] {
        Dictionary(items.map { ($0.key, $0.value) }) { first, _ in first }
    }
}

extension RTMError {
    static let unexpectedAnswer = RTMError(
        .serviceNotSupport, "a service has given another answer than expected")
}

extension ChannelKey {
    var wireType: Rtm_Client_ChannelType { Rtm_Client_ChannelType(rawValue: type.rawValue) ?? .none }
}
