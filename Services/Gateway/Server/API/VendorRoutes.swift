import Foundation
import Hummingbird
import NIOCore
import RTMModel
import RTMProtocol
import RTMWire

/// The paths and bodies of the public HTTP interface, so that a backend written for it changes its address and its
/// credentials alone (W-2, W-3, W-5).
struct VendorRoutes: Sendable {
    let api: GatewayAPI

    func add(to router: Router<GatewayContext>, _ authentication: Authentication) {
        let users = router.group("dev/v2/project/:app/rtm/users/:user")
            .add(middleware: Admission(authentication: authentication))
        users.post("peer_messages", use: messageToUser)
        users.post("channel_messages", use: messageToChannel)
        router.group("rtm/v2/history/:app").add(middleware: Admission(authentication: authentication))
            .get("userId/:user/channelType/:type/channel/:channel", use: history)
    }

    // Codable as the public interface writes it; unknown keys are passed over there.
    private struct PeerMessage: Decodable, Sendable {
        var destination: String
        var payload: String
        var enable_historical_messaging: Bool?
    }

    private struct ChannelMessage: Decodable, Sendable {
        var channel_name: String
        var payload: String
        var enable_historical_messaging: Bool?
    }

    private struct Sent: Encodable, Sendable {
        let result = "success"
        let request_id: String
        let code: String
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
        let body: PeerMessage = try await decode(request)
        let waits = request.query("wait_for_ack") == "true"
        let result = try await send(
            body.payload, toChannel: nil, body.destination,
            isStored: body.enable_historical_messaging ?? false,
            request, context)
        let code: String
        switch result {
        case .success: code = waits ? "message_delivered" : "message_sent"
        case .failure(let error) where Self.isOffline(error):
            code = waits ? "message_offline" : "message_sent"
        case .failure(let error): throw error
        }
        return Response(json: Sent(request_id: context.id, code: code))
    }

    @Sendable func messageToChannel(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let body: ChannelMessage = try await decode(request)
        _ = try await send(
            body.payload, toChannel: body.channel_name, nil,
            isStored: body.enable_historical_messaging ?? false, request, context
        ).get()
        return Response(json: Sent(request_id: context.id, code: "message_sent"))
    }

    private static func isOffline(_ error: APIError) -> Bool {
        let codes: [ErrorCode] = [.channelReceiverOffline, .channelReceiverOfflineButMessageStoreSucceeded]
        return codes.contains { $0.rawValue == error.body.code }
    }

    private func send(
        _ payload: String, toChannel channel: String?, _ user: String?, isStored: Bool, _ request: Request,
        _ context: GatewayContext
    ) async throws -> Result<Void, APIError> {
        let client = try api.admit(context, .publish)
        let publisher = try client.actingUser(try context.parameters.require("user"))
        let message = try OutgoingMessage(
            to: try api.channel(channel, user, of: client), by: publisher, .text, ByteBuffer(string: payload),
            customType: "", origin: request.idempotency(client, 0))
        let results = try await MessageRoutes(api: api).publish([.init(message: message, isStored: isStored)])
        return results[0].map { _ in }
    }

    private func decode<Body: Decodable>(_ request: Request) async throws -> Body {
        let bytes = try await request.body.collect(upTo: api.bodyBytesMax)
        do {
            return try JSONDecoder().decode(Body.self, from: Data(bytes.readableBytesView))
        } catch {
            throw APIError(.badRequest, "invalidBody", "the body is not the JSON of this path")
        }
    }

    /// `?start=&end=&messageCount=` (W-5).
    @Sendable func history(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let (user, name) = (try context.parameters.require("user"), try context.parameters.require("channel"))
        _ = try client.actingUser(user)
        let channel: ChannelKey
        switch try context.parameters.require("type") {
        case "message": channel = try api.channel(name, nil, of: client)
        case "user": channel = try api.channel(nil, name, of: client)
        default: throw APIError(.badRequest, "invalidPath", "the channel type is message or user")
        }
        let page = try await HistoryRoutes(api: api).page(
            of: channel, before: request.number("start", default: 0),
            after: request.number("end", default: 0),
            limit: request.number("messageCount", default: 100), client)
        let messages = page.messages.map { message in
            History.Message(
                messageType: message.type == .text ? "STRING" : "BINARY",
                message: message.type == .text
                    ? String(decoding: message.payload, as: UTF8.self)
                    : message.payload.base64EncodedString(),
                customType: message.customType, publisher: message.publisher, timestamp: message.timestampMs)
        }
        return Response(
            json: History(
                requestId: context.id, timestamp: WallClock.milliseconds(),
                data: .init(messageList: messages, count: messages.count, newStart: page.newStartMs)))
    }
}
