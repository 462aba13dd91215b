import Logging
import NIOCore
import NIOEmbedded
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf

@testable import RTMServiceLink

/// A service that notes what it is asked and sent, and answers what the test says, when it says so.
final class FakeService {
    struct Received {
        let shard: Int
        let method: UInt32
        /// Nil of a push.
        let request: UInt64?
        let body: [UInt8]
    }

    /// Two links may have the same number for a request.
    private struct Request: Hashable {
        let shard: Int
        let id: UInt64
    }

    let endpoint: InProcessEndpoint
    private let name: String
    private let loop: EmbeddedEventLoop
    private var server: ServiceLinkServer?
    private var links: [Int: AcceptedServiceLink] = [:]
    /// By shard: the term that was announced last. Empty for a service without shards, which announces none.
    private var terms: [UInt64]
    /// In order, since the last `forget`.
    private(set) var received: [Received] = []
    private var answered: Set<Request> = []

    /// - Parameter shards: if there are several, the service leads them all, and announces that.
    init(_ name: String, shards: Int = 1, on loop: EmbeddedEventLoop) {
        self.name = name
        terms = shards == 1 ? [] : Array(repeating: 0, count: shards)
        self.loop = loop
        endpoint = InProcessEndpoint(name: name)
    }

    var isLinked: Bool { !links.isEmpty }

    func start() {
        let bound = NIOLoopBound(self, eventLoop: loop)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var configuration = ServiceLinkServerConfiguration(service: name)
        configuration.shards = max(1, terms.count)
        configuration.announcesLeader = !terms.isEmpty
        server = ServiceLinkServer(configuration, links: loop, logger: logger) { _ in bound.value }
        server?.listen(on: endpoint)
    }

    /// It is gone, and its callers notice.
    func stop() {
        endpoint.stopListening()
        for link in links.values { link.close() }
        loop.advanceTime(by: .milliseconds(1))
        received.removeAll { $0.request != nil }
    }

    /// The link of one shard is lost.
    func lose(_ shard: Int) {
        links[shard]?.close()
        loop.advanceTime(by: .milliseconds(1))
        received.removeAll { $0.shard == shard && $0.request != nil }
    }

    func forget() { received = [] }

    // MARK: What it received

    /// Bodies of one method, in order.
    func bodies<Message>(
        _ method: UInt32, _ decode: (UnsafeRawBufferPointer, borrowing DecodeArena) throws -> Message
    ) -> [Message] {
        let arena = DecodeArena()
        return received.filter { $0.method == method }.compactMap { received in
            received.body.withUnsafeBytes { try? decode($0, arena) }
        }
    }

    // MARK: What it says

    /// Answers the first request of the method that has no answer yet.
    @discardableResult
    func answer(_ method: UInt32, _ body: some WireEncodable) -> Bool {
        guard let request = open(method) else { return false }
        links[request.shard]?.respond(to: request.id, body)
        return true
    }

    func refuse(_ method: UInt32, _ error: RTMError) {
        if let request = open(method) { links[request.shard]?.fail(request.id, error) }
    }

    func push(_ method: UInt32, _ body: some WireEncodable, in shard: Int = 0) {
        _ = links[shard]?.push(method, body)
    }

    private func open(_ method: UInt32) -> Request? {
        let requests = received.lazy.filter { $0.method == method }.compactMap { received in
            received.request.map { Request(shard: received.shard, id: $0) }
        }
        let open = requests.first { !self.answered.contains($0) }
        if let open { answered.insert(open) }
        return open
    }
}

extension FakeService: ServiceLinkHandler {
    func linkOpened(_ link: AcceptedServiceLink) {
        links[link.shard] = link
        answered = answered.filter { $0.shard != link.shard }
        guard !terms.isEmpty else { return }
        terms[link.shard] += 1
        let term = terms[link.shard]
        link.push(StorageMethod.leader.number, LeaderPush(term: term, follows: term - 1))
    }

    func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason) {
        links[link.shard] = nil
    }

    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink
    ) {
        received.append(Received(shard: link.shard, method: method, request: id, body: Array(body)))
    }

    func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink) {
        received.append(Received(shard: link.shard, method: method, request: nil, body: Array(body)))
    }
}

// MARK: - Presence

extension FakeService {
    var joins: [JoinRequest] { bodies(PresenceMethod.join.number) { try JoinRequest($0, in: $1) } }
    var leaves: [LeavePush] { bodies(PresenceMethod.leave.number) { try LeavePush($0, in: $1) } }
    var ends: [SessionEndedPush] {
        bodies(PresenceMethod.sessionEnded.number) { try SessionEndedPush($0, in: $1) }
    }
    var leases: [LeaseRequest] { bodies(PresenceMethod.lease.number) { try LeaseRequest($0, in: $1) } }
    var syncs: [SyncRequest] { bodies(PresenceMethod.sync.number) { try SyncRequest($0, in: $1) } }

