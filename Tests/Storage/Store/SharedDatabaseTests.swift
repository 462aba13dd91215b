import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMStorageServer

/// Histories of three nodes that share a database, in virtual time: nodes stand still, commits are in doubt,
/// the server goes and its standby comes, and messaging loses answers. `SEEDS=1000` runs more of them.
@Suite("D-18, D-19: nodes that share a database of the seed's making")
struct SharedDatabaseTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["SEEDS"].flatMap { UInt64($0) } ?? 60

    @Test("nothing acknowledged is lost, nothing takes place twice, each change is announced once, in order")
    func histories() throws {
        var total = SharedHistory.Counts()
        for seed in 0..<Self.seeds {
            var history = try SharedHistory(seed: seed)
            for _ in 0..<400 { try history.step() }
            try history.heal()
            let findings = history.findings()
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
            total.add(history.counts)
        }
        // A history in which nothing goes wrong shows nothing.
        let isEventful = total.acknowledged > 20 * Int(Self.seeds) && total.inDoubt > Int(Self.seeds)
        #expect(isEventful && total.takeovers > 2 * Int(Self.seeds) && total.fenced > 0, "\(total)")
    }
}

/// One history.
private struct SharedHistory {
    struct Counts {
        var acknowledged = 0
        var inDoubt = 0
        var takeovers = 0
        var fenced = 0

        mutating func add(_ other: Self) {
            acknowledged += other.acknowledged
            inDoubt += other.inDoubt
            takeovers += other.takeovers
            fenced += other.fenced
        }
    }

    private struct Node {
        var writer: StorageWriter<SimulatedDatabaseNode>
        var leadership = StorageLeadership(hasOthers: true)
        var health = StoreHealth()
        var outbox = OutboxSchedule()
        /// Until when it stands still.
        var pausedUntil: UInt64 = 0
        var cleanedAt: UInt64 = 0
        /// What came while it stood still.
        var waiting: [StorageWrite] = []
    }

    /// A user's call, until it is answered.
    private struct Call {
        let user: String
        let channel: String
        /// Nil for one about the lock.
        let value: String?
    }

    private static let channels = ["a", "b"]
    private static let users = ["anna", "ben", "carol"]

    private let database: SimulatedDatabase
    private var random: SeededGenerator
    private var nodes: [Node] = []
    private var now: UInt64 = 1_000
    private var number: UInt64 = 0
    private var calls: [UInt64: Call] = [:]
    private var attempted: [String: Set<String>] = [:]
    /// The values by channel and revision.
    private var acknowledged: [String: [Int64: String]] = [:]
    /// The tokens of each channel's lock, in the order in which they were granted.
    private var tokens: [String: [UInt64]] = [:]
    /// What each user believes to hold.
    private var held: [String: UInt64] = [:]
    private var log = MessagingLog()
    private(set) var counts = Counts()

    init(seed: UInt64) throws {
        database = SimulatedDatabase(seed: seed &+ 1 << 40)
        random = SeededGenerator(seed: seed)
        for node in 0..<3 {
            database.renewLease(of: node)
            let store = SimulatedDatabaseNode(database, node: node)
            nodes.append(Node(writer: try StorageWriter(store, rules: StorageRules(), now: present)))
        }
    }

    private var present: StorageNow { StorageNow(wall: 1_000_000 + now, steady: now) }

    // MARK: Steps

    mutating func step() throws {
        now += UInt64.random(in: 1...200, using: &random)
        database.now = now
        switch Int.random(in: 0..<30, using: &random) {
        case 0: nodes[someNode()].pausedUntil = now + UInt64.random(in: 100...6_000, using: &random)
        case 1: database.goDown()
        case 2...5: if !database.isUp { database.comeUp() }
        case 6...8: database.settle()
        default: ask(someNode())
        }
        for node in nodes.indices where nodes[node].pausedUntil <= now { work(node, mayFail: true) }
    }

