import Logging
import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceLink
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Synchronization
import Testing

/// An edge as storage sees it: it calls for many users over one link, and learns who gets which lock.
final class StorageConnection: StorageCalling {
    private let loop: any EventLoop
    private let end: NIOLoopBound<End>
    private let lastNumber = Mutex(0)
    private let state: CallerState

    private init(loop: any EventLoop, end: NIOLoopBound<End>, state: CallerState) {
        self.loop = loop
        self.end = end
        self.state = state
    }

    /// - Parameter waits: whether until the node serves.
    static func connected(
        to address: ServiceLinkAddress, on loop: any EventLoop, waits: Bool = true
    ) async throws -> StorageConnection {
        let state = CallerState()
        let end = try await loop.submit {
            var configuration = ServiceLinkClientConfiguration(service: "storage", node: "test")
            configuration.backoff = Backoff(first: .milliseconds(5), longest: .milliseconds(50))
            let link = ServiceLinkClient(
                configuration, to: address, endOfTurn: EndOfTurn.shared(on: loop),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            let end = End(link, state: state)
            link.start(delegate: end)
            return NIOLoopBound(end, eventLoop: loop)
        }.get()
        let caller = StorageConnection(loop: loop, end: end, state: state)
        if waits { try await caller.up() }
        return caller
    }

    /// Waits until the node serves over the link.
    func up() async throws {
        try await eventually("storage serves") { state.isUp.withLock { $0 } }
    }

    func close() async throws { try await loop.submit { self.end.value.link.shutdown() }.get() }

    /// Sends a client's request with its one field, and returns the frame that answers it. A wait in line
    /// lasts until its end.
    func call(
        _ body: Rtm_Client_ClientFrame.OneOf_Body, by caller: RTMWire.Caller
    ) async throws -> Rtm_Client_ServerFrame {
        var frame = Rtm_Client_ClientFrame()
        frame.body = body
        let field: [UInt8] = try frame.serializedBytes()
        let response = try await request(StorageMethod.call.number) { link, timeout, context in
            try field.withUnsafeBytes { bytes in
                try link.request(
                    StorageMethod.call.number, CallRequest(caller: caller, request: WireText(bytes)),
                    timeout: timeout, context: context)
            }
        }
        return try Rtm_Client_ServerFrame(serializedBytes: response)
    }

    func snapshot(_ request: SnapshotRequest) async throws -> [Rtm_Client_ServerFrame] {
        let bytes = try await self.request(StorageMethod.snapshot.number) { link, timeout, context in
            try link.request(StorageMethod.snapshot.number, request, timeout: timeout, context: context)
        }
        return try frames(bytes)
    }

    func appendHistory(
        to channel: ChannelKey, by publisher: String, at time: UInt64, _ payload: [UInt8],
        type: MessageType = .text,
        customType: String = "", origin: PublishOrigin = .none
    ) async throws {
        _ = try await request(StorageMethod.appendHistory.number) { link, timeout, context in
            try payload.withUnsafeBytes { payload in
                try customType.withWireText { customType in
                    Result {
                        try link.request(
                            StorageMethod.appendHistory.number,
                            AppendHistoryRequest(
                                channel: channel, publisher: publisher, timestampMilliseconds: time,
                                message: MessageView(
                                    type: type, payload: WireText(payload), customType: customType),
                                origin: origin),
                            timeout: timeout, context: context)
                    }
                }.get()
            }
        }
    }

    func events(
        after position: StreamPosition, wait: Duration = .zero, appID: String = "app"
    ) async throws -> EventsResponse {
        let bytes = try await request(StorageMethod.events.number) { link, timeout, context in
            try link.request(
                StorageMethod.events.number,
                EventsRequest(appID: appID, after: position, limit: 1_000, wait: wait), timeout: timeout,
                context: context)
        }
        return try bytes.withUnsafeBytes { try EventsResponse($0, in: DecodeArena()) }
    }

    /// How many requests stand in line for a lock.
    var inLine: Int { get async throws { try await loop.submit { self.end.value.tickets.count }.get() } }

    func push(_ caller: RTMWire.Caller, _ change: SessionChange, _ channel: ChannelKey? = nil) async throws {
        try await loop.submit {
            _ = self.end.value.link.push(
                StorageMethod.session.number, SessionPush(caller: caller, change: change, channel: channel))
        }.get()
    }

    private func request(
        _ method: UInt32,
        _ send: @escaping @Sendable (ServiceLinkClient, Duration, Int) throws -> Void
    ) async throws -> [UInt8] {
        let number = lastNumber.withLock {
            $0 += 1
            return $0
        }
        return try await withCheckedThrowingContinuation { continuation in
            loop.execute {
                let end = self.end.value
                end.waiting[number] = End.Waiting(method: method, continuation: continuation)
                do {
                    try send(end.link, .seconds(30), number)
                } catch {
                    end.complete(number, .failure(error))
                }
            }
        }
    }
}

private final class CallerState: Sendable {
    let isUp = Mutex(false)
}

private final class End: ServiceLinkClientDelegate {
    struct Waiting {
        let method: UInt32
        let continuation: CheckedContinuation<[UInt8], any Error>
    }

