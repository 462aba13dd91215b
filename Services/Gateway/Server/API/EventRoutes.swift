import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import RTMCredentials
import RTMModel
import RTMServiceLink
import RTMWire
import ServiceLifecycle

/// What happened in an app, read from a position on: as a page, which waits for an event if there is none,
/// and as a stream of server-sent events (W-42).
struct EventRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) { group.get("events", use: events) }

    struct Page: Encodable, Sendable {
        let events: [EventBody]
        /// The `after` of the next request.
        let next: String
        /// Whether there may be more at once.
        let more: Bool
    }

    /// Limit: how long a request waits, in seconds.
    static let waitMax: UInt64 = 30
    /// How soon a stream without events gets a comment, so that nobody on the way takes it for dead.
    private static let commentInterval = Duration.seconds(10)
    /// Limit: events of a page of a stream.
    private static let streamPage: UInt32 = 100

    /// `?after=CURSOR&types=T,T&channels=PREFIX&wait=20s&limit=`
    @Sendable func events(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let query = try request.query(["after", "types", "channels", "wait", "limit"])
        var ask = try Self.ask(query, of: client)
        guard let key = client.key else { throw Self.notForUsers }
        let place = try api.authentication.places.take(key)
        guard request.headers[.accept]?.contains("text/event-stream") ?? false else {
            let share = api.memory.pages.share(of: client)
            guard let page = try await api.events(ask, share, in: place) else { throw Credentials.unknown }
            return try await api.page(Page(page, app: client.app), bytes: page.bytes, share, to: client)
        }
        // A browser's EventSource names the last event that it got.
        if let name = HTTPField.Name("Last-Event-ID"), let last = request.headers[name] {
            (ask.after, ask.fromNewest) = (try Self.position(last), false)
        }
        return try await stream(ask, of: client, in: place)
    }

    /// - Throws: 403 for the user of a token, and for a prefix that the key doesn't have.
    static func ask(_ query: Query, of client: APIClient) throws(APIError) -> EventsRequest {
        guard client.key != nil else { throw notForUsers }
        let prefix = query["channels"] ?? client.channels ?? ""
        guard client.reaches(prefix) else {
            throw APIError(
                .forbidden, "channelOutOfReach",
                "the key is only for channels whose names begin with \"\(client.channels ?? "")\"")
        }
        let limit = try query.number("limit", default: UInt32(100))
        guard limit > 0, limit <= 1_000 else {
            throw APIError(.badRequest, "invalidQuery", "\"limit\" is from 1 to 1000")
        }
        var ask = EventsRequest(
            appID: client.app, after: StreamPosition(epoch: 0, offset: 0), limit: limit,
            types: try types(query["types"]), channelPrefix: prefix, wait: try wait(query["wait"]))
        switch query["after"] {
        case nil: break
        case "latest": ask.fromNewest = true
        case let cursor?: ask.after = try position(cursor)
        }
        return ask
    }

    private static let notForUsers = APIError(
        .forbidden, "missingScope", "the user of a token can't read the events of an app")

    private static func position(_ cursor: String) throws(APIError) -> StreamPosition {
        guard let position = EventCursor.position(cursor) else {
            throw APIError(
                .badRequest, "invalidQuery",
                "\"after\" is the id of an event, the \"next\" of an answer, or latest")
        }
        return position
    }

    private static func types(_ text: String?) throws(APIError) -> UInt32 {
        guard let text else { return 0 }
        var types: UInt32 = 0
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let type = AppEventType.allCases.first(where: { $0.name == name }) else {
                let known = AppEventType.allCases.map(\.name).sorted().joined(separator: ", ")
                throw APIError(
                    .badRequest, "invalidQuery", "there is no type \"\(name)\"; there are \(known)")
            }
            types |= 1 << UInt32(type.rawValue)
        }
        return types
    }

    /// Seconds, with or without their unit.
    private static func wait(_ text: String?) throws(APIError) -> Duration {
        guard let text else { return .zero }
        guard let seconds = UInt64(text.hasSuffix("s") ? String(text.dropLast()) : text), seconds <= waitMax
        else {
            throw APIError(.badRequest, "invalidQuery", "\"wait\" is from 0s to \(waitMax)s")
        }
        return .seconds(Int64(seconds))
    }

    // MARK: Server-sent events

    /// The first page is read before the answer begins, so that what is wrong is an answer of its own.
    private func stream(
        _ ask: EventsRequest, of client: APIClient, in place: EventPlace
    ) async throws -> Response {
        var ask = ask
        (ask.limit, ask.wait) = (Self.streamPage, .zero)
        let share = api.memory.pages.share(of: client)
        guard let first = try await api.events(ask, share, in: place) else { throw Credentials.unknown }
        let stream = EventStream(
            api: api, client: client, ask: ask, first: first, share: share, wait: Self.commentInterval,
            place: place)
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody(asyncSequence: stream))
    }
}

