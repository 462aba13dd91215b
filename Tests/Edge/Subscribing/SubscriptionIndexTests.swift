import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire
import Testing

@testable import RTMEdgeServer

/// Single steps of the index. Those about the link are in SubscriptionIndexLinkTests, those of one subscribe
/// in SubscribeMachineTests. What holds over any sequence of them is in SubscriptionHistoryTests.
@Suite("The subscription index")
struct SubscriptionIndexTests {
    var scene = IndexScene()

    // MARK: Entering

    @Test("the first session attaches the channel, others wait for the same answer, later ones go on at once")
    mutating func entering() throws {
        let (first, second, third) = (scene.session(1), scene.session(2), scene.session(3))
        let one = scene.enter(first)
        let request = try #require(scene.attaches.first)
        #expect(request.channel == .test("a") && request.after == nil)
        let two = scene.enter(second)
        #expect(scene.attaches.count == 1 && scene.answers.isEmpty)
        scene.attached(request.interest, at: .at(7))
        #expect(scene.answers[one]?.position == .at(7) && scene.answers[two]?.position == .at(7))
        let three = scene.enter(third)
        #expect(scene.answers[three]?.position == .at(7))
        #expect(scene.attaches.count == 1 && scene.gaps.isEmpty)
        #expect(scene.entered == [first, second, third])
        #expect(scene.index.channelCount == 1)
    }

