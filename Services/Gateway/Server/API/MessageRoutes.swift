import Foundation
import Hummingbird
import NIOCore
import RTMCryptography
import RTMModel
import RTMProtocol
import RTMWire

/// Publishing: one message, one message to many channels, or many messages.
struct MessageRoutes: Sendable {
    /// Limit: messages of one request.
    static let messagesMax = 1_000

    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.post("publish", use: publish)
        group.post("broadcast", use: broadcast)
        group.post("batch", use: batch)
    }

    // MARK: Bodies

    struct Message: APIBody {
        /// The channel, or the user to whose inbox the message goes: one of the two.
        var channel: String?
        var user: String?
        /// The payload: a text, or bytes in Base64.
        var message: String?
        var data: Data?
        var customType: String?
        /// The publisher that subscribers see.
        var publisher: String?
        /// Whether the message is stored in the history.
        var store: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case channel, user, message, data, customType, publisher, store
        }
    }

    struct Broadcast: APIBody {
        var channels: [String]
        var message: String?
        var data: Data?
        var customType: String?
        var publisher: String?
        var store: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case channels, message, data, customType, publisher, store
        }
    }

    struct Batch: APIBody {
        var messages: StrictList<Message>

        enum CodingKeys: String, CodingKey, CaseIterable { case messages }
    }

    /// Where a message is in its channel's log.
    struct Published: Encodable, Sendable {
        let offset: UInt64
        /// Milliseconds since 1970, as subscribers see it.
        let timestamp: UInt64
    }

    /// What became of one of several messages: its place, or the error.
    struct Outcome: Encodable, Sendable {
        var channel: String?
        var user: String?
        var offset: UInt64?
        var timestamp: UInt64?
        var error: APIError.Body?
    }

    struct Outcomes: Encodable, Sendable { let results: [Outcome] }

    // MARK: Routes

    @Sendable func publish(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try context.admitted(.publish)
        let body = try await request.body(Message.self, upTo: api.bodyBytesMax)
        try api.rates.spend(by: client, now: .now())
        let item = try outgoing(body, by: client, request.idempotency(client).origin(0))
        let published = try await publish([item])[0].get()
        return Response(json: Published(offset: published.offset, timestamp: published.timestampMilliseconds))
    }

    @Sendable func broadcast(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try context.admitted(.publish)
        let body = try await request.body(Broadcast.self, upTo: api.bodyBytesMax)
        let messages = body.channels.map {
            Message(
                channel: $0, message: body.message, data: body.data, customType: body.customType,
                publisher: body.publisher, store: body.store)
        }
        return try await publishAll(messages, by: client, request)
    }

    @Sendable func batch(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try context.admitted(.publish)
        let body = try await request.body(Batch.self, upTo: api.bodyBytesMax)
        return try await publishAll(body.messages.elements, by: client, request)
    }

    /// One that is refused doesn't hold up the others. The status is 207 if some have failed.
    private func publishAll(
        _ messages: [Message], by client: APIClient, _ request: Request
    ) async throws -> Response {
        guard !messages.isEmpty else { throw APIError(.badRequest, "noMessages", "there is no message") }
        guard messages.count <= Self.messagesMax else {
            throw APIError(
                .badRequest, "tooManyMessages", "a request has at most \(Self.messagesMax) messages")
        }
        try api.rates.spend(messages.count, by: client, now: .now())
        let idempotency = try request.idempotency(client)
        var outcomes = messages.map { Outcome(channel: $0.channel, user: $0.user) }
        var items: [(index: Int, item: Item)] = []
        for (index, message) in messages.enumerated() {
            do {
                items.append((index, try outgoing(message, by: client, idempotency.origin(index))))
            } catch {
                outcomes[index].error = error.body
            }
        }
        for (place, result) in try await zip(items, publish(items.map(\.item))) {
            switch result {
            case .success(let published):
                outcomes[place.index].offset = published.offset
                outcomes[place.index].timestamp = published.timestampMilliseconds
            case .failure(let error): outcomes[place.index].error = error.body
            }
        }
        let hasFailure = outcomes.contains { $0.error != nil }
        return Response(json: Outcomes(results: outcomes), status: hasFailure ? .init(code: 207) : .ok)
    }

    // MARK: Publishing

    struct Item: Sendable {
        let message: GatewayMessage
        let isStored: Bool
    }

    private func outgoing(
        _ body: Message, by client: APIClient, _ origin: PublishOrigin
    ) throws(APIError) -> Item {
        let channel = try api.channel(body.channel, body.user, of: client)
        let (type, payload): (MessageType, ByteBuffer)
        switch (body.message, body.data) {
        case (let text?, nil): (type, payload) = (.text, ByteBuffer(string: text))
        case (nil, let data?): (type, payload) = (.binary, ByteBuffer(bytes: data))
        default:
            throw APIError(
                .badRequest, "invalidBody", "a message has either \"message\", a text, or \"data\", Base64")
        }
        let publisher = try client.actingUser(body.publisher) ?? api.publisher
        do throws(RTMError) {
            return Item(
                message: try GatewayMessage(
                    to: channel, by: publisher, type, payload,
                    customType: body.customType ?? "", origin: origin),
                isStored: body.store ?? false)
        } catch {
            throw APIError(error)
        }
    }

    /// Publishes, and has stored what is to be stored, as an edge does for a client (M-27, M-32).
    func publish(_ items: [Item]) async throws -> [Result<PublishResponse, APIError>] {
        let results = await api.backend.publish(items.map(\.message))
        guard items.contains(where: \.isStored) else { return results.map { $0.mapError(APIError.init) } }
        var outcomes: [Result<PublishResponse, APIError>] = []
        for (item, result) in zip(items, results) {
            outcomes.append(
                item.isStored
                    ? await store(item.message, result).mapError(APIError.init)
                    : result.mapError(APIError.init))
        }
        return outcomes
    }

    private func store(
        _ message: GatewayMessage, _ result: Result<PublishResponse, RTMError>
    ) async -> Result<PublishResponse, RTMError> {
        let time: UInt64
        switch result {
        case .success(let published): time = published.timestampMilliseconds
        case .failure(let error) where error.code == .channelReceiverOffline: time = WallClock.milliseconds()
        case .failure: return result
        }
        do throws(RTMError) {
            try await api.backend.appendHistory(message, at: time)
        } catch {
            let published = (try? result.get()) != nil
            return .failure(
                RTMError(
                    published
                        ? .channelMessageDeliveredButStoreFailed
                        : .channelReceiverOfflineAndMessageStoreFailed,
                    "the message \(published ? "was delivered, but" : "found no receiver, and") not stored: "
                        + error.reason
                ))
        }
        guard case .failure = result else { return result }
        return .failure(
            RTMError(
                .channelReceiverOfflineButMessageStoreSucceeded,
                "the receiver is offline; the message is stored"))
    }
}

extension Request {
    /// What makes a message recognisable when the backend sends the request again. The log remembers it for
    /// as long as its tail reaches back, which is two minutes or more (M-25).
    func idempotency(_ client: APIClient) throws(APIError) -> Idempotency {
        guard let key = headers[.idempotencyKey] else { return Idempotency(number: nil) }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw APIError(
                .badRequest, "invalidIdempotencyKey",
                "an Idempotency-Key has 1 to 255 visible ASCII characters")
        }
        let code = MessageCode.make(
            over: Array("\(client.app)\n\(client.name)\n\(key)".utf8), key: Array("Idempotency-Key".utf8))
        return Idempotency(number: code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

/// What is made of a request's Idempotency-Key.
struct Idempotency: Sendable {
    /// Nil if the request has no key: then its messages are published each time.
    fileprivate let number: UInt64?

    /// - Parameter index: the message's place in the request.
    func origin(_ index: Int) -> PublishOrigin {
        guard let number else { return .none }
        return PublishOrigin(instance: max(1, number &+ UInt64(index)), sequence: 1, againAfter: 0)
    }
}
