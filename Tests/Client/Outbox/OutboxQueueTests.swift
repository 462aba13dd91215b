import Foundation
import RTMModel
import Testing

@testable import RTMClient

@Suite("The messages of an outbox")
struct OutboxQueueTests {
    private let room = MessageDestination.channel("room")
    private let start = ContinuousClock.now

    private func message(_ text: String, to destination: MessageDestination? = nil) -> OutgoingMessage {
        OutgoingMessage(
            payload: .text(text), destination: destination ?? room, customType: "", storeInHistory: false)
    }

    private func due(
        _ queue: inout OutboxQueue, at milliseconds: UInt64, epoch: UInt64 = 2
    ) -> (sendings: [OutboxQueue.Sending], records: [OutboxRecord]) {
        queue.takeDue(now: start + .milliseconds(milliseconds), time: milliseconds, epoch: epoch)
    }

    @Test("One message at a time is under way to each destination, in order")
    func order() throws {
        var queue = OutboxQueue(origin: 5)
        for text in ["a", "b"] { _ = try queue.add(message(text)) }
        _ = try queue.add(message("c", to: .user("anna")))
        let first = due(&queue, at: 10)
        #expect(first.sendings.map(\.message.payload) == [.text("a"), .text("c")])
        #expect(first.sendings.allSatisfy { $0.again == nil })
        #expect(first.records.count == 2)
        #expect(due(&queue, at: 11).sendings.isEmpty)
        _ = queue.ended(first.sendings[0].message.id)
        #expect(due(&queue, at: 12).sendings.map(\.message.payload) == [.text("b")])
    }

    @Test("Only so many are under way at once, and the others follow")
    func sentMax() throws {
        var queue = OutboxQueue(origin: 5)
        for number in 0..<OutboxQueue.sentMax + 10 {
            _ = try queue.add(message("\(number)", to: .channel("c\(number)")))
        }
        let first = due(&queue, at: 1).sendings
        #expect(first.count == OutboxQueue.sentMax)
        for sending in first.prefix(3) { _ = queue.ended(sending.message.id) }
        #expect(due(&queue, at: 2).sendings.count == 3)
    }

    @Test("What was begun is sent again with its age and the epoch of its beginning, also after a restart")
    func again() throws {
        var queue = OutboxQueue(origin: 5)
        let added = OutboxRecord.added(try queue.add(message("a")))
        let first = due(&queue, at: 1_000)
        queue.postpone(first.sendings[0].message.id, until: start + .seconds(1))
        let again = due(&queue, at: 1_500, epoch: 3)
        #expect(again.records.isEmpty)
        #expect(again.sendings.map(\.again) == [.init(firstSentAt: start + .seconds(1), epoch: 2)])
        var restarted = OutboxQueue([added] + first.records, origin: 6)
        let sending = due(&restarted, at: 61_000, epoch: 3).sendings
        #expect(sending.map(\.again) == [.init(firstSentAt: start + .seconds(1), epoch: 2)])
        #expect(sending.map(\.message.id) == [OutboxMessage.ID(origin: 5, sequence: 1)])
    }

    @Test("By a clock that was set back a message is as old as can be, because too young is published twice")
    func clock() throws {
        var queue = OutboxQueue(origin: 5)
        let added = OutboxRecord.added(try queue.add(message("a")))
        let begun = due(&queue, at: 10_000).records
        var restarted = OutboxQueue([added] + begun, origin: 6)
        let sending = due(&restarted, at: 9_000).sendings.first
        let again = try #require(sending?.again)
        #expect(start - again.firstSentAt > .seconds(3_600 * 24 * 40))
    }

    @Test("What didn't leave is a first sending the next time, for the file, too")
    func notSent() throws {
        var queue = OutboxQueue(origin: 5)
        let added = OutboxRecord.added(try queue.add(message("a")))
        let first = due(&queue, at: 1_000)
        let refused = queue.notSent(first.sendings[0], until: start + .seconds(2))
        let record = try #require(refused)
        #expect(due(&queue, at: 1_999).sendings.isEmpty)
        #expect(due(&queue, at: 2_000).sendings.map(\.again) == [nil])
        var restarted = OutboxQueue([added] + first.records + [record], origin: 6)
        let again = due(&restarted, at: 5_000)
        #expect(again.sendings.map(\.again) == [nil] && again.records.count == 1)
        // What was sent once stays so.
        var begun = OutboxQueue([added] + first.records, origin: 7)
        let second = due(&begun, at: 5_000).sendings
        #expect(begun.notSent(second[0], until: nil) == nil)
        #expect(due(&begun, at: 5_000).sendings == second)
    }

