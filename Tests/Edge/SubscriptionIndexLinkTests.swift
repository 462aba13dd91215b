import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

/// What becomes of subscriptions while the link to messaging breaks and comes back.
extension SubscriptionIndexTests {
    @Test("after the link: subscribed channels are asked for again from where they stand, some at a time")
    mutating func reattach() throws {
        let session = session(1)
        var interests: [UInt64] = []
        for name in ["a", "b", "c", "d", "e"] { interests.append(try subscribe(session, to: .test(name))) }
        gather(8, interest: interests[0])
        #expect(index.reattach(limit: 10).isEmpty)
        index.linkLost()
        let requests = index.reattach(limit: 2) + index.reattach(limit: 2) + index.reattach(limit: 2)
        #expect(index.reattach(limit: 2).isEmpty)
        #expect(Set(requests.map(\.interest)) == Set(interests))
        for request in requests {
            #expect(request.after == .at(request.interest == interests[0] ? 8 : 7))
        }
    }

    @Test("what is sent again after a link comes before what is new; a gap is said with the new position")
    mutating func missed() throws {
        let session = session(1)
        let interest = try subscribe(session)
        index.linkLost()
        _ = index.reattach(limit: 1)
        gather(8, interest: interest)
        let attached = answered(interest, at: .at(8))
        #expect(attached?.gap == nil)
        #expect(taken(session) == [8])
        index.linkLost()
        _ = index.reattach(limit: 1)
        let lost = answered(interest, at: .at(2, epoch: 6), gap: true)
        #expect(lost?.gap == .at(2, epoch: 6))
        #expect(index.position(at: 0) == .at(2, epoch: 6))
        gather(3, interest: interest)
        index.flush()
        #expect(taken(session) == [3])
    }

    @Test("an attach that timed out, though messaging had performed it: nothing comes twice, nothing is lost")
    mutating func timedOutAttach() throws {
        let session = session(1)
        let interest = try subscribe(session)
        index.linkLost()
        #expect(index.reattach(limit: 1).map(\.after) == [.at(7)])
        gather(8, interest: interest)
        _ = index.attachFailed(interest)
        #expect(index.reattach(limit: 1).map(\.after) == [.at(8)])
        // Still of the first attach, then of the second one.
        for offset in [9, 10, 9, 10, 11] as [UInt64] { gather(offset, interest: interest) }
        _ = answered(interest, at: .at(11))
        gather(12, interest: interest)
        index.flush()
        #expect(taken(session) == [8, 9, 10, 11, 12])
    }

    @Test("subscribers stay while attaching fails; a channel without any is not asked for again")
    mutating func failedReattach() throws {
        let session = session(1)
        let interest = try subscribe(session)
        index.linkLost()
        for _ in 0..<3 {
            #expect(index.reattach(limit: 5).map(\.interest) == [interest])
            let failed = try known(index.attachFailed(interest))
            #expect(failed.refused.isEmpty)
        }
        #expect(index.remove(session, at: 0) == DetachPush(interest: interest))
        #expect(index.reattach(limit: 5).isEmpty)
    }

    @Test("a session that ends leaves all its channels, with a detach for each where it was the last")
    mutating func sessionEnds() throws {
        let (ending, staying) = (session(1), session(2))
        var interests: [UInt64] = []
        for name in ["a", "b", "c"] { interests.append(try subscribe(ending, to: .test(name))) }
        _ = try subscribe(staying, to: .test("b"))
        ending.end()
        let detached = Set(index.removeAll(ending).map(\.interest))
        #expect(detached == [interests[0], interests[2]])
        #expect(ending.subscriptions.isEmpty)
        #expect(index.channelCount == 1)
    }
}
