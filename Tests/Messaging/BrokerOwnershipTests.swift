import RTMModel
import RTMServiceKit
import RTMTestSupport
import Testing

@testable import RTMMessagingServer

/// An inbox has one session, the newest, in whatever order links come and go (S-10).
@Suite("Who has an inbox")
struct BrokerOwnershipTests {
    private typealias Interest = Broker.Interest

    private var broker = Broker(limits: .limits(), firstEpoch: 1000)
    private let inbox = ChannelKey.user("bob")
    private let old = Interest(link: 1, id: 10)
    private let new = Interest(link: 2, id: 10)

    @Test("a new owner supersedes the one before, who gets nothing more")
    mutating func newWins() throws {
        let first = try attach(old)
        #expect(first.superseded == nil && first.ownership > 0)
        let second = try attach(new)
        #expect(second.superseded == old && second.ownership > first.ownership)
        #expect(try broker.publish("m", to: inbox, now: 3).interests == [new])
    }

    @Test("both on one link is the same: the interest tells them apart")
    mutating func oneLink() throws {
        _ = try attach(old)
        #expect(try attach(Interest(link: 1, id: 11)).superseded == old)
    }

    @Test("a former owner who comes back after a newer one is refused, and the newer one stays")
    mutating func formerIsRefused() throws {
        let first = try attach(old)
        broker.linkClosed(1, now: 3)
        _ = try attach(new)
        var refusal: RTMError?
        do throws(RTMError) {
            let back = Interest(link: 3, id: 1)
            _ = try broker.attach(back, to: inbox, after: nil, ownership: first.ownership, now: 4)
        } catch {
            refusal = error
        }
        #expect(refusal?.code == .loginAborted)
        #expect(try broker.publish("m", to: inbox, now: 5).interests == [new])
    }

