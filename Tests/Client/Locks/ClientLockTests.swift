import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Synchronization
import Testing

/// Locks over a real socket.
@Suite(.ends(withinMinutes: 1))
struct ClientLockTests {
    /// Grants every lock with this token, and answers everything else about locks by Done.
    private static func granting(_ token: UInt64) -> FakeEdge.Script {
        { frame in
            switch frame.body {
            case .acquireLock: [FakeEdge.answer(to: frame) { $0.lockAcquired.fencingToken = token }]
            case .setLock, .removeLock, .releaseLock, .revokeLock:
                [FakeEdge.answer(to: frame) { $0.done = Rtm_Client_Done() }]
            default: [FakeEdge.usual(frame)].compactMap { $0 }
            }
        }
    }

    /// Like `granting`, but an acquisition waits, and a claim is refused.
    private static let busy: FakeEdge.Script = { frame in
        guard case .acquireLock(let request) = frame.body else { return granting(0)(frame) }
        return request.heldToken > 0 ? [FakeEdge.refusal(of: frame, .errorLockNotAcquired)] : []
    }

    private static func detail(
        _ name: String, _ owner: String, token: UInt64 = 0
    ) -> Rtm_Client_LockDetail {
        .with { ($0.name, $0.owner, $0.ttlS, $0.fencingToken) = (name, owner, 30, token) }
    }

    private static func snapshot(
        _ locks: [Rtm_Client_LockDetail], revision: UInt64
    ) -> Rtm_Client_ServerFrame {
        .with { frame in
            (frame.locks.channelType, frame.locks.channel) = (.message, "lobby")
            (frame.locks.revision, frame.locks.locks) = (revision, locks)
        }
    }

    private static func event(
        _ type: Rtm_Client_LockEventType, _ lock: Rtm_Client_LockDetail, revision: UInt64, offset: UInt64
    ) -> Rtm_Client_ServerFrame {
        .with { frame in
            (frame.publication.channelType, frame.publication.channel) = (.message, "lobby")
            (frame.publication.offset, frame.publication.timestampMs) = (offset, 1_790_000_000_000 + offset)
            frame.publication.lock = .with { ($0.type, $0.lock, $0.revision) = (type, lock, revision) }
        }
    }

    // MARK: Calls

    @Test func `Each call carries its fields; acquiring returns the fencing token`() async throws {
        try await withClient(Self.granting(7)) { client, edge in
            try await client.setLock("manage", in: "lobby", ttl: .seconds(400))
            #expect(edge.received.last?.setLock.ttlS == 300, "L-40")
            try await client.setLock("manage", in: "lobby", type: .stream, ttl: .seconds(-1))
            #expect(edge.received.last?.setLock.ttlS == 10)
            #expect(edge.received.last?.setLock.channelType == .stream)
            #expect(try await client.acquireLock("manage", in: "lobby") == 7)
            #expect(edge.received.last?.acquireLock.retry == false)
            try await client.releaseLock("manage", in: "lobby")
            try await client.revokeLock("manage", from: "bob", in: "lobby")
            #expect(edge.received.last?.revokeLock.owner == "bob")
            try await client.removeLock("manage", in: "lobby")
            #expect(edge.received.last?.removeLock.name == "manage")
        }
    }

