import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMStorageClient
import RTMWire
import SwiftProtobuf

/// What the tasks that answer HTTP requests call: each call is one hop to the loop of the links, and back. A
/// task that is on that loop already doesn't hop.
struct Backend: Sendable {
    let calls: NIOLoopBound<GatewayCalls>
    let eventLoop: any EventLoop

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
    }

    private func ask<Value: Sendable>(
        _ body: @escaping @Sendable (GatewayCalls, @escaping GatewayCalls.Answer<Value>) -> Void
    ) async throws(RTMError) -> Value {
        let outcome = await withCheckedContinuation { continuation in
            onLoop { body(calls.value) { continuation.resume(returning: $0) } }
        }
        return try outcome.get()
    }

    // MARK: Messages

    /// What became of a message that was sent with this Idempotency-Key before; nil if the log has none.
    func first(of message: GatewayMessage) async -> BackendPublishResponse? {
        let results = await publish([message.asQuestion])
        guard let response = try? results.first?.get(), response.outcome == .repeated else { return nil }
        return response
    }

    /// Publishes all of them, and returns what became of each. Those to one channel keep their order.
    func publish(_ messages: [GatewayMessage]) async -> [Result<BackendPublishResponse, RTMError>] {
        guard !messages.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            onLoop {
                let results = AnswerGroup<BackendPublishResponse>(count: messages.count) {
                    continuation.resume(returning: $0)
                }
                let bound = NIOLoopBound(results, eventLoop: eventLoop)
                for (index, message) in messages.enumerated() {
                    calls.value.publish(message) { bound.value.received($0, at: index) }
                }
            }
        }
    }

    /// What all shards have of an app's channels, ordered by name. One that doesn't answer fails the list.
    func list(_ request: ListRequest) async throws(RTMError) -> ListResponse {
        let answers: [Result<ListResponse, RTMError>] = await withCheckedContinuation { continuation in
            onLoop {
                let count = calls.value.shardCount
                let results = AnswerGroup<ListResponse>(count: count) { continuation.resume(returning: $0) }
                let bound = NIOLoopBound(results, eventLoop: eventLoop)
                for shard in 0..<count {
                    calls.value.list(request, in: shard) { bound.value.received($0, at: shard) }
                }
            }
        }
        var (rows, hasMore, total) = ([ListedChannel](), false, UInt64(0))
        for answer in answers {
            let page = try answer.get()
            rows += page.channels
            hasMore = hasMore || page.hasMore
            total += page.total
        }
        rows.sort { $0.name < $1.name }
        let limit = Int(request.limit)
        if rows.count > limit {
            hasMore = true
            rows.removeLast(rows.count - limit)
        }
        return ListResponse(channels: rows, hasMore: hasMore, total: total)
    }

    /// What messaging has of one channel; of a user, nil if nobody is online.
    func listing(_ channel: ChannelKey) async throws(RTMError) -> ListedChannel? {
        let request = ListRequest(appID: channel.appID, type: channel.type, limit: 1, name: channel.name)
        let answer: ListResponse = try await ask {
            $0.list(request, in: $0.shard(of: channel), $1)
        }
        return answer.channels.first
    }

    /// What messaging knows of a channel, and of an entry of it.
    func explain(_ request: ExplainRequest) async throws(RTMError) -> ExplainedLog {
        try await ask { $0.explain(request, $1) }
    }

    /// Stores a message that was published at that time, or that nobody was there to receive.
    func appendHistory(_ message: GatewayMessage, at time: LogTime) async throws(RTMError) {
        let _: NoContent = try await ask { $0.appendHistory(message, at: time, $1) }
    }

    // MARK: Calls

    /// - Parameters:
    ///   - client: who asks. What a user of a token may not do at an edge is refused here, too.
    ///   - user: as whom the call is made; empty for the backend itself.
    func presence(
        _ body: Rtm_Client_ClientFrame.OneOf_Body, by client: APIClient, as user: String = ""
    ) async throws -> Rtm_Client_ServerFrame.OneOf_Body {
        let (caller, request) = (Self.caller(client.app, user), Self.frame(body))
        try client.checkCall(request)
        return try Self.body(try await ask { $0.callPresence(caller, request, $1) })
    }

    func storage(
        _ body: Rtm_Client_ClientFrame.OneOf_Body, _ errors: CallErrors, by client: APIClient,
        as user: String = ""
    ) async throws -> Rtm_Client_ServerFrame.OneOf_Body {
        let (caller, request) = (Self.caller(client.app, user), Self.frame(body))
        try client.checkCall(request)
        return try Self.body(try await ask { $0.callStorage(caller, request, errors, $1) })
    }

    /// Asks storage.
    func ask<Request: StorageRequesting & Sendable, Response: ArenaDecodable & Sendable>(
        _ method: ServiceMethod<Request, Response>, _ request: Request, errors: CallErrors = .storage
    ) async throws(RTMError) -> Response {
        try await ask { $0.ask(method, request, errors: errors, $1) }
    }

    /// Asks storage, and doesn't wait: the answer comes later.
    func ask<Request: StorageRequesting & Sendable, Response: ArenaDecodable & Sendable>(
        _ method: ServiceMethod<Request, Response>, _ request: Request,
        _ answer: @escaping GatewayCalls.Answer<Response>
    ) {
        eventLoop.execute { calls.value.ask(method, request, answer) }
    }

    /// What all event loops of edges say.
    func askEdges(_ query: EdgeQuery) async throws(RTMError) -> EdgeReports {
        try await ask { $0.askEdges(query, $1) }
    }

    func bans(_ place: BansRequest) async throws(RTMError) -> BansResponse {
        try await ask { $0.listBans(place, $1) }
    }

    // MARK: Events

    /// Reads the events of an app after a position. Waits for as long as the request says if there is none.
    ///
    /// - Returns: nil if the key to which the place was given has ended meanwhile.
    func events(_ request: EventsRequest, in place: EventPlace) async throws(RTMError) -> EventsResponse? {
        var request = request
        request.wait = place.wait(request.wait, now: Date())
        let read = request
        let outcome: Result<EventsResponse, RTMError>? = await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            place.end.then { answer.give(nil) }
            onLoop { calls.value.ask(StorageMethod.events, read) { answer.give($0) } }
        }
        return place.isOver(now: Date()) ? nil : try outcome?.get()
    }

    private static func caller(_ app: String, _ user: String) -> Caller {
        Caller(appID: app, userID: user, session: SessionID(rawValue: 0))
    }

    private static func frame(_ body: Rtm_Client_ClientFrame.OneOf_Body) -> ByteBuffer {
        let frame = Rtm_Client_ClientFrame.with { $0.body = body }
        // It has no required fields, so it can always be written.
        let bytes: [UInt8] = (try? frame.serializedBytes()) ?? []
        return ByteBuffer(bytes: bytes)
    }

    private static func body(
        _ answer: ByteBuffer
    ) throws(RTMError) -> Rtm_Client_ServerFrame.OneOf_Body {
        guard let frame = try? Rtm_Client_ServerFrame(serializedBytes: Array(answer.readableBytesView)),
            let body = frame.body
        else { throw RTMError(.serviceNotSupport, "the response of a service can't be read") }
        return body
    }
}

/// Gathers the answers to several requests. It is confined to the loop of the links.
final class AnswerGroup<Value> {
    private var results: [Result<Value, RTMError>?]
    private var missing: Int
    private let finish: ([Result<Value, RTMError>]) -> Void

    init(count: Int, _ finish: @escaping ([Result<Value, RTMError>]) -> Void) {
        results = Array(repeating: nil, count: count)
        missing = count
        self.finish = finish
        if count == 0 { finish([]) }
    }

    func received(_ result: Result<Value, RTMError>, at index: Int) {
        results[index] = result
        missing -= 1
        if missing == 0 { finish(results.compactMap { $0 }) }
    }
}