    let link: ServiceLinkClient
    private let state: CallerState
    private let arena = DecodeArena()
    var waiting: [Int: Waiting] = [:]
    /// The requests that stand in line, by ticket.
    private(set) var tickets: [UInt64: Int] = [:]

    init(_ link: ServiceLinkClient, state: CallerState) {
        self.link = link
        self.state = state
    }

    func complete(_ number: Int, _ result: Result<[UInt8], any Error>) {
        waiting.removeValue(forKey: number)?.continuation.resume(with: result)
    }

    func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) {
        if !peer.announcesLeader { state.isUp.withLock { $0 = true } }
    }

    func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        state.isUp.withLock { $0 = false }
        for number in tickets.values { complete(number, .failure(ServiceLinkRequestFailure.disconnected)) }
        tickets = [:]
    }

    func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        switch outcome {
        case .success(let body): answered(context, body)
        case .failed(let error): complete(context, .failure(error))
        case .timedOut: complete(context, .failure(ServiceLinkRequestFailure.timedOut))
        case .disconnected: complete(context, .failure(ServiceLinkRequestFailure.disconnected))
        }
    }

    private func answered(_ number: Int, _ body: UnsafeRawBufferPointer) {
        do {
            switch waiting[number]?.method {
            case StorageMethod.call.number:
                let response = try StorageCallResponse(body, in: arena)
                guard response.response.isEmpty, response.ticket != 0 else {
                    return complete(number, .success(Array(response.response.bytes)))
                }
                tickets[response.ticket] = number
            case StorageMethod.snapshot.number:
                complete(number, .success(Array(try SnapshotResponse(body, in: arena).frames.bytes)))
            default: complete(number, .success(Array(body)))
            }
        } catch {
            complete(number, .failure(error))
        }
    }

    func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        if method == StorageMethod.leader.number { state.isUp.withLock { $0 = true } }
        guard method == StorageMethod.lockGranted.number, let push = try? LockGrantedPush(scanning: body),
            let number = tickets.removeValue(forKey: push.ticket)
        else { return }
        complete(number, push.error.map { .failure($0) } ?? .success(Array(push.response.bytes)))
    }
}

/// Splits frames by their length prefixes.
func frames(_ bytes: [UInt8]) throws -> [Rtm_Client_ServerFrame] {
    var frames: [Rtm_Client_ServerFrame] = []
    var rest = bytes[...]
    while rest.count >= 4 {
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        frames.append(try Rtm_Client_ServerFrame(serializedBytes: Array(rest.prefix(length))))
        rest = rest.dropFirst(length)
    }
    return frames
}