    @Test func `K-10: all locks are listed with their owners`() async throws {
        let script: FakeEdge.Script = { frame in
            guard case .getLocks = frame.body else { return [FakeEdge.usual(frame)].compactMap { $0 } }
            return [
                FakeEdge.answer(to: frame) {
                    $0.locks.locks = [Self.detail("a", "bob", token: 4), Self.detail("b", "")]
                }
            ]
        }
        try await withClient(script) { client, _ in
            var locks = try await client.locks(of: "lobby")
            #expect(locks.allSatisfy { $0.timestampMilliseconds > 1_700_000_000_000 }, "when it was so")
            for index in locks.indices { locks[index].timestampMilliseconds = 0 }
            #expect(
                locks == [
                    LockDetail(name: "a", owner: "bob", ttl: .seconds(30), fencingToken: 4),
                    LockDetail(name: "b", owner: nil, ttl: .seconds(30)),
                ])
        }
    }

    @Test func `K-1, L-11: a name that no lock can have is refused before anything is sent`() async throws {
        try await withClient { client, edge in
            let sent = edge.received.count
            func setting(_ name: String, _ channel: String, _ type: ChannelType = .message) async
                -> ErrorCode?
            {
                await code { try await client.setLock(name, in: channel, type: type) }
            }
            #expect(await setting("x", "bob", .user) == .invalidChannelType)
            #expect(await setting("x", "a.b") == .invalidChannelName)
            #expect(await setting("", "lobby") == .lockInvalidName)
            #expect(await setting(String(repeating: "x", count: 65), "lobby") == .lockInvalidName)
            #expect(
                await code { try await client.revokeLock("x", from: "", in: "lobby") } == .invalidUserId)
            #expect(edge.received.count == sent)
        }
    }

    @Test func `K-7: a second acquire of one lock is refused while the first waits`() async throws {
        try await withClient(Self.busy) { client, edge in
            let first = Task { try await client.acquireLock("manage", in: "lobby", waits: true) }
            try await eventually("it waits") { edge.received.contains(where: \.isAcquireLock) }
            #expect(
                await code { _ = try await client.acquireLock("manage", in: "lobby") }
                    == .lockOperationPerforming)
            first.cancel()
            #expect(await first.result.rtmError?.code == .cancelled)
        }
    }

    @Test func `K-4: waiting for a lock has no time limit, but other calls have one`() async throws {
        let script: FakeEdge.Script = { frame in
            switch frame.body {
            case .acquireLock, .getLocks: []
            default: [FakeEdge.usual(frame)].compactMap { $0 }
            }
        }
        let change: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(50) }
        try await withClient(script, change) { client, edge in
            let wait = Task { try await client.acquireLock("manage", in: "lobby", waits: true) }
            #expect(
                await code { _ = try await client.acquireLock("other", in: "lobby") } == .lockOperationTimeout
            )
            #expect(await code { _ = try await client.locks(of: "lobby") } == .lockOperationTimeout)
            let id = edge.received.first { $0.isAcquireLock && $0.acquireLock.retry }?.requestID ?? 0
            edge.push([
                .with {
                    $0.requestID = id
                    $0.lockAcquired.fencingToken = 9
                }
            ])
            let token = try await wait.value
            #expect(token == 9)
        }
    }

    @Test func `2.1.9: an acquire that is not awaited any more is released, however late it is answered`()
        async throws
    {
        try await withClient(Self.busy) { client, edge in
            let wait = Task { try await client.acquireLock("manage", in: "lobby", waits: true) }
            try await eventually("it waits") { edge.received.contains(where: \.isAcquireLock) }
            let id = edge.received.last?.requestID ?? 0
            wait.cancel()
            #expect(await wait.result.rtmError?.operation == "acquireLock")
            try await eventually("withdrawn") { edge.received.filter(\.isReleaseLock).count == 1 }
            edge.push([
                .with {
                    $0.requestID = id
                    $0.lockAcquired.fencingToken = 9
                }
            ])
            try await eventually("released") { edge.received.filter(\.isReleaseLock).count == 2 }
        }
    }

    // MARK: withLock

    @Test func `withLock releases after success, after an error, and when its task is cancelled`()
        async throws
    {
        struct Trouble: Error {}
        try await withClient(Self.granting(7)) { client, edge in
            func releases() -> Int { edge.received.filter(\.isReleaseLock).count }
            let value = try await client.withLock("manage", in: "lobby") { token in "\(token)" }
            #expect(value == "7" && releases() == 1)
            await #expect(throws: Trouble.self) {
                try await client.withLock("manage", in: "lobby") { _ in throw Trouble() }
            }
            #expect(releases() == 2)
            let begun = AsyncStream.makeStream(of: Void.self)
            let work = Task {
                try await client.withLock("manage", in: "lobby") { _ in
                    begun.continuation.finish()
                    let (never, open) = AsyncStream.makeStream(of: Void.self)
                    for await _ in never {}
                    open.finish()
                    try Task.checkCancellation()
                }
            }
            for await _ in begun.stream {}
            work.cancel()
            #expect(await work.result.error is CancellationError)
            #expect(releases() == 3)
        }
    }

    @Test func `A lock that withLock could not release for lack of a connection is released on the next one`()
        async throws
    {
        let change: (inout RTMClient.Configuration) -> Void = {
            $0.timing.firstRetryDelay = .milliseconds(200)
        }
        try await withClient(Self.granting(7), change) {
            client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.withLock("manage", in: "lobby") { _ in
                edge.dropConnections()
                _ = await events.nextLinkState(.disconnected)
            }
            _ = await events.nextLinkState(.connected)
            try await eventually("released") { edge.received.contains(where: \.isReleaseLock) }
            #expect(edge.received.filter(\.isAcquireLock).count == 1, "it isn't claimed")
        }
    }

    // MARK: Events

    @Test func `K-13, K-14, K-17: a snapshot, then every transition once`() async throws {
        try await withClient { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.lock])
            let manage = Self.detail("manage", "bob", token: 4)
            edge.push([
                Self.snapshot([manage], revision: 10),
                Self.event(.lockEventAcquired, manage, revision: 10, offset: 1),
                Self.event(.lockEventReleased, manage, revision: 11, offset: 2),
                Self.event(.lockEventReleased, manage, revision: 11, offset: 2),
                Self.event(.lockEventRemoved, Self.detail("manage", "", token: 4), revision: 12, offset: 3),
            ])
            let snapshot = await events.nextLock()
            #expect(snapshot?.kind == .snapshot)
            #expect(snapshot?.locks.first?.owner == "bob")
            let released = await events.nextLock()
            #expect(released?.kind == .released && released?.locks.first?.owner == "bob")
            #expect(released?.channelName == "lobby" && released?.channelType == .message)
            #expect(released?.timestampMilliseconds == 1_790_000_000_002)
            #expect(await events.nextLock()?.kind == .removed)
        }
    }

    // MARK: Coming back

    @Test func `K-12: a lock that is still there is claimed with its token, and no event follows`()
        async throws
    {
        try await withClient(Self.granting(7)) { client, edge in
            var events = client.events().makeAsyncIterator()
            _ = try await client.acquireLock("manage", in: "lobby")
            edge.dropConnections()
            _ = await events.nextLinkState(.connected)
            #expect(edge.received.last(where: \.isAcquireLock)?.acquireLock.heldToken == 7)
            try await client.releaseLock("manage", in: "lobby")
            edge.dropConnections()
            let login = edge.received.count
            _ = await events.nextLinkState(.connected)
            #expect(edge.received[login...].filter(\.isAcquireLock).isEmpty, "it is held no more")
        }
    }

    @Test func `K-12, S-21: a lost lock is announced after the return and before the snapshot`() async throws
    {
        try await withClient(Self.granting(7)) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby", features: [.lock, .message])
            _ = try await client.acquireLock("manage", in: "lobby")
            _ = try await client.acquireLock("other", in: "lobby")
            let claim = Mutex<Rtm_Client_ClientFrame?>(nil)
            edge.follow { frame in
                switch frame.body {
                case .acquireLock(let request) where request.name == "manage":
                    // The answer comes as late as possible.
                    claim.withLock { $0 = frame }
                    return []
                case .subscribe:
                    let answer = [FakeEdge.usual(frame)].compactMap { $0 }
                    let refusal = claim.withLock { $0 }.map {
                        FakeEdge.refusal(of: $0, .errorLockNotAcquired)
                    }
                    let snapshot = Self.snapshot([Self.detail("manage", "bob", token: 9)], revision: 20)
                    let message = FakeEdge.publication("lobby", offset: 1, text: "hi")
                    return answer + [snapshot, message] + [refusal].compactMap { $0 }
                default:
                    return Self.granting(7)(frame)
                }
            }
            edge.dropConnections()
            var seen: [String] = []
            while seen.count < 4, let event = await events.next() {
                switch event {
                case .linkState(let change) where change.currentState == .connected:
                    seen.append("connected")
                case .lock(let event):
                    seen.append("\(event.kind)")
                    #expect(event.locks.map(\.name) == ["manage"])
                case .message: seen.append("message")
                default: break
                }
            }
            #expect(seen == ["connected", "expired", "snapshot", "message"])
        }
    }

    @Test func `A claim without an answer costs the lock's certainty, not the session`() async throws {
        let change: (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .milliseconds(400) }
        try await withClient(Self.granting(7), change) { client, edge in
            var events = client.events().makeAsyncIterator()
            _ = try await client.acquireLock("manage", in: "lobby")
            edge.follow { $0.isAcquireLock ? [] : Self.granting(7)($0) }
            edge.dropConnections()
            #expect(await events.nextLinkState(.connected) != nil)
            edge.follow(Self.granting(7))
            edge.dropConnections()
            let claims = edge.received.filter(\.isAcquireLock).count
            _ = await events.nextLinkState(.connected)
            #expect(edge.received.filter(\.isAcquireLock).count == claims + 1, "it is claimed again")
        }
    }

    @Test func `K-6: an acquisition that waits continues to wait over a loss of the link`() async throws {
        try await withClient(Self.busy) { client, edge in
            let wait = Task { try await client.acquireLock("manage", in: "lobby", waits: true) }
            try await eventually("it waits") { edge.received.contains(where: \.isAcquireLock) }
            // This happens before the client can be back, because the old script answers nothing.
            edge.follow(Self.granting(11))
            edge.dropConnections()
            let token = try await wait.value
            #expect(token == 11)
            #expect(edge.received.filter(\.isAcquireLock).map(\.acquireLock.retry) == [true, true])
        }
    }

    @Test(arguments: [Rtm_Client_ErrorCode.errorLockNotAvailable, .errorLockOperationFailed])
    func `K-6, R-8: an acquisition waits while the server can't be asked for the moment after a return`(
        _ code: Rtm_Client_ErrorCode
    ) async throws {
        try await withClient(Self.busy) { client, edge in
            let wait = Task { try await client.acquireLock("manage", in: "lobby", waits: true) }
            try await eventually("it waits") { edge.received.contains(where: \.isAcquireLock) }
            edge.follow { frame in
                guard frame.isAcquireLock, edge.received.filter(\.isAcquireLock).count < 3 else {
                    return Self.granting(11)(frame)
                }
                var refusal = FakeEdge.refusal(of: frame, code)
                refusal.error.retryAfterMs = 20
                return [refusal]
            }
            edge.dropConnections()
            let token = try await wait.value
            #expect(token == 11)
            #expect(edge.received.filter(\.isAcquireLock).count == 3)
        }
    }

    @Test func `K-6: an acquisition queues again when the server lost the queue`() async throws {
        try await withClient(Self.busy) { client, edge in
            let wait = Task { try await client.acquireLock("manage", in: "lobby", waits: true) }
            try await eventually("it waits") { edge.received.contains(where: \.isAcquireLock) }
            let first = try #require(edge.received.last)
            edge.follow(Self.granting(12))
            var refusal = FakeEdge.refusal(of: first, .errorLockOperationTimeout)
            refusal.error.retryAfterMs = 20
            edge.push([refusal])
            let token = try await wait.value
            #expect(token == 12)
        }
    }

    @Test func `K-6: the wait ends with the session, and with the channel`() async throws {
        let change: (inout RTMClient.Configuration) -> Void = { $0.timing.firstRetryDelay = .seconds(60) }
        try await withClient(Self.busy, change) { client, edge in
            var events = client.events().makeAsyncIterator()
            try await client.subscribe(to: "lobby")
            let left = Task { try await client.acquireLock("a", in: "lobby", waits: true) }
            let loggedOut = Task { try await client.acquireLock("b", in: "attic", waits: true) }
            let cancelled = Task { try await client.acquireLock("c", in: "attic", waits: true) }
            try await eventually("all wait") { edge.received.filter(\.isAcquireLock).count == 3 }
            edge.dropConnections()
            _ = await events.nextLinkState(.disconnected)
            try await client.unsubscribe(from: "lobby")
            #expect(await left.result.rtmError?.code == .lockOperationFailed)
            cancelled.cancel()
            #expect(await cancelled.result.rtmError?.reason.contains("cancelled") == true)
            try await client.logout()
            #expect(await loggedOut.result.rtmError?.code == .lockOperationFailed)
        }
    }

    @Test func `K-6: the wait ends with -14002 when the link is given up`() async throws {
        let impatient: (inout RTMClient.Configuration) -> Void = {
            $0.reconnectTimeout = .seconds(3)
        }
        try await withClient(Self.busy, impatient) { client, edge in
            let wait = Task { try await client.acquireLock("manage", in: "lobby", waits: true) }
            try await eventually("it waits") { edge.received.contains(where: \.isAcquireLock) }
            edge.follow { _ in [] }
            edge.dropConnections()
            #expect(await wait.result.rtmError?.code == .lockOperationTimeout)
        }
    }

    @Test func `K-8: a release whose answer was lost is repeated, and the lock isn't claimed`() async throws {
        let script: FakeEdge.Script = { frame in frame.isReleaseLock ? [] : Self.granting(7)(frame) }
        let change: @Sendable (inout RTMClient.Configuration) -> Void = { $0.requestTimeout = .seconds(5) }
        try await withClient(script, change) { client, edge in
            var events = client.events().makeAsyncIterator()
            _ = try await client.acquireLock("manage", in: "lobby")
            let release = Task { try await client.releaseLock("manage", in: "lobby") }
            try await eventually("it was sent") { edge.received.contains(where: \.isReleaseLock) }
            edge.dropConnections()
            #expect(await release.result.rtmError?.code == .notConnected)
            _ = await events.nextLinkState(.connected)
            try await eventually("once more") { edge.received.filter(\.isReleaseLock).count == 2 }
            #expect(edge.received.filter(\.isAcquireLock).count == 1)
        }
    }
}

extension Rtm_Client_ClientFrame {
    fileprivate var isAcquireLock: Bool { if case .acquireLock = body { true } else { false } }
    fileprivate var isReleaseLock: Bool { if case .releaseLock = body { true } else { false } }
}

extension Result where Failure == any Error {
    fileprivate var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }
    fileprivate var rtmError: RTMError? { error as? RTMError }
}
