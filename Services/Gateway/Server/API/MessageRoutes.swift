import Foundation
import Hummingbird
import NIOCore
import RTMCredentials
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

    struct Message: APIBody, Equatable {
        static var listRefusal: (countMax: Int, error: APIError) { (messagesMax, .tooManyMessages) }
        static let payloadDepth: Int? = 1

        /// The channel, or the user to whose inbox the message goes: one of the two.
        var channel: String?
        var user: String?
        /// The payload: a text or JSON, or bytes in Base64.
        var message: TextPayload?
        var data: Data?
        var customType: String?
        /// The publisher that subscribers see.
        var publisher: String?
        /// Whether the message is stored in the history.
        var store: Bool?
        /// The message is published only if the channel's newest message has this offset, events aside: 0 if
        /// it has none. The epoch says of which log the offset is.
        var ifOffset: UInt64?
        var ifEpoch: UInt64?
        /// The number of a message that is a whole state: it is published only if it is above the last one
        /// of the channel, or if that has another epoch.
        var version: UInt64?
        var versionEpoch: String?
        /// An Idempotency-Key of this message's own, in place of the one that the request's header makes.
        var idempotencyKey: String?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case channel, user, message, data, customType, publisher, store, ifOffset, ifEpoch, version
            case versionEpoch, idempotencyKey
        }
    }

    /// The names of at most so many channels as a request has messages.
    struct NameList: Decodable, Sendable, Equatable {
        let all: [String]

        init(all: [String]) { self.all = all }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            if let count = container.count, count > messagesMax { throw APIError.tooManyMessages }
            var all: [String] = []
            while !container.isAtEnd { all.append(try container.decode(String.self)) }
            self.all = all
        }
    }

    struct Broadcast: APIBody, Equatable {
        static let payloadDepth: Int? = 1

        var channels: NameList
        var message: TextPayload?
        var data: Data?
        var customType: String?
        var publisher: String?
        var store: Bool?
        /// The same for each channel.
        var version: UInt64?
        var versionEpoch: String?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case channels, message, data, customType, publisher, store, version, versionEpoch
        }
    }

    struct Batch: APIBody, Equatable {
        static let payloadDepth: Int? = 3

        var messages: StrictList<Message>

        enum CodingKeys: String, CodingKey, CaseIterable { case messages }
    }

    /// Where a message is in its channel's log.
    struct Published: Sendable {
        /// Of the log. With another epoch it has begun anew, and offsets of before mean nothing.
        let epoch: UInt64
        let offset: UInt64
        /// Milliseconds since 1970, as subscribers see it.
        let timestamp: UInt64
        /// The place among the channel's messages with the same timestamp, if it isn't the first.
        let order: UInt64?
        /// Whether the Idempotency-Key was known: then this is what became of the first request.
        var replayed: Bool?
        /// For how many seconds at least the Idempotency-Key is remembered, as things are now.
        var rememberedFor: UInt64?

        init(_ response: BackendPublishResponse) {
            (epoch, offset) = (response.position.epoch, response.position.offset)
            timestamp = response.timestampMilliseconds
            order = response.order == 0 ? nil : UInt64(response.order)
            replayed = response.outcome == .repeated ? true : nil
            let seconds = response.rememberedMilliseconds / 1_000
            rememberedFor = seconds == 0 ? nil : seconds
        }
    }

    /// What became of one of several messages: its place, or the error.
    struct Outcome: Sendable {
        var channel: String?
        var user: String?
        var published: Published?
        var error: APIError?
    }

    struct Outcomes: Sendable { let results: [Outcome] }

    // MARK: Routes

    @Sendable func publish(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .publish)
        let body = try await api.body(Message.self, of: request, by: client, upTo: api.bodyBytesMax)
        let item = try outgoing(body, by: client, request.idempotency(client), 0)
        let published = try await publish([item])[0].get()
        return Response(json: JSONWriter(Published(published)))
    }

    @Sendable func broadcast(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .publish)
        let body = try await api.body(Broadcast.self, of: request, by: client, upTo: api.bodyBytesMax)
        let messages = body.channels.all.map {
            Message(
                channel: $0, message: body.message, data: body.data, customType: body.customType,
                publisher: body.publisher, store: body.store, version: body.version,
                versionEpoch: body.versionEpoch)
        }
        return try await publishAll(messages, by: client, request)
    }

    @Sendable func batch(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .publish)
        let body = try await api.body(Batch.self, of: request, by: client, upTo: api.bodyBytesMax)
        return try await publishAll(body.messages.elements, by: client, request)
    }

    /// One that is refused doesn't hold up the others. The status is 207 if some have failed.
    private func publishAll(
        _ messages: [Message], by client: APIClient, _ request: Request
    ) async throws -> Response {
        guard !messages.isEmpty else { throw APIError(.badRequest, "noMessages", "there is no message") }
        // The first was paid for before the body was read.
        api.rates.charge(messages.count - 1, to: client, now: .now())
        let idempotency = try request.idempotency(client)
        var outcomes = messages.map { Outcome(channel: $0.channel, user: $0.user) }
        var items: [(index: Int, item: Item)] = []
        for (index, message) in messages.enumerated() {
            do {
                items.append((index, try outgoing(message, by: client, idempotency, index)))
            } catch {
                outcomes[index].error = error
            }
        }
        for (place, result) in try await zip(items, publish(items.map(\.item))) {
            switch result {
            case .success(let published): outcomes[place.index].published = Published(published)
            case .failure(let error): outcomes[place.index].error = error
            }
        }
        let hasFailure = outcomes.contains { $0.error != nil }
        return Response(
            json: JSONWriter(Outcomes(results: outcomes)), status: hasFailure ? .init(code: 207) : .ok)
    }

    // MARK: Publishing

    struct Item: Sendable {
        let message: GatewayMessage
        let isStored: Bool
    }

    /// - Parameter index: the message's place in the request.
    private func outgoing(
        _ body: Message, by client: APIClient, _ idempotency: Idempotency, _ index: Int
    ) throws(APIError) -> Item {
        let channel = try api.channel(body.channel, body.user, of: client)
        let (type, payload): (MessageType, ByteBuffer)
        switch (body.message, body.data) {
        case (let message?, nil): (type, payload) = (.text, ByteBuffer(string: message.text))
        case (nil, let data?): (type, payload) = (.binary, ByteBuffer(bytes: data))
        default:
            throw APIError(
                .badRequest, "invalidBody",
                "a message has either \"message\", a text or JSON, or \"data\", Base64")
        }
        let publisher = try client.actingUser(body.publisher) ?? api.publisher
        let condition = try body.condition
        // A version decides which states of the channel still count, for everybody.
        guard condition?.version ?? 0 == 0 || client.user == nil else {
            throw APIError(
                .forbidden, "keyNeeded", "a \"version\" needs an API key; a user's token is not enough")
        }
        let customType = body.customType ?? (body.message?.isJSON == true ? TextPayload.customType : "")
        let content = Idempotency.Content(type, payload, customType: customType)
        let origin =
            if let key = body.idempotencyKey {
                try Idempotency(checking: key, of: client).origin(of: content)
            } else {
                idempotency.origin(index, of: content)
            }
        do throws(RTMError) {
            return Item(
                message: try GatewayMessage(
                    to: channel, by: publisher, type, payload,
                    customType: customType, origin: origin, condition: condition),
                isStored: body.store ?? false)
        } catch {
            throw APIError(error)
        }
    }

    /// Publishes, and has stored what is to be stored, as an edge does for a client (M-27, M-32).
    ///
    /// - Parameter items: all to one app.
    func publish(_ items: [Item]) async throws -> [Result<BackendPublishResponse, APIError>] {
        let judged = await api.hooks.judge(
            items.map { ($0.message, $0.isStored) }, of: items.first?.message.channel.appID ?? "")
        var published = await api.backend.publish(judged.compactMap { try? $0.get() })[...]
        var results: [Result<BackendPublishResponse, APIError>] = []
        for (item, judged) in zip(items, judged) {
            switch judged {
            case .success(let message):
                guard var result = published.popFirst() else { break }
                if item.isStored { result = await store(message, result) }
                results.append(Self.answer(result))
            case .failure(let error): results.append(await refusal(of: item, error))
            }
        }
        return results
    }

    private static func answer(
        _ result: Result<BackendPublishResponse, RTMError>
    ) -> Result<BackendPublishResponse, APIError> {
        guard case .success(let response) = result, let refusal = APIError(refusal: response) else {
            return result.api
        }
        return .failure(refusal)
    }

    /// What the hook refuses now may have been published before, and its backend gets that answer (W-24).
    private func refusal(
        of item: Item, _ error: RTMError
    ) async -> Result<BackendPublishResponse, APIError> {
        if item.message.origin.againAfter != nil, let first = await api.backend.first(of: item.message) {
            return .success(first)
        }
        return .failure(error.retryAfter == nil ? APIError(refusedByHook: error) : APIError(error))
    }

    private func store(
        _ message: GatewayMessage, _ result: Result<BackendPublishResponse, RTMError>
    ) async -> Result<BackendPublishResponse, RTMError> {
        let time: LogTime
        switch result {
        case .success(let refused) where refused.isRefused: return result
        case .success(let published):
            time = LogTime(milliseconds: published.timestampMilliseconds, order: published.order)
        case .failure(let error) where error.code == .channelReceiverOffline:
            time = LogTime(milliseconds: WallClock.milliseconds())
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

extension MessageRoutes.Message {
    /// Limit: bytes of a `versionEpoch`, which are printable ASCII.
    private static let versionEpochMax = 64

    /// What the message expects of its channel; nil if nothing.
    fileprivate var condition: PublishCondition? {
        get throws(APIError) {
            guard (ifOffset == nil) == (ifEpoch == nil) else {
                throw Self.wrong("\"ifOffset\" and \"ifEpoch\" go together, as an answer names them")
            }
            guard version != 0 else { throw Self.wrong("a \"version\" is 1 or more") }
            guard version != nil || versionEpoch == nil else {
                throw Self.wrong("\"versionEpoch\" needs a \"version\"")
            }
            let text = versionEpoch ?? ""
            guard text.utf8.count <= Self.versionEpochMax, text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
                throw Self.wrong(
                    "a \"versionEpoch\" has at most \(Self.versionEpochMax) characters of printable ASCII")
            }
            guard ifOffset != nil || version != nil else { return nil }
            let newest = ifEpoch.flatMap { epoch in ifOffset.map { StreamPosition(epoch: epoch, offset: $0) }
            }
            return PublishCondition(newest: newest, version: version ?? 0, versionEpoch: text)
        }
    }

    private static func wrong(_ reason: String) -> APIError { APIError(.badRequest, "invalidBody", reason) }
}

extension BackendPublishResponse {
    fileprivate var isRefused: Bool { outcome == .outdatedPosition || outcome == .outdatedVersion }
}

extension Result where Failure == RTMError {
    fileprivate var api: Result<Success, APIError> { mapError { APIError($0) } }
}

extension Request {
    /// What makes a message recognisable when the backend sends the request again. The log remembers it for
    /// as long as its tail reaches back, which is two minutes or more (M-25).
    func idempotency(_ client: APIClient) throws(APIError) -> Idempotency {
        guard let key = headers[.idempotencyKey] else { return .none }
        return try Idempotency(checking: key, of: client)
    }
}

/// What is made of an Idempotency-Key (W-24). The log finds the message by the key, and by a hash of the
/// content it sees whether the key was used for another one.
struct Idempotency: Sendable {
    /// What subscribers get to see of a message.
    struct Content {
        fileprivate let type: MessageType
        fileprivate let payload: ByteBuffer
        fileprivate let customType: String

        init(_ type: MessageType, _ payload: ByteBuffer, customType: String) {
            (self.type, self.payload, self.customType) = (type, payload, customType)
        }

        fileprivate var bytes: [UInt8] {
            Array("\(type.rawValue)\n\(customType)\n".utf8) + payload.readableBytesView
        }
    }

    /// Nil if the request has no key: then its messages are published each time.
    private let number: UInt64?

    private init(number: UInt64?) { self.number = number }

    fileprivate static let none = Idempotency(number: nil)

    /// - Parameter client: the keys of different clients are different ones.
    init(_ key: String, of client: String, in app: String) {
        number = Self.hash(Array("\(app)\n\(client)\n\(key)".utf8))
    }

    fileprivate init(checking key: String, of client: APIClient) throws(APIError) {
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw APIError(
                .badRequest, "invalidIdempotencyKey",
                "an Idempotency-Key has 1 to 255 visible ASCII characters")
        }
        self.init(key, of: client.name, in: client.app)
    }

    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        let code = MessageCode.make(over: bytes, key: Array("Idempotency-Key".utf8))
        return code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// The hash of the content has 53 bits, which every database and every reader of JSON keeps.
    ///
    /// - Parameter index: the message's place in the request.
    func origin(_ index: Int = 0, of content: Content) -> PublishOrigin {
        guard let number else { return .none }
        return PublishOrigin(
            instance: max(1, number &+ UInt64(index)), sequence: max(1, Self.hash(content.bytes) >> 11),
            againAfter: 0)
    }
}