    @Test("What was put off waits for its time with all behind it, or for the next connection")
    func postpone() throws {
        var queue = OutboxQueue(origin: 5)
        for text in ["a", "b"] { _ = try queue.add(message(text)) }
        _ = try queue.add(message("c", to: .user("anna")))
        let sent = due(&queue, at: 0).sendings
        queue.postpone(sent[0].message.id, until: start + .seconds(5))
        #expect(queue.nextDue == start + .seconds(5))
        _ = queue.ended(sent[1].message.id)
        #expect(due(&queue, at: 4_999).sendings.isEmpty)
        #expect(due(&queue, at: 5_000).sendings.map(\.message.payload) == [.text("a")])
        queue.postpone(sent[0].message.id, until: start + .seconds(60))
        queue.connected()
        #expect(queue.nextDue == nil)
        #expect(due(&queue, at: 6_000).sendings.map(\.message.payload) == [.text("a")])
        // What is under way stays so on the next connection: the client itself sends it again there.
        queue.connected()
        #expect(due(&queue, at: 7_000).sendings.isEmpty)
    }

    @Test("What was never sent can be taken back, wherever it stands, and nothing else")
    func takeBack() throws {
        var queue = OutboxQueue(origin: 5)
        let ids = try ["a", "b", "c"].map { try queue.add(message($0)).id }
        let first = due(&queue, at: 1).sendings
        #expect(queue.takeBack(ids[0]) == nil)
        #expect(queue.takeBack(ids[1]) == .ended(ids[1]))
        #expect(queue.takeBack(ids[1]) == nil)
        _ = queue.ended(first[0].message.id)
        #expect(queue.takeBack(ids[0]) == nil)
        #expect(due(&queue, at: 2).sendings.map(\.message.id) == [ids[2]])
        _ = queue.ended(ids[2])
        #expect(queue.isEmpty)
        let last = try queue.add(message("d"))
        #expect(queue.takeBack(last.id) != nil)
        #expect(due(&queue, at: 3).sendings.isEmpty)
        _ = try queue.add(message("e"))
        #expect(due(&queue, at: 4).sendings.map(\.message.payload) == [.text("e")])
    }

    @Test("Both limits are named when they are met, and what has ended makes room")
    func limits() throws {
        var queue = OutboxQueue(origin: 5, limits: .init(messagesMax: 2, bytesMax: 1_000))
        let first = try queue.add(message("a"))
        #expect(throws: RTMError.self) { try queue.add(message(String(repeating: "x", count: 1_000))) }
        _ = try queue.add(message("b"))
        do throws(RTMError) {
            _ = try queue.add(message("c"))
            Issue.record("it was taken")
        } catch {
            #expect(error.limit == .init(name: "outbox messages", value: 2))
            #expect(error.code == .channelPublishMessageTooFrequent)
        }
        #expect(queue.ended(first.id) != nil)
        #expect(queue.ended(first.id) == nil)
        _ = try queue.add(message("c"))
        #expect(queue.messages.map(\.payload) == [.text("b"), .text("c")])
    }

    @Test("A file that was written anew says the same")
    func compacted() throws {
        var queue = OutboxQueue(origin: 5)
        for number in 0..<5 { _ = try queue.add(message("\(number)")) }
        let first = try #require(due(&queue, at: 7).sendings.first)
        _ = queue.ended(first.message.id)
        let second = try #require(due(&queue, at: 8).sendings.first)
        queue.postpone(second.message.id, until: start)
        var restarted = OutboxQueue(queue.compacted, origin: 6)
        #expect(restarted.byteCount == queue.byteCount)
        #expect(restarted.messages == queue.messages)
        #expect(restarted.compacted == queue.compacted)
        #expect(due(&restarted, at: 9).sendings == due(&queue, at: 9).sendings)
    }
}