    private mutating func someNode() -> Int {
        let serving = nodes.indices.filter { nodes[$0].leadership.serves }
        return serving.randomElement(using: &random) ?? Int.random(in: nodes.indices, using: &random)
    }

    /// Some calls arrive in one group. A node that follows refuses them without asking its writer.
    private mutating func ask(_ node: Int) {
        guard nodes[node].leadership.serves else { return }
        for _ in 0..<Int.random(in: 1...4, using: &random) { nodes[node].waiting.append(write()) }
    }

    private mutating func write() -> StorageWrite {
        number += 1
        let channel = Self.channels.randomElement(using: &random) ?? "a"
        let user = Self.users.randomElement(using: &random) ?? "anna"
        let change: any StorageChange
        if random.chance(1, in: 3) {
            calls[number] = Call(user: user, channel: channel, value: nil)
            let action: LockRequest.Action =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: .set(ttlSeconds: 10)
                case 1: .release(withdraw: false)
                default: .acquire(retry: false, heldToken: held["\(channel) \(user)"] ?? 0)
                }
            change = LockChange(
                LockRequest(action, "l", at: .lobby), of: .message(channel), ticket: number, by: .user(user))
        } else {
            let value = "\(number)"
            calls[number] = Call(user: user, channel: channel, value: value)
            attempted[channel, default: []].insert(value)
            let known = acknowledged[channel]?.keys.max() ?? 0
            let compared = random.chance(1, in: 2) ? -1 : known
            let request = WriteMetadata(
                .set, of: .lobby, items: [MetadataItem(key: "k", value: value)], majorRevision: compared)
            change = MetadataEdit(request, of: .message(channel), by: user)
        }
        return StorageWrite(change, link: 1, request: number)
    }

    /// What the threads and the loop of a node do in a moment.
    private mutating func work(_ node: Int, mayFail: Bool) {
        database.renewLease(of: node)
        let step = nodes[node].writer.nextStep(isWanted: true, now: present)
        if step == .ask || nodes[node].health.isProofDue(present) {
            let failure = nodes[node].writer.prove(now: present)
            _ = nodes[node].health.proven(failure, present)
        }
        if nodes[node].leadership.serves, nodes[node].cleanedAt + 1_000 <= now {
            nodes[node].cleanedAt = now
            nodes[node].waiting.append(StorageWrite(ExpiredHistory(limit: 500)))
        }
        let group = nodes[node].waiting
        nodes[node].waiting = []
        if !group.isEmpty || nodes[node].writer.isDue(present) {
            written(nodes[node].writer.run(group, now: present), node)
        }
        announce(node, mayFail: mayFail)
    }

    private mutating func written(_ outcome: WriteOutcome, _ node: Int) {
        for answered in outcome.answers { answer(answered) }
        if let failure = outcome.failure {
            _ = nodes[node].health.failed(failure, present)
            if failure.kind == .stalled { counts.inDoubt += 1 }
        }
        nodes[node].outbox.putBack(outcome.notAnnounced)
        for change in outcome.tenure {
            switch nodes[node].leadership.changed(change) {
            case .becomeLeader:
                counts.takeovers += 1
                nodes[node].outbox.beginAnew()
            case .beginAnew: nodes[node].outbox.beginAnew()
            case .follow: counts.fenced += 1
            case .none: break
            }
        }
        nodes[node].outbox.committed(outcome.events)
    }

    private mutating func answer(_ answered: WriteOutcome.Answered) {
        guard let call = calls.removeValue(forKey: answered.request),
            let answer: ClientAnswer = answered.answer(), answer.ticket == 0,
            let frame = try? Rtm_Client_ServerFrame(serializedBytes: Array(answer.field.readableBytesView))
        else { return }
        counts.acknowledged += 1
        if let value = call.value {
            acknowledged[call.channel, default: [:]][frame.metadataWritten.majorRevision] = value
        } else if frame.lockAcquired.fencingToken != 0 {
            let token = frame.lockAcquired.fencingToken
            held["\(call.channel) \(call.user)"] = token
            if tokens[call.channel]?.last != token { tokens[call.channel, default: []].append(token) }
        }
    }

    /// The node's outbox and messaging, as `StorageOutbox` lets them meet.
    private mutating func announce(_ node: Int, mayFail: Bool) {
        guard nodes[node].leadership.serves else { return }
        if let fetch = nodes[node].outbox.nextFetch() {
            let events = database.store.events(after: fetch.after, limit: fetch.limit)
            nodes[node].outbox.fetched(database.isUp ? events : nil)
        }
        nodes[node].outbox.retry()
        while let run = nodes[node].outbox.next() {
            let isLost = mayFail && random.chance(1, in: 5)
            if !isLost || random.chance(1, in: 2) { log.append(run.events) }
            nodes[node].outbox.answered(run.line, isAppended: !isLost)
            if isLost { break }
        }
        let ranges = nodes[node].outbox.takeAcknowledged()
        if !ranges.isEmpty {
            let term = nodes[node].leadership.announcement?.term
            nodes[node].waiting.append(StorageWrite(OutboxAcknowledgement(of: ranges, term: term)))
        }
    }

    /// Nothing goes wrong any more.
    mutating func heal() throws {
        if !database.isUp { database.comeUp() }
        database.settle()
        database.isTroubled = false
        for _ in 0..<60 {
            now += 200
            database.now = now
            for node in nodes.indices { work(node, mayFail: false) }
        }
    }

    // MARK: What is true in the end

    func findings() -> [String] {
        var findings: [String] = []
        if nodes.count(where: { $0.leadership.serves }) != 1 { findings.append("not one node leads") }
        let left = database.store.events(after: 0, limit: 100).map(\.sequence)
        if !left.isEmpty { findings.append("\(left) are not known to be announced") }
        for channel in Self.channels {
            let set = database.store.metadata(of: .message(channel))
            let events = log.events[.message(channel)] ?? []
            if set.majorRevision < acknowledged[channel]?.keys.max() ?? 0 {
                findings.append("\(channel): an acknowledged write is lost")
            }
            let storage = events.compactMap {
                try? Rtm_Client_Publication(serializedBytes: $0.event).storage
            }.filter { $0.majorRevision > 0 }
            if storage.map(\.majorRevision) != Array((0...set.majorRevision).dropFirst()) {
                let revisions = storage.map(\.majorRevision)
                findings.append("\(channel): announced \(revisions) of \(set.majorRevision)")
            }
            for event in storage {
                let value = event.items.first?.value ?? ""
                if let expected = acknowledged[channel]?[event.majorRevision], expected != value {
                    findings.append("\(channel): \(event.majorRevision) has \(value), not \(expected)")
                }
                if attempted[channel]?.contains(value) != true { findings.append("nobody wrote \(value)") }
            }
            let values = storage.compactMap { $0.items.first?.value }
            if Set(values).count != values.count { findings.append("\(channel): a write took place twice") }
            let granted = tokens[channel] ?? []
            if granted != granted.sorted() || Set(granted).count != granted.count {
                findings.append("\(channel): tokens don't grow: \(granted)")
            }
        }
        return findings
    }
}

/// What messaging has of the outbox: a repetition is known by its source and sequence.
private struct MessagingLog {
    private(set) var events: [ChannelKey: [StorageOutboxEvent]] = [:]
    private var marks: [ChannelKey: [UInt64: UInt64]] = [:]

    mutating func append(_ run: some Sequence<StorageOutboxEvent>) {
        for event in run where event.sequence > marks[event.channel]?[event.source] ?? 0 {
            marks[event.channel, default: [:]][event.source] = event.sequence
            events[event.channel, default: []].append(event)
        }
    }
}