    /// The order in which the methods were called.
    var methods: [UInt32] { received.map(\.method) }

    @discardableResult
    func answerJoin(
        _ users: [String]? = nil, in channel: String = "lobby", isOlder: Bool = false,
        hasSetStates: Bool = false, statesCost: UInt64 = 0
    ) -> Bool {
        let snapshot = users.map { users in
            Rtm_Client_ServerFrame.with {
                $0.presenceSnapshot.channelType = .message
                $0.presenceSnapshot.channel = channel
                $0.presenceSnapshot.users = users.map { user in .with { $0.userID = user } }
            }
        }
        return Self.bytes(snapshot.map { [$0] } ?? []).withUnsafeBytes { frames in
            answer(
                PresenceMethod.join.number,
                JoinResponse(
                    position: StreamPosition(epoch: 1, offset: 0), frames: WireText(frames), isOlder: isOlder,
                    hasSetStates: hasSetStates, statesCost: statesCost))
        }
    }

    var rosters: [RosterRequest] { bodies(PresenceMethod.roster.number) { try RosterRequest($0, in: $1) } }

    func answerJoinTooBig() {
        answer(
            PresenceMethod.join.number,
            JoinResponse(position: StreamPosition(epoch: 1, offset: 0), frames: .empty, isTooBig: true))
    }

    /// A part of a snapshot, in one frame.
    ///
    /// - Parameter next: by which the next part is asked for; 0: it is the last.
    func answerRoster(_ users: [String], in channel: String, stateBytes: Int = 0, next: UInt64 = 0) {
        let frame = Rtm_Client_ServerFrame.with {
            $0.presenceSnapshot.channelType = .message
            $0.presenceSnapshot.channel = channel
            $0.presenceSnapshot.more = next != 0
            $0.presenceSnapshot.users = users.map { user in
                .with {
                    $0.userID = user
                    $0.items = [.with { $0.value = String(repeating: "x", count: stateBytes) }]
                }
            }
        }
        Self.bytes([frame]).withUnsafeBytes { frames in
            _ = answer(
                PresenceMethod.roster.number, RosterResponse(frames: WireText(frames), snapshot: next))
        }
    }

    /// - Parameter places: of the memberships whose users have newer logins in the channels.
    func answerSync(older places: [UInt32] = []) {
        answer(PresenceMethod.sync.number, SyncResponse(older: places.map(OlderMembership.init)))
    }

    static func bytes(_ frames: [Rtm_Client_ServerFrame]) -> [UInt8] {
        frames.flatMap { frame -> [UInt8] in
            guard let bytes: [UInt8] = try? frame.serializedBytes() else { return [] }
            return withUnsafeBytes(of: UInt32(bytes.count).bigEndian, Array.init) + bytes
        }
    }
}

// MARK: - Storage

extension FakeService {
    var sessions: [SessionPush] { bodies(StorageMethod.session.number) { try SessionPush($0, in: $1) } }
    var snapshots: [SnapshotRequest] {
        bodies(StorageMethod.snapshot.number) { try SnapshotRequest($0, in: $1) }
    }
    var callCount: Int { received.count { $0.method == StorageMethod.call.number } }

    /// Puts the caller in line.
    func answerWithTicket(_ ticket: UInt64) {
        answer(StorageMethod.call.number, StorageCallResponse(response: .empty, ticket: ticket))
    }

    static func acquired(_ token: UInt64) -> [UInt8] {
        let frame = Rtm_Client_ServerFrame.with { $0.lockAcquired.fencingToken = token }
        return (try? frame.serializedBytes()) ?? []
    }

    func answerAcquired(_ token: UInt64) {
        Self.acquired(token).withUnsafeBytes { bytes in
            _ = answer(StorageMethod.call.number, StorageCallResponse(response: WireText(bytes)))
        }
    }

    func answerDone() {
        let done: [UInt8] = (try? Rtm_Client_ServerFrame.with { $0.done = .init() }.serializedBytes()) ?? []
        done.withUnsafeBytes { bytes in
            _ = answer(StorageMethod.call.number, StorageCallResponse(response: WireText(bytes)))
        }
    }

    func grant(_ ticket: UInt64, _ token: UInt64, in shard: Int = 0) {
        Self.acquired(token).withUnsafeBytes { bytes in
            push(
                StorageMethod.lockGranted.number, LockGrantedPush(ticket: ticket, response: WireText(bytes)),
                in: shard)
        }
    }

    /// What was pushed of sessions to a shard.
    func sessions(in shard: Int) -> [SessionPush] {
        let arena = DecodeArena()
        return received.filter { $0.shard == shard && $0.method == StorageMethod.session.number }.compactMap {
            $0.body.withUnsafeBytes { try? SessionPush($0, in: arena) }
        }
    }
}
