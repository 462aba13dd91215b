import Foundation
import Hummingbird
import NIOCore
import RTMCredentials
import RTMModel
import RTMProtocol
import RTMWire

/// The paths and bodies of the public HTTP interface, so that a backend that was written for it changes its
/// address and its credentials alone (W-2, W-3, W-5).
struct VendorRoutes: Sendable {
    let api: GatewayAPI

    func add(to router: Router<GatewayContext>, _ authentication: Authentication) {
        let users = router.group("dev/v2/project/:app/rtm/users/:user")
            .add(middleware: AuthenticationMiddleware(authentication: authentication))
        users.post("peer_messages", use: messageToUser)
        users.post("channel_messages", use: messageToChannel)
        router.group("rtm/v2/history/:app")
            .add(middleware: AuthenticationMiddleware(authentication: authentication))
            .get("userId/:user/channelType/:type/channel/:channel", use: history)
    }

    // Codable as the public interface writes it; unknown keys are passed over there.
    private struct PeerMessage: Decodable, Sendable {
        var destination: String
        var payload: String
        var isStored: Bool?

        enum CodingKeys: String, CodingKey {
            case destination, payload
            case isStored = "enable_historical_messaging"
        }
    }

    private struct ChannelMessage: Decodable, Sendable {
        var channel: String
        var payload: String
        var isStored: Bool?

        enum CodingKeys: String, CodingKey {
            case payload
            case channel = "channel_name"
            case isStored = "enable_historical_messaging"
        }
    }

    private struct Sent: Encodable, Sendable {
        let result = "success"
        let requestID: String
        let code: String

        enum CodingKeys: String, CodingKey {
            case result, code
            case requestID = "request_id"
        }
    }

    private struct History: Encodable, Sendable {
        struct Data: Encodable, Sendable {
            let messageList: [Message]
            let count: Int
            let newStart: UInt64
        }
        struct Message: Encodable, Sendable {
            let messageType: String
            let message: String
            let customType: String
            let publisher: String
            let timestamp: UInt64
        }
        let errorCode = 200
        let error = false
        let requestId: String
        let operation = "getMessage"
        let reason = ""
        let timestamp: UInt64
        let data: Data
    }

    /// `?wait_for_ack=true` asks whether the receiver was there (W-2).
    @Sendable func messageToUser(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .publish)
        let body: PeerMessage = try await decode(request, client)
        let waits = try request.query(["wait_for_ack"]).flag("wait_for_ack")
        let result = try await send(
            body.payload, toChannel: nil, body.destination,
            isStored: body.isStored ?? false,
            request, context, client)
        let code: String
        switch result {
        case .success: code = waits ? "message_delivered" : "message_sent"
        case .failure(let error) where Self.isOffline(error):
            code = waits ? "message_offline" : "message_sent"
        case .failure(let error): throw error
        }
        return Response(json: Sent(requestID: context.requestID, code: code))
    }

    @Sendable func messageToChannel(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .publish)
        let body: ChannelMessage = try await decode(request, client)
        _ = try await send(
            body.payload, toChannel: body.channel, nil,
            isStored: body.isStored ?? false, request, context, client
        ).get()
        return Response(json: Sent(requestID: context.requestID, code: "message_sent"))
    }

    private static func isOffline(_ error: APIError) -> Bool {
        let codes: [ErrorCode] = [.channelReceiverOffline, .channelReceiverOfflineButMessageStoreSucceeded]
        return codes.contains { $0.rawValue == error.body.code }
    }

    private func send(
        _ payload: String, toChannel channel: String?, _ user: String?, isStored: Bool, _ request: Request,
        _ context: GatewayContext, _ client: APIClient
    ) async throws -> Result<Void, APIError> {
        let publisher = try client.actingUser(try context.parameter("user")) ?? api.publisher
        let payload = ByteBuffer(string: payload)
        let origin = try request.idempotency(client).origin(of: .init(.text, payload, customType: ""))
        let message = try GatewayMessage(
            to: try api.channel(channel, user, of: client), by: publisher, .text, payload, customType: "",
            origin: origin)
        let results = try await MessageRoutes(api: api).publish([.init(message: message, isStored: isStored)])
        return results[0].map { _ in }
    }

    private func decode<Body: Decodable & Sendable>(
        _ request: Request, _ client: APIClient
    ) async throws -> Body {
        try await api.read(request, by: client, upTo: api.bodyBytesMax) { bytes in
            try Request.checkIsUnambiguous(bytes)
            do {
                return try Request.decoder.decode(Body.self, from: Data(bytes))
            } catch {
                throw APIError(.badRequest, "invalidBody", "the body is not the JSON of this path")
            }
        }
    }

    /// `?start=&end=&messageCount=` (W-5).
    @Sendable func history(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let (user, name) = (try context.parameter("user"), try context.parameter("channel"))
        _ = try client.actingUser(user)
        let channel: ChannelKey
        switch try context.parameter("type") {
        case "message": channel = try api.channel(name, nil, of: client)
        case "user": channel = try api.channel(nil, name, of: client)
        default: throw APIError(.badRequest, "invalidPath", "the channel type is message or user")
        }
        let query = try request.query(["start", "end", "messageCount"])
        let share = try api.share(of: client, HistoryRoutes.pageBytesMax)
        let page = try await HistoryRoutes(api: api).page(
            of: channel, before: query.number("start", default: 0), after: query.number("end", default: 0),
            limit: query.number("messageCount", default: 100), client)
        let messages = page.messages.map { message in
            History.Message(
                messageType: message.type == .text ? "STRING" : "BINARY",
                message: message.type == .text
                    ? String(decoding: message.payload, as: UTF8.self)
                    : message.payload.base64EncodedString(),
                customType: message.customType, publisher: message.publisher, timestamp: message.timestampMs)
        }
        return try await api.page(
            History(
                requestId: context.requestID, timestamp: WallClock.milliseconds(),
                data: .init(messageList: messages, count: messages.count, newStart: page.newStartMs)),
            bytes: page.payloadBytes, share, to: client)
    }
}
