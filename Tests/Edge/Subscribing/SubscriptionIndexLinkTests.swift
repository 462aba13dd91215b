import RTMModel
import RTMServiceKit
import RTMWire
import Testing

@testable import RTMEdgeServer

/// What becomes of subscriptions while the link to messaging breaks and comes back.
@Suite("The subscription index and its link")
struct SubscriptionIndexLinkTests {
    var scene = IndexScene()

    @Test("after the link: subscribed channels are asked for again from where they stand, some at a time")
    mutating func reattach() throws {
        let session = scene.session(1)
        var interests: [UInt64] = []
        for name in ["a", "b", "c", "d", "e"] {
            interests.append(try scene.subscribe(session, to: .test(name)))
        }
        scene.gather(8, interest: interests[0])
        #expect(scene.index.reattach(0, limit: 10).isEmpty)
        scene.index.linkLost(0)
        let requests = (0..<3).flatMap { _ in scene.index.reattach(0, limit: 2) }
        #expect(scene.index.reattach(0, limit: 2).isEmpty)
        #expect(Set(requests.map(\.interest)) == Set(interests))
        for request in requests {
            #expect(request.after == .at(request.interest == interests[0] ? 8 : 7))
        }
    }

    @Test("what is sent again after a link comes before what is new; a gap is said with the new position")
    mutating func missed() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(session)
        scene.index.linkLost(0)
        _ = scene.index.reattach(0, limit: 1)
        scene.gather(8, interest: interest)
        scene.attached(interest, at: .at(8))
        #expect(scene.gaps.isEmpty)
        #expect(scene.taken(session) == [8])
        scene.index.linkLost(0)
        _ = scene.index.reattach(0, limit: 1)
        scene.attached(interest, at: .at(2, epoch: 6), gap: true)
        #expect(scene.gaps == [.at(2, epoch: 6)])
        #expect(scene.position() == .at(2, epoch: 6))
        scene.gather(3, interest: interest)
        scene.flush()
        #expect(scene.taken(session) == [3])
    }

    @Test("a gap of a log that goes on is said to those who may miss something, and once")
    mutating func gapForSome() throws {
        let (messages, presence) = (scene.session(1), scene.session(2))
        let interest = try scene.subscribe(messages)
        try scene.subscribe(presence, features: [.message, .presence])
        scene.index.linkLost(0)
        _ = scene.index.reattach(0, limit: 1)
        scene.skipped(interest, to: .at(9), features: [.presence, .lock])
        #expect(scene.gapReceivers == [presence] && scene.position() == .at(9))
        scene.skipped(interest, to: .at(9), features: .all)
        #expect(scene.gapReceivers == [presence], "an attach that had timed out says it again")
        scene.gather(10, interest: interest)
        scene.attached(interest, at: .at(10))
        #expect(scene.taken(messages) == [10] && scene.taken(presence) == [10])
    }

    @Test("a log that ends before the position is a gap, and what it has from there on arrives")
    mutating func wentBack() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(session)
        scene.gather(9, interest: interest)
        scene.flush()
        scene.index.linkLost(0)
        #expect(scene.index.reattach(0, limit: 1).map(\.after) == [.at(9)])
        scene.skipped(interest, to: .at(8), wentBack: true)
        scene.attached(interest, at: .at(8))
        #expect(scene.gaps == [.at(8)] && scene.position() == .at(8))
        scene.gather(9, interest: interest)
        scene.flush()
        #expect(scene.taken(session) == [9, 9], "they are two messages")
    }

    @Test("an attach that timed out, though messaging had performed it: nothing comes twice, nothing is lost")
    mutating func timedOutAttach() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(session)
        scene.index.linkLost(0)
        #expect(scene.index.reattach(0, limit: 1).map(\.after) == [.at(7)])
        scene.gather(8, interest: interest)
        scene.attachFailed(interest)
        #expect(scene.index.reattach(0, limit: 1).map(\.after) == [.at(8)])
        // Still of the first attach, then of the second one.
        for offset in [9, 10, 9, 10, 11] as [UInt64] { scene.gather(offset, interest: interest) }
        scene.attached(interest, at: .at(11))
        scene.gather(12, interest: interest)
        scene.flush()
        #expect(scene.taken(session) == [8, 9, 10, 11, 12])
    }

    @Test("until the attach is answered an entry counts if only entries of other channels lie before it")
    mutating func otherChannels() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(session)
        scene.index.linkLost(0)
        #expect(scene.index.reattach(0, limit: 1).map(\.after) == [.at(7)])
        // The first is of an attach that had timed out: something of this channel lies between.
        scene.gather(30, skipped: 5, interest: interest)
        scene.gather(20, skipped: 12, interest: interest)
        scene.gather(30, skipped: 9, interest: interest)
        scene.attached(interest, at: .at(30))
        scene.gather(41, skipped: 10, interest: interest)
        scene.flush()
        #expect(scene.taken(session) == [20, 30, 41])
    }

    @Test("subscribers stay while attaching fails; a channel without any is not asked for again")
    mutating func failedReattach() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(session)
        scene.index.linkLost(0)
        for _ in 0..<3 {
            #expect(scene.index.reattach(0, limit: 5).map(\.interest) == [interest])
            scene.attachFailed(interest)
            #expect(scene.isLive(session))
        }
        scene.leave(session)
        #expect(scene.detaches == [DetachPush(interest: interest)])
        #expect(scene.index.reattach(0, limit: 5).isEmpty)
    }

    @Test("a session that ends leaves all its channels, with a detach for each where it was the last")
    mutating func sessionEnds() throws {
        let (ending, staying) = (scene.session(1), scene.session(2))
        var interests: [UInt64] = []
        for name in ["a", "b", "c"] { interests.append(try scene.subscribe(ending, to: .test(name))) }
        try scene.subscribe(staying, to: .test("b"))
        scene.change { $0.ended(ending) }
        #expect(Set(scene.detaches.map(\.interest)) == [interests[0], interests[2]])
        #expect(scene.index.bySession.all(of: ending).isEmpty)
        #expect(scene.index.channelCount == 1)
    }

    @Test("a gap takes away that a subscribe on its way has missed nothing: it reads the log")
    mutating func gapWhilePreparing() throws {
        let (old, new) = (scene.session(1), scene.session(2))
        let interest = try scene.subscribe(old)
        scene.presenceAnswers = false
        scene.enter(new)
        scene.index.linkLost(0)
        _ = scene.index.reattach(0, limit: 1)
        scene.attached(interest, at: .at(3, epoch: 6), gap: true)
        scene.presenceAnswered(try #require(scene.questions.last).id)
        #expect(scene.reads.map(\.after) == [.at(7)])
    }
}
