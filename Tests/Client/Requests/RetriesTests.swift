import RTMModel
import Testing

@testable import RTMClient

struct RetriesTests {
    private let start = ContinuousClock.now
    private let lobby = ChannelID(type: .message, name: "lobby")
    private let attic = ChannelID(type: .message, name: "attic")

    @Test func `Nothing is due before its time`() {
        var retries = Retries()
        #expect(retries.deadline == nil)
        retries.put(.publishes, at: start + .seconds(2))
        #expect(retries.deadline == start + .seconds(2))
        #expect(retries.takeDue(now: start + .seconds(1)).isEmpty)
        #expect(retries.takeDue(now: start + .seconds(2)) == [.publishes])
        #expect(retries.deadline == nil)
    }

    @Test func `The earliest time of a kind is the time of all of that kind`() {
        var retries = Retries()
        retries.put(.states(of: lobby), at: start + .seconds(5))
        retries.put(.states(of: attic), at: start + .seconds(1))
        retries.put(.followedUser("bob"), at: start + .seconds(3))
        #expect(retries.deadline == start + .seconds(1))
        #expect(retries.takeDue(now: start + .seconds(1)) == [.states(of: lobby), .states(of: attic)])
        #expect(retries.takeDue(now: start + .seconds(1)).isEmpty)
        #expect(retries.deadline == start + .seconds(3))
    }

    @Test func `Kinds that are due together come one after the other, publishes first`() {
        var retries = Retries()
        let snapshot = Retries.Retry.snapshot(Refresh(.metadata, of: .channel("lobby")))
        for retry in [.followedUser("bob"), snapshot, .lockQueues, .states(of: lobby), .publishes] {
            retries.put(retry, at: start)
        }
        var order: [Retries.Retry] = []
        while let next = retries.takeDue(now: start).first { order.append(next) }
        #expect(order == [.publishes, .states(of: lobby), .lockQueues, snapshot, .followedUser("bob")])
    }

    @Test func `What is removed is not tried, and leaves no deadline behind`() {
        var retries = Retries()
        retries.put(.followedUser("bob"), at: start)
        let wasWaiting = retries.remove(.followedUser("bob"))
        let isWaiting = retries.remove(.followedUser("bob"))
        #expect(wasWaiting && !isWaiting)
        #expect(retries.deadline == nil)
    }
}
