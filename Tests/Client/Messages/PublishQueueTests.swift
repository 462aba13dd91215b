import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMClient

struct PublishQueueTests {
    private let start = ContinuousClock.now
    private let refusal = RTMError(.channelPublishMessageFailed, "no messaging service")

    private func ids(_ sendings: [PublishQueue.Sending]) -> [UInt64] { sendings.map(\.id) }

    /// Publishes with these ids. All are sent.
    private func queue(_ ids: UInt64...) -> PublishQueue {
        var queue = PublishQueue()
        for id in ids { _ = queue.send(id, .init(), inboxEpoch: 7, now: start) }
        return queue
    }

    @Test func `Each publish has the next sequence, whatever its id`() {
        var queue = PublishQueue()
        #expect(queue.send(9, .init(), inboxEpoch: 7, now: start)?.sequence == 1)
        #expect(queue.send(4, .init(), inboxEpoch: 7, now: start)?.sequence == 2)
    }

    @Test func `Behind a postponed publish new ones wait, until it has its answer`() {
        var queue = queue(1)
        queue.postpone(1, refusal)
        #expect(queue.send(2, .init(), inboxEpoch: 7, now: start) == nil)
        #expect(queue.takeHeld(now: start).isEmpty)
        let again = queue.takePostponed(now: start + .milliseconds(20))
        #expect(ids(again) == [1])
        #expect(again.first?.publish.again == true)
        #expect(again.first?.publish.epoch == 7)
        #expect(again.first?.publish.ageMs == 21)
        #expect(queue.takeHeld(now: start).isEmpty)
        queue.remove(1)
        let held = queue.takeHeld(now: start)
        #expect(ids(held) == [2])
        #expect(held.first?.publish.again == false)
        #expect(queue.send(3, .init(), inboxEpoch: 7, now: start) != nil)
    }

    @Test func `New publishes wait for those that were under way when one was postponed`() {
        var queue = queue(1, 2)
        queue.postpone(1, refusal)
        #expect(queue.send(3, .init(), inboxEpoch: 7, now: start) == nil)
        #expect(ids(queue.takePostponed(now: start)) == [1])
        queue.remove(1)
        #expect(queue.takeHeld(now: start).isEmpty)
        queue.remove(2)
        #expect(ids(queue.takeHeld(now: start)) == [3])
    }

    @Test func `A postponed publish delays what goes to the same destination, and nothing else`() {
        func publish(_ channel: String, _ type: Rtm_Client_ChannelType = .message) -> Rtm_Client_Publish {
            .with { ($0.channel, $0.channelType) = (channel, type) }
        }
        var queue = PublishQueue()
        _ = queue.send(1, publish("a"), inboxEpoch: 7, now: start)
        _ = queue.send(2, publish("b"), inboxEpoch: 7, now: start)
        queue.postpone(1, refusal)
        #expect(queue.send(3, publish("a"), inboxEpoch: 7, now: start) == nil)
        #expect(queue.send(4, publish("b"), inboxEpoch: 7, now: start)?.sequence == 4)
        #expect(queue.send(5, publish("a", .user), inboxEpoch: 7, now: start) != nil)
        queue.remove(2)
        #expect(queue.takeHeld(now: start).isEmpty)
        queue.postpone(4, refusal)
        #expect(queue.send(6, publish("b"), inboxEpoch: 7, now: start) == nil)
        #expect(ids(queue.takePostponed(now: start)) == [1, 4])
        queue.remove(4)
        #expect(ids(queue.takeHeld(now: start)) == [6])
        queue.remove(1)
        #expect(ids(queue.takeHeld(now: start)) == [3])
        #expect(queue.send(7, publish("a"), inboxEpoch: 7, now: start) != nil)
    }

    @Test func `A postponed publish that is given up ends with what it was refused with`() {
        var queue = queue(1, 2)
        queue.postpone(1, refusal)
        #expect(queue.remove(1) == refusal)
        #expect(queue.remove(2) == nil)
        #expect(queue.remove(2) == nil)
    }

