import Foundation
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// Generated histories of an app that gives messages to its outbox, crashes, comes back and loses answers.
/// A message that the app was told is taken is published once, and each destination sees the app's order.
@Suite("Histories of an outbox")
struct OutboxHistoryTests {
    private static let owner = OutboxOwner(app: "demo", user: "alice")

    /// The server as its log remembers: a message that comes again is answered as the first time.
    private struct Server {
        var published: [MessageDestination: [MessagePayload]] = [:]
        private var known: Set<OutboxMessage.ID> = []
        /// A first sending of a known message, or one sent again that says too little, would be a double.
        private(set) var doubles: [MessagePayload] = []

        mutating func take(_ sending: OutboxQueue.Sending) {
            let isNew = known.insert(sending.message.id).inserted
            if !isNew, sending.again == nil { doubles.append(sending.message.payload) }
            if isNew { published[sending.message.destination, default: []].append(sending.message.payload) }
        }
    }

    private struct World {
        var random: SeededGenerator
        var server = Server()
        var origin: UInt64 = 1
        var now: UInt64 = 1
        /// What survives a crash, and what is written behind it and may be cut anywhere.
        var durable = owner.line
        var unsynced = Data()
        var queue = OutboxQueue(origin: 1)
        /// On their way to the server, which the client sends again by itself on its next connection.
        var sent: [OutboxQueue.Sending] = []
        /// What the app knows to be taken, and not to be taken back, by destination.
        var taken: [MessageDestination: [MessagePayload]] = [:]
        var count = 0
        let start = ContinuousClock.now

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        private mutating func due() -> (sendings: [OutboxQueue.Sending], records: [OutboxRecord]) {
            queue.takeDue(now: start + .milliseconds(now), time: now, epoch: 1)
        }

        mutating func write(_ record: OutboxRecord?) { if let record { unsynced += record.line } }

        mutating func sync() {
            durable += unsynced
            unsynced = Data()
        }

        mutating func add() throws {
            count += 1
            let outgoing = OutgoingMessage(
                payload: .text("\(count)"), destination: .channel("c\(below(3))"), customType: "",
                storeInHistory: false)
            let message = try queue.add(outgoing)
            write(.added(message))
            // The app dies now and then before it hears of the message, which may be published or not then.
            if below(12) == 0 { return try crash(unheard: message) }
            sync()
            taken[message.destination, default: []].append(message.payload)
        }

        mutating func takeBack() {
            guard let message = queue.messages.randomElement(using: &random),
                let record = queue.takeBack(message.id)
            else { return }
            write(record)
            sync()
            taken[message.destination]?.removeAll { $0 == message.payload }
        }

        mutating func send() throws {
            let due = due()
            for record in due.records { write(record) }
            // It may die before its file knows that something is sent. Then nothing was sent.
            if below(12) == 0 { return try crash() }
            sync()
            sent += due.sendings
        }

        /// The server takes one message, and its answer comes, is lost with the call, or puts it off.
        mutating func serve() {
            guard !sent.isEmpty else { return }
            let sending = sent.remove(at: below(sent.count))
            if below(6) == 0 {
                return write(queue.notSent(sending, until: start + .milliseconds(now + 20)))
            }
            if below(4) == 0 {
                return queue.postpone(sending.message.id, until: start + .milliseconds(now + 20))
            }
            server.take(sending)
            if below(3) == 0 { return queue.postpone(sending.message.id, until: start + .milliseconds(now)) }
            write(queue.ended(sending.message.id))
        }

        mutating func crash(unheard: OutboxMessage? = nil) throws {
            durable += unsynced.prefix(below(unsynced.count + 1))
            unsynced = Data()
            sent = []
            let content = try OutboxContent(of: durable, owner: owner)
            durable = durable.prefix(content.byteCount)
            origin += 1
            queue = OutboxQueue(content.records, origin: origin)
            if let unheard, content.records.contains(.added(unheard)) {
                taken[unheard.destination, default: []].append(unheard.payload)
            }
            if below(4) == 0 { durable = queue.compacted.reduce(owner.line) { $0 + $1.line } }
        }

        mutating func step() throws {
            now += UInt64(below(50))
            switch below(22) {
            case 0: try crash()
            case 1: queue.connected()
            case 2: takeBack()
            case 3..<9: try add()
            case 9..<15: try send()
            default: serve()
            }
        }

        mutating func drain() throws {
            for _ in 0..<10_000 where !queue.isEmpty {
                now += 50
                sent += due().sendings
                for sending in sent {
                    server.take(sending)
                    _ = queue.ended(sending.message.id)
                }
                sent = []
            }
        }
    }

    @Test("What is taken is published once and in order, however often the app dies", arguments: 0..<100)
    func history(_ seed: Int) throws {
        var world = World(seed: UInt64(seed))
        for _ in 0..<300 { try world.step() }
        try world.drain()
        #expect(world.queue.isEmpty)
        #expect(world.server.published == world.taken.filter { !$0.value.isEmpty })
        #expect(world.server.doubles.isEmpty)
    }
}
