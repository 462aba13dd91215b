import Foundation
import Hummingbird
import RTMCredentials
import RTMModel
import RTMWebhookCall
import RTMWire

/// How the webhooks of an app are doing. They are made and changed in the configuration.
struct WebhookRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.get("webhooks", use: all)
        group.post("webhooks/:webhook/test", use: test)
        group.post("webhooks/:webhook/redeliver", use: redeliver)
        group.get("webhooks/:webhook/dead-letters", use: letters)
    }

    struct Webhooks: Encodable, Sendable {
        let webhooks: [Webhook]
        /// The `cursor` of the next request; absent on the last page.
        var nextCursor: String?
    }

    struct Webhook: Encodable, Sendable {
        let name: String
        let url: String
        var types: [String]?
        var channels: String?
        /// The gateway that delivers it; absent if none does at present.
        var owner: String?
        /// Everything up to there is delivered, or a dead letter. Absent until a gateway has begun.
        var position: String?
        /// How many events of the app are behind the position, of whatever type.
        var lag: UInt64?
        /// When the first event behind the position happened; absent if there is none.
        var oldest: UInt64?
        var deadLetters: UInt32 = 0
        /// Dead letters that were dropped, because there were more than 1,000.
        var deadLettersDropped: UInt64 = 0
        /// The receiver answered 410.
        var isEnded = false
        /// The last 25, oldest first.
        var attempts: [WebhookAttempt] = []
    }

    struct Attempt: Encodable, Sendable {
        var status: Int?
        let outcome: String
        let milliseconds: Int
        /// The first 200 bytes of the answer's body.
        let answer: String
    }

    struct Redelivery: APIBody {
        /// A cursor: what follows it is delivered again.
        var after: String
        enum CodingKeys: String, CodingKey, CaseIterable { case after }
    }

    struct Moved: Encodable, Sendable { let position: String }

    struct Letters: Encodable, Sendable {
        struct Letter: Encodable, Sendable {
            let number: UInt64
            /// The cursor before the event: `redeliver` with it sends the event again, and what follows.
            let after: String
            let time: UInt64
            let reason: String
            /// The event as the receiver would have got it, a JSON text.
            let event: String
        }
        let letters: [Letter]
        /// The `after` of the next request; absent on the last page.
        var nextAfter: UInt64?
    }

    /// A key for some channels doesn't see events of others.
    private func admit(_ context: GatewayContext) throws -> APIClient {
        let client = try api.admit(context, .admin)
        guard client.channels == nil else {
            throw APIError(.forbidden, "channelOutOfReach", "a key for some channels can't see webhooks")
        }
        return client
    }

    private func runner(_ context: GatewayContext, _ client: APIClient) throws -> WebhookRunner {
        let name = try context.parameter("webhook")
        guard let runner = api.webhooks.all(of: client.app).first(where: { $0.record.name == name }) else {
            throw APIError(.notFound, "noSuchWebhook", "there is no webhook \"\(name)\"")
        }
        return runner
    }

    /// Limit: webhooks of a page. The state of each has up to 64 KiB.
    private static let pageMax: UInt32 = 100

    /// `?name=&limit=&cursor=`, ordered by name.
    @Sendable func all(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let query = try request.query(["name", "limit", "cursor"])
        let (limit, after) = (min(try ListQuery(query).limit, Self.pageMax), try ListQuery(query).after.name)
        let rest = api.webhooks.all(of: client.app).map(\.record).filter {
            $0.name > after && (query["name"] ?? $0.name) == $0.name
        }
        let records = rest.prefix(Int(limit))
        guard let last = records.last else { return Response(json: Webhooks(webhooks: [])) }
        let (readers, newest) = try await readers(of: client.app, after: after, upTo: last.name)
        var webhooks: [Webhook] = []
        for record in records { webhooks.append(try await webhook(record, readers[record.name], newest)) }
        let next = rest.count > records.count ? PageCursor(name: last.name).text : nil
        return Response(json: Webhooks(webhooks: webhooks, nextCursor: next))
    }

    /// What storage keeps of webhooks, and the position of the app's newest event.
    private func readers(
        of app: String, after name: String, upTo last: String
    ) async throws -> ([String: EventReader], newest: StreamPosition) {
        var readers: [String: EventReader] = [:]
        var page = try await api.backend.ask(StorageMethod.readers, ReadersRequest(appID: app, after: name))
        while true {
            for reader in page.readers { readers[reader.name] = reader }
            guard page.hasMore, let read = page.readers.last?.name, read < last else { break }
            page = try await api.backend.ask(StorageMethod.readers, ReadersRequest(appID: app, after: read))
        }
        return (readers, page.newest)
    }

    private func webhook(
        _ record: WebhookRecord, _ reader: EventReader?, _ newest: StreamPosition
    ) async throws -> Webhook {
        var webhook = Webhook(name: record.name, url: record.url)
        webhook.types = record.types?.split(separator: "+").map(String.init)
        webhook.channels = record.channels
        guard let reader else { return webhook }
        webhook.owner = reader.owner.isEmpty ? nil : reader.owner
        webhook.position = EventCursor.text(reader.position)
        webhook.lag = newest.offset - min(newest.offset, reader.position.offset)
        let next = EventsRequest(
            appID: record.app, after: reader.position, limit: 1, types: record.typeBits ?? 0,
            channelPrefix: record.channels ?? "", wait: .zero)
        webhook.oldest = try await api.backend.ask(StorageMethod.events, next).events.first?.timeMilliseconds
        (webhook.deadLetters, webhook.deadLettersDropped) = (reader.letters, reader.dropped)
        if let journal = try? JSONDecoder().decode(WebhookJournal.self, from: Data(reader.state)) {
            (webhook.isEnded, webhook.attempts) = (journal.isEnded, journal.attempts)
        }
        return webhook
    }

    @Sendable func test(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let runner = try runner(context, admit(context))
        let answer = await runner.test()
        var attempt = Attempt(
            outcome: answer.sentence, milliseconds: Int(answer.duration.nanoseconds / 1_000_000),
            answer: answer.start)
        if case .status(let status) = answer.outcome { attempt.status = status }
        return Response(json: attempt)
    }

    @Sendable func redeliver(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let name = try runner(context, client).record.name
        let body = try await api.body(Redelivery.self, of: request, by: client)
        guard let position = EventCursor.position(body.after) else {
            throw APIError(.badRequest, "invalidBody", "\"after\" is no cursor")
        }
        let moved = try await api.backend.ask(
            StorageMethod.moveReader, MoveReader(appID: client.app, name: name, position: position))
        guard moved.isFound else {
            throw APIError(
                .serviceUnavailable, "notBegun", "no gateway has begun with this webhook",
                retryAfter: .seconds(2))
        }
        return Response(json: Moved(position: EventCursor.text(position)))
    }

    /// A page of dead letters has at most so many bytes.
    private static let lettersBytesMax = 4 << 20

    /// `?after=NUMBER`
    @Sendable func letters(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try admit(context)
        let name = try runner(context, client).record.name
        let query = try request.query(["after"])
        let share = try api.share(of: client, Self.lettersBytesMax)
        let page = try await api.backend.ask(
            StorageMethod.deadLetters,
            DeadLettersRequest(
                appID: client.app, name: name, after: query.number("after", default: 0), limit: 100))
        let letters = page.letters.map {
            Letters.Letter(
                number: $0.number, after: EventCursor.text($0.position.before), time: $0.timeMilliseconds,
                reason: $0.reason, event: String(decoding: $0.body, as: UTF8.self))
        }
        return try await api.page(
            Letters(letters: letters, nextAfter: page.hasMore ? letters.last?.number : nil),
            bytes: page.letters.reduce(0) { $0 + $1.body.count }, share, to: client)
    }
}

extension StreamPosition {
    /// Offsets of events are dense.
    fileprivate var before: StreamPosition { StreamPosition(epoch: epoch, offset: offset - min(offset, 1)) }
}