    @Test("a failed attach refuses all who wait, and the last of them frees the index")
    mutating func attachFails() throws {
        let requests = [scene.enter(scene.session(1)), scene.enter(scene.session(2))]
        let interest = try #require(scene.attaches.first?.interest)
        scene.attachFailed(interest)
        #expect(
            requests.map { scene.answers[$0]?.refusal } == [
                .channelSubscribeTimeout, .channelSubscribeTimeout,
            ])
        #expect(scene.detaches == [DetachPush(interest: interest)])
        #expect(scene.index.channelCount == 0)
        scene.attached(interest, at: .at(1))
        scene.attachFailed(interest)
        #expect(scene.index.channelCount == 0 && scene.detaches.count == 1)
    }

    @Test("an index that is used again has another number, and nothing for the old number reaches it")
    mutating func reusedPlace() throws {
        let (session, other) = (scene.session(1), scene.session(2))
        let old = try scene.subscribe(session)
        scene.leave(session)
        #expect(scene.detaches == [DetachPush(interest: old)])
        let new = try scene.subscribe(other, to: .test("b"))
        #expect(new != old)
        scene.gather(8, interest: old)
        scene.flush()
        #expect(scene.taken(other).isEmpty)
        scene.index.linkLost(0)
        scene.attached(old, at: .at(9))
        #expect(scene.position(.test("b")) == .at(7))
    }

    @Test("a number that was never given is nobody's, in an empty index and in one with a free index")
    mutating func unknownInterest() throws {
        for interest in [0, 1, .max] as [UInt64] { scene.gather(1, interest: interest) }
        let session = scene.session(1)
        try scene.subscribe(session)
        scene.leave(session)
        for interest in [0, 1, .max] as [UInt64] {
            scene.gather(1, interest: interest)
            scene.attached(interest, at: .at(1))
            scene.attachFailed(interest)
        }
        scene.flush()
        #expect(scene.deliveries == 0 && scene.index.channelCount == 0)
    }

    @Test("a session that unsubscribes or ends before the answer is let go at once")
    mutating func leftMeanwhile() throws {
        let (leaving, ending) = (scene.session(1), scene.session(2))
        let one = scene.enter(leaving)
        scene.enter(ending)
        let interest = try #require(scene.attaches.first?.interest)
        scene.leave(leaving)
        #expect(scene.answers[one]?.refusal == .channelSubscribeFailed)
        #expect(scene.detaches.isEmpty, "the other one still waits")
        scene.change { $0.ended(ending) }
        #expect(scene.detaches == [DetachPush(interest: interest)])
        scene.attached(interest, at: .at(1))
        #expect(scene.index.channelCount == 0 && scene.entered.isEmpty)
    }

    @Test("of two subscribes with an unsubscribe between them the second one counts")
    mutating func subscribedAgain() throws {
        let session = scene.session(1)
        let one = scene.enter(session)
        scene.leave(session)
        let two = scene.enter(session)
        let interest = try #require(scene.attaches.last?.interest)
        scene.attached(interest, at: .at(1))
        #expect(scene.answers[one]?.refusal == .channelSubscribeFailed)
        #expect(scene.answers[two]?.position == .at(1))
        scene.leave(session)
        #expect(scene.detaches.last == DetachPush(interest: interest))
        #expect(scene.index.channelCount == 0)
    }

    @Test("a slot that has another session now gives nothing of the session before")
    mutating func reusedSlot() throws {
        let before = scene.session(1)
        try scene.subscribe(before)
        scene.change { $0.ended(before) }
        let after = SessionKey(id: SessionID(rawValue: 2), slot: before.slot)
        try scene.subscribe(after)
        #expect(!scene.index.isSubscribed(before, to: .test("a")))
        #expect(scene.index.subscriptionsToRefresh(of: before).isEmpty)
        scene.change { $0.ended(before) }
        #expect(scene.index.isSubscribed(after, to: .test("a")))
    }

    @Test("L-24, L-38: what counts against a limit is what is subscribed, or on its way, and not the inbox")
    mutating func counts() throws {
        let session = scene.session(1)
        let owner = InboxOwner(session: session, instance: 1, attempt: 0, isReturn: false)
        scene.enter(session, ChannelKey(appID: "app", type: .user, name: "1"), purpose: .login(owner))
        try scene.subscribe(session)
        scene.enter(session, .test("b"))
        scene.enter(session, ChannelKey(appID: "app", type: .none, name: "bob"), purpose: .userMetadata)
        #expect(scene.index.count(of: session, in: .message) == 2)
        #expect(scene.index.count(of: session, in: .none) == 1)
        scene.enter(session)
        #expect(scene.index.count(of: session, in: .message) == 2, "it comes in again")
        scene.leave(session)
        scene.leave(session, .test("b"))
        #expect(scene.index.count(of: session, in: .message) == 0)
        scene.change { $0.ended(session) }
        #expect(scene.index.count(of: session, in: .none) == 0)
    }

    // MARK: Delivery

    @Test(
        "M-2, M-21: each gets what its features select, without its own; those who get all share one buffer")
    mutating func selection() throws {
        let publisher = scene.session(1)
        let interest = try scene.subscribe(publisher, features: [.message, .presence])
        let (all, messages) = (scene.session(2), scene.session(3))
        try scene.subscribe(all, features: [.message, .presence])
        try scene.subscribe(messages, features: [.message])
        scene.gather(8, interest: interest, from: 1)
        scene.gather(9, interest: interest, feature: .presence)
        scene.gather(10, interest: interest)
        #expect(scene.taken(all).isEmpty, "nothing before the end of the turn")
        scene.flush()
        #expect(scene.taken(publisher) == [9, 10])
        #expect(scene.taken(all) == [8, 9, 10])
        #expect(scene.taken(messages) == [8, 10])
        #expect(scene.deliveries == 7)
        scene.flush()
        #expect(scene.taken(all).isEmpty && scene.deliveries == 7)
    }

    @Test("M-43: who asked for its own messages gets them at their places, and nothing else of its own")
    mutating func ownMessages() throws {
        let (author, reader) = (scene.session(1), scene.session(2))
        let interest = try scene.subscribe(author, features: [.message, .presence, .ownMessages])
        try scene.subscribe(reader, features: [.message, .presence])
        scene.gather(8, interest: interest, from: 2)
        scene.gather(9, interest: interest, from: 1)
        scene.gather(10, interest: interest, from: 1, feature: .presence)
        scene.gather(11, interest: interest)
        scene.flush()
        #expect(scene.taken(author) == [8, 9, 11])
        #expect(scene.taken(reader) == [9, 10, 11])
        #expect(scene.deliveries == 6)
    }

    @Test("M-43: subscribing again replaces it, and a new snapshot keeps it")
    mutating func ownMessagesReplaced() throws {
        let author = scene.session(1)
        let interest = try scene.subscribe(author, features: [.message, .presence, .ownMessages])
        let channelIndex = try #require(scene.index.channels.index(of: .test("a")))
        scene.change { $0.refresh(author, at: channelIndex) ?? [] }
        scene.gather(8, interest: interest, from: 1)
        scene.flush()
        #expect(scene.taken(author) == [8])
        scene.gather(9, interest: interest, from: 1)
        scene.enter(author, features: .message)
        #expect(scene.taken(author) == [9], "what came before it")
        scene.gather(10, interest: interest, from: 1)
        scene.enter(author, features: [.message, .ownMessages])
        scene.gather(11, interest: interest, from: 1)
        scene.flush()
        #expect(scene.taken(author) == [11])
    }

    @Test("entries that came together go on together, those among them that were seen before left out")
    mutating func together() throws {
        let (publisher, session) = (scene.session(1), scene.session(2))
        let interest = try scene.subscribe(session)
        try scene.subscribe(publisher)
        scene.gather(run: 8...10, interest: interest, from: 1)
        scene.gather(run: 6...8, interest: interest)
        scene.gather(run: 9...12, interest: interest)
        scene.gather(run: 13...14, interest: interest)
        scene.flush()
        #expect(scene.taken(session) == [8, 9, 10, 11, 12, 13, 14])
        #expect(scene.taken(publisher) == [11, 12, 13, 14])
        #expect(scene.deliveries == 11)
        #expect(scene.position() == .at(14))
    }

    @Test("while an attach is under way, entries that came together count from the one behind our position")
    mutating func togetherWhileAttaching() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(session)
        scene.index.linkLost(0)
        #expect(scene.index.reattach(0, limit: 10).count == 1)
        scene.gather(run: 9...10, interest: interest)
        scene.gather(run: 6...8, interest: interest)
        scene.gather(run: 7...9, interest: interest)
        scene.flush()
        #expect(scene.taken(session) == [8, 9])
    }

    @Test("M-33: a message to everybody (publisher session 0) goes to everybody")
    mutating func everybody() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(session)
        scene.gather(8, interest: interest, from: 0)
        scene.flush()
        #expect(scene.taken(session) == [8])
    }

    @Test("many channels in one turn, and again: each entry comes once, in its channel's order")
    mutating func manyChannels() throws {
        let session = scene.session(1)
        var interests: [UInt64] = []
        for number in 0..<200 { interests.append(try scene.subscribe(session, to: .test("\(number)"))) }
        for offset in [8, 9] as [UInt64] {
            for interest in interests { scene.gather(offset, interest: interest) }
            scene.flush()
            #expect(scene.taken(session) == Array(repeating: offset, count: 200))
        }
    }

    @Test("M-5: a subscriber that gets other features stands still until it comes in again")
    mutating func comesInAgain() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(session, features: [.message])
        scene.presenceAnswers = false
        scene.gather(8, interest: interest)
        let request = scene.enter(session, features: [.presence])
        #expect(scene.taken(session) == [8], "what was gathered before")
        #expect(scene.index.isSubscribing(session, to: .test("a")))
        #expect(scene.index.subscriptions(of: session, in: .message).count == 1)
        scene.gather(9, interest: interest)
        scene.flush()
        #expect(scene.taken(session).isEmpty)
        scene.presenceAnswered(try #require(scene.questions.last).id)
        #expect(scene.answers[request]?.position == .at(9), "what came is nothing that it wants to see")
        #expect(scene.reads.isEmpty)
        scene.gather(10, interest: interest)
        scene.gather(11, interest: interest, feature: .presence)
        scene.flush()
        #expect(scene.taken(session) == [11])
    }

    @Test("one who is admitted in the middle of a turn sees nothing of it from before")
    mutating func admittedMidTurn() throws {
        let (old, new) = (scene.session(1), scene.session(2))
        let interest = try scene.subscribe(old)
        scene.gather(8, interest: interest)
        let request = scene.enter(new)
        #expect(scene.answers[request]?.position == .at(8))
        scene.gather(9, interest: interest)
        scene.flush()
        #expect(scene.taken(old) == [8, 9])
        #expect(scene.taken(new) == [9])
    }

    @Test(
        "a channel in the channelIndex of one that everybody left in the same turn gets none of its entries")
    mutating func placeTakenMidTurn() throws {
        let (old, new) = (scene.session(1), scene.session(2))
        let interest = try scene.subscribe(old)
        scene.gather(8, interest: interest)
        scene.leave(old)
        let taken = try scene.subscribe(new, to: .test("b"))
        #expect(
            UInt32(truncatingIfNeeded: taken) == UInt32(truncatingIfNeeded: interest), "the same channelIndex"
        )
        scene.gather(8, interest: taken)
        scene.flush()
        #expect(scene.taken(old).isEmpty)
        #expect(scene.taken(new) == [8])
    }

    @Test("leaving in any order leaves the others what is theirs")
    mutating func leavingOrder() throws {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let sessions = (1...4).map { scene.session(UInt64($0)) }
            var interest: UInt64 = 0
            for session in sessions { interest = try scene.subscribe(session) }
            var offset: UInt64 = 8
            var left: Set<Int> = []
            for leaving in order {
                scene.gather(offset, interest: interest)
                scene.flush()
                for (number, session) in sessions.enumerated() {
                    #expect(scene.taken(session) == (left.contains(number) ? [] : [offset]))
                }
                offset += 1
                scene.forget()
                scene.leave(sessions[leaving])
                left.insert(leaving)
                #expect(scene.detaches.isEmpty == (left.count < 4))
            }
            #expect(scene.index.channelCount == 0)
        }
    }
}