extension EventRoutes.Page {
    init(_ response: EventsResponse, app: String) {
        events = response.events.map { EventBody($0, app: app) }
        next = EventCursor.text(response.next)
        more = response.hasMore
    }
}

extension GatewayAPI {
    /// Reads events, with memory for a page of them. Nothing is held while the read waits for an event.
    ///
    /// - Returns: nil if the key to which the place was given has ended meanwhile.
    func events(
        _ ask: EventsRequest, _ share: SharedMemory.Share, in place: EventPlace
    ) async throws(RTMError) -> EventsResponse? {
        var now = ask
        now.wait = .zero
        // Storage ends a page at 2 MiB.
        let bytesMax = min(Int(ask.limit) * 40_000, 2_200_000)
        try share.grow(by: bytesMax)
        guard let page = try await backend.events(now, in: place) else { return nil }
        guard page.events.isEmpty, !ask.fromNewest, ask.wait > .zero else { return page }
        share.settle(0)
        var next = ask
        (next.after, next.limit) = (page.next, 1)
        guard let found = try await backend.events(next, in: place) else { return nil }
        guard !found.events.isEmpty else { return found }
        try share.grow(by: bytesMax)
        now.after = page.next
        return try await backend.events(now, in: place)
    }
}

extension EventsResponse {
    fileprivate var bytes: Int { events.reduce(0) { $0 + $1.body.count } }
}

/// The events behind a position, as they come, until the connection, the key or the gateway ends. A client
/// that comes back elsewhere names the last event that it got.
private struct EventStream: AsyncSequence, Sendable {
    let api: GatewayAPI
    let client: APIClient
    let ask: EventsRequest
    let first: EventsResponse
    let share: SharedMemory.Share
    let wait: Duration
    let place: EventPlace

    func makeAsyncIterator() -> Iterator {
        var ask = ask
        (ask.fromNewest, ask.wait) = (false, wait)
        return Iterator(api: api, client: client, ask: ask, place: place, page: first, share: share)
    }

    struct Iterator: AsyncIteratorProtocol {
        /// Limit: how long a stream pauses that exceeds a rate or its share of memory, before it asks again.
        private static let pauseMax = Duration.seconds(1)

        let api: GatewayAPI
        let client: APIClient
        var ask: EventsRequest
        let place: EventPlace
        /// The page that is written next; nil if it has yet to be read.
        var page: EventsResponse?
        /// Holds the memory of the page that was written last.
        let share: SharedMemory.Share

        mutating func next() async throws -> ByteBuffer? {
            if let page = page.take() { return try await text(of: page) }
            share.settle(0)
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return nil }
            do {
                try api.rates.check(client, now: .now())
                guard let page = try await api.events(ask, share, in: place) else { return nil }
                return try await text(of: page)
            } catch let error as RTMError where error.code == .operationRateExceedLimitation {
                try await Task.sleep(for: Swift.min(error.retryAfter ?? Self.pauseMax, Self.pauseMax))
                return place.isOver(now: Date()) ? nil : Self.comment
            }
        }

        private static let comment = ByteBuffer(string: ":\n\n")

        /// Without an event it is a comment, with the place to come back to: a client that has got no event
        /// yet, or none of its types, names that.
        private mutating func text(of page: EventsResponse) async throws -> ByteBuffer {
            ask.after = page.next
            guard !page.events.isEmpty else {
                return ByteBuffer(string: ":\nid: \(EventCursor.text(page.next))\n\n")
            }
            let app = client.app
            let text = try await api.memory.work.run(bytes: page.bytes, for: client) {
                let events = page.events.map { event in
                    let body = EventBody(event, app: app)
                    return "id: \(body.id)\nevent: \(body.type)\ndata: \(Response.text(json: body))\n\n"
                }
                return ByteBuffer(string: events.joined())
            }
            share.settle(text.readableBytes)
            api.rates.charge(bytes: text.readableBytes, to: client, now: .now())
            return text
        }
    }
}
