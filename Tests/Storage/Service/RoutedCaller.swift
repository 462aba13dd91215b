import Logging
import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceLink
import RTMStorageClient
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Synchronization
import Testing

/// An edge whose calls go to the storage nodes that lead, by the client of production.
final class RoutedCaller: StorageCalling {
    private let loop: any EventLoop
    private let end: NIOLoopBound<RoutedEnd>

    private init(_ end: NIOLoopBound<RoutedEnd>, on loop: any EventLoop) {
        self.end = end
        self.loop = loop
    }

    static func connected(to address: ServiceLinkAddress, on loop: any EventLoop) async throws -> RoutedCaller
    {
        let end = try await loop.submit {
            var link = ServiceLinkConfiguration()
            // Longer than any pause of a test: calls end because another node leads.
            link.heartbeatDeadline = .seconds(60)
            let client = StorageClient(
                to: [address], link, node: "test", timeout: .seconds(30), endOfTurn: .shared(on: loop),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            let end = RoutedEnd(client)
            client.start(caller: end)
            return NIOLoopBound(end, eventLoop: loop)
        }.get()
        let caller = RoutedCaller(end, on: loop)
        try await eventually("every shard has a leader") { try await caller.isWhole }
        return caller
    }

    func close() async throws { try await loop.submit { self.end.value.client.shutdown() }.get() }

    /// How often a node has begun to lead.
    var ups: Int { get async throws { try await loop.submit { self.end.value.ups }.get() } }

    /// How many calls have found their shard without a leader, from the end of one to the announcement of the
    /// next. A leader that announces itself while the one before still leads takes the shard over at once.
    var leaderlessCalls: Int {
        get async throws { try await loop.submit { self.end.value.leaderlessCalls }.get() }
    }

    /// Whether every shard has a leader.
    var isWhole: Bool { get async throws { try await loop.submit { self.end.value.isWhole }.get() } }

    /// Who is banned, as the node says that leads the app's shard; nil until it has said all.
    var banned: Set<String>? { get async throws { try await loop.submit { self.end.value.banned }.get() } }

    func call(
        _ body: Rtm_Client_ClientFrame.OneOf_Body, by caller: RTMWire.Caller
    ) async throws -> Rtm_Client_ServerFrame {
        var frame = Rtm_Client_ClientFrame()
        frame.body = body
        let field: [UInt8] = try frame.serializedBytes()
        let answer = try await withCheckedThrowingContinuation { continuation in
            loop.execute { self.end.value.call(field, by: caller, continuation) }
        }
        return try Rtm_Client_ServerFrame(serializedBytes: answer)
    }

    func ban(_ user: String) async throws {
        let ban = Ban(
            appID: "app", userID: user, untilMilliseconds: .max / 2, reason: "r", endsSession: false, by: "t")
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { self.end.value.ban(ban, continuation) }
        }
    }
}

private final class RoutedEnd: StorageEdge {
    let client: StorageClient
    private(set) var ups = 0
    private(set) var leaderlessCalls = 0
    private var leaderless: Set<Int> = []
    private(set) var isWhole = false
    private var listed: Set<String> = []
    private(set) var banned: Set<String>?
    private var calls: [Int: CheckedContinuation<[UInt8], any Error>] = [:]
    private var last = 0

    init(_ client: StorageClient) { self.client = client }

    func call(
        _ field: [UInt8], by caller: RTMWire.Caller, _ continuation: CheckedContinuation<[UInt8], any Error>
    ) {
        last += 1
        calls[last] = continuation
        field.withUnsafeBytes {
            let request = CallRequest(caller: caller, request: WireText($0))
            if let channel = request.storedChannel, leaderless.contains(client.shard(of: channel)) {
                leaderlessCalls += 1
            }
            client.call(request, context: last)
        }
    }

    func ban(_ ban: Ban, _ continuation: CheckedContinuation<Void, any Error>) {
        client.call(StorageMethod.ban, ban) {
            continuation.resume(with: $0.map { _ in }.mapError(Self.cause))
        }
    }

    func storageIsUp(_ shard: Int, isWhole: Bool) {
        ups += 1
        leaderless.remove(shard)
        self.isWhole = isWhole
        if shard == client.shard(of: .app("app")) { (listed, banned) = ([], nil) }
    }

    func storageIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) {
        leaderless.insert(shard)
        isWhole = false
    }

    func storageCalled(
        _ context: Int, in shard: Int, _ outcome: ServiceLinkResult<StorageCallResponse>
    ) {
        let answer = outcome.map { Array($0.response.bytes) }.mapError(Self.cause)
        calls.removeValue(forKey: context)?.resume(with: answer)
    }

    /// What storage said, if it has refused the call.
    private static func cause(_ failure: ServiceLinkRequestFailure) -> any Error {
        if case .refused(let error) = failure { error } else { failure }
    }

    func storageBanned(_ ban: Ban, in shard: Int) -> BanReport {
        guard shard == client.shard(of: .app("app")) else {
            return BanReport(number: ban.number, isAppKnown: false, sessions: 0)
        }
        if !ban.userID.isEmpty { listed.insert(ban.userID) }
        if ban.userID.isEmpty || banned != nil { banned = listed }
        return BanReport(number: ban.number, isAppKnown: true, sessions: 0)
    }

    func historyAppended(_ context: Int, _ outcome: ServiceLinkResult<NoContent>) {}
    func storageGranted(_ push: LockGrantedPush, in shard: Int) {}
    func storageSnapshot(_ context: Int, _ outcome: ServiceLinkResult<SnapshotResponse>) {}
}