    @Test func `After a reconnect all are sent again in the order in which the app published`() {
        var queue = queue(5, 3, 8)
        queue.postpone(3, refusal)
        #expect(queue.send(1, .init(), inboxEpoch: 7, now: start) == nil)
        #expect(queue.connectionLost(keptMax: 1_024) == [5, 3, 8, 1])
        let (again, tooOld) = queue.takeLost(now: start + .seconds(1), ageMax: .seconds(120))
        #expect(ids(again) == [5, 3, 8, 1])
        #expect(again.allSatisfy { $0.publish.again })
        #expect(tooOld.isEmpty)
        #expect(queue.send(2, .init(), inboxEpoch: 7, now: start) != nil, "nothing holds new ones up")
    }

    @Test func `What the app published too long ago is not sent again`() {
        var queue = queue(1)
        _ = queue.send(2, .init(), inboxEpoch: 7, now: start + .seconds(60))
        let (again, tooOld) = queue.takeLost(now: start + .seconds(120), ageMax: .seconds(120))
        #expect(ids(again) == [2])
        #expect(tooOld == [1])
    }

    @Test func `Only the oldest survive a loss of the connection`() {
        var queue = queue(5, 3, 8)
        #expect(queue.connectionLost(keptMax: 2) == [5, 3])
    }

    @Test func `One of the outbox keeps its number, and its age counts on from what it was`() {
        var queue = PublishQueue()
        let outbox = Rtm_Client_Publish.with { ($0.origin, $0.sequence) = (5, 40) }
        let repetition = PublishRepetition(firstSentAt: start - .seconds(1), epoch: 3)
        #expect(queue.send(1, .init(), inboxEpoch: 7, now: start)?.sequence == 1)
        let sent = queue.send(2, outbox, again: repetition, inboxEpoch: 7, now: start)
        #expect(sent?.again == true && sent?.ageMs == 1_001 && sent?.epoch == 3)
        #expect(queue.send(3, .init(), inboxEpoch: 7, now: start)?.sequence == 2)
        let again = queue.takeLost(now: start + .milliseconds(500), ageMax: .seconds(120)).again
        #expect(ids(again) == [1, 2, 3])
        #expect(again.map(\.publish.sequence) == [1, 40, 2])
        #expect(again.map(\.publish.ageMs) == [501, 1_501, 501])
        #expect(again.map(\.publish.epoch) == [7, 3, 7])
    }

    @Test func `A repetition that waited behind others has its age of when it leaves`() {
        var queue = queue(1)
        queue.postpone(1, refusal)
        let repetition = PublishRepetition(firstSentAt: start - .seconds(1), epoch: 3)
        #expect(queue.send(2, .init(), again: repetition, inboxEpoch: 7, now: start) == nil)
        #expect(queue.removeUnsent(1) == nil && queue.removeUnsent(9) == nil)
        queue.remove(1)
        let held = queue.takeHeld(now: start + .seconds(2))
        #expect(held.map(\.publish.ageMs) == [3_001] && held.map(\.publish.again) == [true])
    }
}

extension PublishQueue {
    /// Adds a publish without a pace.
    ///
    /// - Returns: what is to be sent now, or `nil` if the publish is held.
    fileprivate mutating func send(
        _ id: UInt64, _ publish: Rtm_Client_Publish, again: PublishRepetition? = nil, inboxEpoch: UInt64,
        now: Instant
    ) -> Rtm_Client_Publish? {
        let destination: MessageDestination =
            publish.channelType == .user ? .user(publish.channel) : .channel(publish.channel)
        let admission = add(
            id, to: destination, publish, again: again, inboxEpoch: inboxEpoch, now: now,
            deadline: now + .seconds(10))
        return if case .send(let publish) = admission { publish } else { nil }
    }
}
