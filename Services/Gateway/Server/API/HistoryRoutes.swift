import Foundation
import Hummingbird
import RTMCredentials
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf

/// Messages that were stored.
struct HistoryRoutes: Sendable {
    /// About how many bytes a page has at most: storage ends it at 256 KiB.
    static let pageBytesMax = 320 * 1024

    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.get("history", use: messages)
        group.delete("history", use: purge)
    }

    struct Purged: Encodable, Sendable {
        /// How many messages are gone, for good.
        let removed: UInt64
    }

    struct Page: Encodable, Sendable {
        /// Newest first.
        let messages: [Message]
        /// The `before` of the next request; absent on the last page.
        var nextBefore: UInt64?
    }

    struct Message: Encodable, Sendable {
        let publisher: String
        let timestamp: UInt64
        /// The place among the channel's messages with the same timestamp; absent if it is the first.
        let order: UInt32?
        var customType: String?
        /// A text, or bytes in Base64: one of the two.
        var message: String?
        var data: Data?

        init(_ message: Rtm_Client_HistoryMessage) {
            publisher = message.publisher
            timestamp = message.timestampMs
            order = message.order == 0 ? nil : message.order
            customType = message.customType.isEmpty ? nil : message.customType
            if message.type == .text {
                self.message = String(decoding: message.payload, as: UTF8.self)
            } else {
                data = message.payload
            }
        }
    }

    /// `?channel=` or `?user=`, and `before=`, `after=` in milliseconds, and `limit=`.
    @Sendable func messages(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let query = try request.query(["channel", "user", "before", "after", "limit"])
        let channel = try api.channel(query["channel"], query["user"], of: client)
        let share = try api.share(of: client, Self.pageBytesMax)
        let page = try await page(
            of: channel, before: query.number("before", default: 0), after: query.number("after", default: 0),
            limit: query.number("limit", default: 100), client)
        return try await api.page(
            Page(
                messages: page.messages.map(Message.init),
                nextBefore: page.newStartMs == 0 ? nil : page.newStartMs),
            bytes: page.payloadBytes, share, to: client)
    }

    /// `?channel=` or `?user=`, and `before=` in milliseconds: without it all messages go.
    @Sendable func purge(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitKey(context, .moderate)
        let query = try request.query(["channel", "user", "before"])
        let channel = try api.channel(query["channel"], query["user"], of: client)
        let before = try query.number("before", default: Int64.max)
        guard before > 0 else {
            throw APIError(.badRequest, "invalidQuery", "\"before\" is a time in milliseconds since 1970")
        }
        let purge = PurgeHistoryRequest(
            channel: channel, beforeMilliseconds: before == .max ? 0 : UInt64(before))
        let purged = try await api.backend.ask(StorageMethod.purgeHistory, purge, errors: .history)
        return Response(json: Purged(removed: purged.removed))
    }

    func page(
        of channel: ChannelKey, before: UInt64, after: UInt64, limit: UInt32, _ client: APIClient
    ) async throws -> Rtm_Client_HistoryPage {
        let ask = Rtm_Client_GetHistory.with {
            $0.channelType = channel.wireType
            $0.channel = channel.name
            $0.count = limit
            $0.startMs = before
            $0.endMs = after
        }
        let user = client.user ?? (channel.type == .user ? channel.name : "")
        guard
            case .historyPage(let page) = try await api.backend.storage(
                .getHistory(ask), .history, by: client, as: user)
        else { throw RTMError.unexpectedAnswer }
        return page
    }
}

extension Rtm_Client_HistoryPage {
    var payloadBytes: Int { messages.reduce(0) { $0 + $1.payload.count } }
}