    @Test("a client that comes back by itself doesn't take the place of one that has logged in since")
    mutating func returnIsNoLogin() throws {
        _ = try broker.attach(old, to: inbox, after: nil, ownership: 0, owner: 1, now: 2)
        broker.linkClosed(1, now: 3)
        let back = Interest(link: 3, id: 1)
        _ = try broker.attach(back, to: inbox, after: nil, ownership: 0, owner: 1, returns: true, now: 4)
        #expect(try attach(new, owner: 2).superseded == back)
        #expect(throws: RTMError.self) {
            try broker.attach(old, to: inbox, after: nil, ownership: 0, owner: 1, returns: true, now: 6)
        }
        #expect(try broker.publish("m", to: inbox, now: 7).interests == [new])
        #expect(try attach(old, owner: 1).superseded == new, "a login by the app wins as ever")
    }

    @Test(
        "S-10: a client that comes back is let in when the other has logged out, and not while it is only lost"
    )
    mutating func returnAfterLogout() throws {
        for isLoggedOut in [false, true] {
            broker = Broker(limits: .limits(), firstEpoch: 1000)
            _ = try attach(old, owner: 1)
            let other = try attach(new, owner: 2)
            broker.detach(new, isLoggedOut: isLoggedOut, now: 3)
            let back = Interest(link: 3, id: 1)
            let attached = try? broker.attach(
                back, to: inbox, after: nil, ownership: 0, owner: 1, returns: true, now: 4)
            #expect((attached != nil) == isLoggedOut)
            guard let attached else { continue }
            #expect(attached.ownership > other.ownership && attached.superseded == nil)
            #expect(try broker.publish("m", to: inbox, now: 5).interests == [back])
        }
    }

    @Test("a logout that comes behind a newer login of anybody changes nothing")
    mutating func lateLogout() throws {
        _ = try attach(old, owner: 1)
        _ = try attach(new, owner: 2)
        broker.detach(old, isLoggedOut: true, now: 3)
        #expect(throws: RTMError.self) {
            try broker.attach(old, to: inbox, after: nil, ownership: 0, owner: 1, returns: true, now: 4)
        }
        #expect(try broker.publish("m", to: inbox, now: 5).interests == [new])
    }

    @Test("an attempt that is late behind a newer one of the same client ends nobody's session")
    mutating func lateAttempt() throws {
        _ = try attach(old, owner: 1, attempt: 2)
        for late in [1, 2] as [UInt64] {
            let refusal = #expect(throws: RTMError.self) {
                try attach(Interest(link: 4, id: 1), owner: 1, attempt: late)
            }
            #expect(refusal?.code == .loginAborted)
        }
        #expect(try attach(new, owner: 2, attempt: 1).superseded == old, "another client counts for itself")
        #expect(throws: RTMError.self) { try attach(old, owner: 1, attempt: 1) }
        #expect(try broker.publish("m", to: inbox, now: 7).interests == [new])
        #expect(try attach(old, owner: 1, attempt: 3).superseded == new, "a newer one wins as ever")
    }

    @Test("a former owner who attaches again under his number needs no new attempt")
    mutating func sameAttempt() throws {
        let first = try broker.attach(old, to: inbox, after: nil, ownership: 0, owner: 1, attempt: 5, now: 1)
        broker.linkClosed(1, now: 2)
        let back = try broker.attach(
            new, to: inbox, after: nil, ownership: first.ownership, owner: 1, attempt: 5, now: 3)
        #expect(back.ownership == first.ownership)
    }

    @Test("a refused return counts as an attempt, too")
    mutating func refusedReturn() throws {
        _ = try attach(old, owner: 1, attempt: 1)
        _ = try attach(new, owner: 2, attempt: 1)
        #expect(throws: RTMError.self) {
            try broker.attach(
                old, to: inbox, after: nil, ownership: 0, owner: 1, attempt: 3, returns: true, now: 6)
        }
        #expect(throws: RTMError.self) { try attach(old, owner: 1, attempt: 2) }
    }

    @Test("an owner whose link was away comes back under his number, to any node, in any order")
    mutating func comesBack() throws {
        let first = try attach(old)
        let second = try attach(new)
        for newerFirst in [true, false] {
            var restarted = Broker(limits: .limits(), firstEpoch: 5000)
            let ownerships = [(new, second.ownership), (old, first.ownership)]
            for (interest, ownership) in newerFirst ? ownerships : ownerships.reversed() {
                _ = try? restarted.attach(interest, to: inbox, after: nil, ownership: ownership, now: 1)
            }
            #expect(try restarted.publish("m", to: inbox, now: 5).interests == [new])
        }
    }

    @Test("a new owner after a restart has a greater number than all before, though the clock stood still")
    mutating func numbersGrow() throws {
        let first = try attach(old)
        var restarted = Broker(limits: .limits(), firstEpoch: 5000)
        let back = try restarted.attach(old, to: inbox, after: nil, ownership: first.ownership, now: 0)
        let next = try restarted.attach(new, to: inbox, after: nil, ownership: 0, now: 0)
        #expect(
            back.ownership == first.ownership && next.ownership > first.ownership && next.superseded == old)
    }

    @Test("an owner who left leaves nobody to be superseded")
    mutating func left() throws {
        _ = try attach(old)
        broker.detach(old, now: 3)
        #expect(try attach(new).superseded == nil)
    }

    @Test("who doesn't ask to be alone neither supersedes nor is superseded")
    mutating func shared() throws {
        _ = try attach(old)
        let other = Interest(link: 3, id: 1)
        let attached = try broker.attach(other, to: inbox, after: nil, now: 2)
        #expect(attached.superseded == nil && attached.ownership == 0)
        #expect(try attach(new).superseded == old)
        #expect(try broker.publish("m", to: inbox, now: 3).interests == [other, new])
    }

    private mutating func attach(
        _ interest: Interest, owner: UInt64 = 0, attempt: UInt64 = 0
    ) throws -> Broker.Attached {
        try broker.attach(
            interest, to: inbox, after: nil, ownership: 0, owner: owner, attempt: attempt, now: 2)
    }
}
