import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMWire
import SwiftProtobuf

/// What the tasks that answer HTTP requests call: each call is one hop to the loop of the links, and back.
struct Backend: Sendable {
    let calls: NIOLoopBound<GatewayCalls>
    let eventLoop: any EventLoop

    private func ask<Value: Sendable>(
        _ body: @escaping @Sendable (GatewayCalls, @escaping GatewayCalls.Answer<Value>) -> Void
    ) async throws(RTMError) -> Value {
        let outcome = await withCheckedContinuation { continuation in
            eventLoop.execute { body(calls.value) { continuation.resume(returning: $0) } }
        }
        return try outcome.get()
    }

    // MARK: Messages

    /// Publishes all of them, and returns what became of each. Those to one channel keep their order.
    func publish(_ messages: [GatewayMessage]) async -> [Result<PublishResponse, RTMError>] {
        guard !messages.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            eventLoop.execute {
                let results = PublishResults(count: messages.count) { continuation.resume(returning: $0) }
                let bound = NIOLoopBound(results, eventLoop: eventLoop)
                for (index, message) in messages.enumerated() {
                    calls.value.publish(message) { bound.value.received($0, at: index) }
                }
            }
        }
    }

    /// Stores a message that was published at that time, or that nobody was there to receive.
    func appendHistory(_ message: GatewayMessage, at milliseconds: UInt64) async throws(RTMError) {
        try await ask { $0.appendHistory(message, at: milliseconds, $1) }
    }

    // MARK: Calls

    /// - Parameter user: as whom the call is made; empty for the backend itself.
    func presence(
        _ body: Rtm_Client_ClientFrame.OneOf_Body, app: String, user: String = ""
    ) async throws(RTMError) -> Rtm_Client_ServerFrame.OneOf_Body {
        let (caller, request) = (Self.caller(app, user), Self.frame(body))
        return try Self.body(try await ask { $0.callPresence(caller, request, $1) })
    }

    func storage(
        _ body: Rtm_Client_ClientFrame.OneOf_Body, _ errors: CallErrors, app: String, user: String = ""
    ) async throws(RTMError) -> Rtm_Client_ServerFrame.OneOf_Body {
        let (caller, request) = (Self.caller(app, user), Self.frame(body))
        return try Self.body(try await ask { $0.callStorage(caller, request, errors, $1) })
    }

    func ban(_ ban: Ban) async throws(RTMError) -> BanOutcome { try await ask { $0.ban(ban, $1) } }

    func bans(_ place: BansRequest) async throws(RTMError) -> BansResponse {
        try await ask { $0.listBans(place, $1) }
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

/// Gathers the answers to several publishes. It is confined to the loop of the links.
private final class PublishResults {
    private var results: [Result<PublishResponse, RTMError>?]
    private var missing: Int
    private let finish: ([Result<PublishResponse, RTMError>]) -> Void

    init(count: Int, _ finish: @escaping ([Result<PublishResponse, RTMError>]) -> Void) {
        results = Array(repeating: nil, count: count)
        missing = count
        self.finish = finish
    }

    func received(_ result: Result<PublishResponse, RTMError>, at index: Int) {
        results[index] = result
        missing -= 1
        if missing == 0 { finish(results.compactMap { $0 }) }
    }
}
