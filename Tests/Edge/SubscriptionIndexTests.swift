import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

/// Single steps of the index; those about the link are in SubscriptionIndexLinkTests. What holds over any
/// sequence of them is in SubscriptionHistoryTests.
@Suite("The subscription index")
struct SubscriptionIndexTests {
    var index = SubscriptionIndex()
    let key = ChannelKey.test("a")
    var lastRequest: UInt64 = 0

    // MARK: Entering

    @Test("the first session attaches the channel, others wait for the same answer, later ones go on at once")
    mutating func entering() throws {
        let (first, second, third) = (session(1), session(2), session(3))
        let request = try attachRequest(enter(first).action)
        #expect(request.channel == key && request.after == nil)
        #expect(enter(second).action == .wait)
        let attached = try known(answered(request.interest, at: .at(7)))
        #expect(attached.waiting.map(\.session.id) == [first.id, second.id])
        #expect(attached.gap == nil)
        for pending in attached.waiting { #expect(index.admit(pending, at: attached.place) == .at(7)) }
        #expect(enter(third).action == .proceed(place: attached.place))
        #expect(index.channelCount == 1)
    }

    @Test("a failed attach refuses all who wait, and the last of them takes the place away")
    mutating func attachFails() throws {
        let request = try attachRequest(enter(session(1)).action)
        _ = enter(session(2))
        let (place, refused) = try known(index.attachFailed(request.interest))
        #expect(refused.count == 2)
        #expect(index.abandon(refused[0], at: place) == nil)
        #expect(index.abandon(refused[1], at: place) == DetachPush(interest: request.interest))
        #expect(index.channelCount == 0)
        #expect(answered(request.interest, at: .at(1)) == nil)
        #expect(index.attachFailed(request.interest) == nil)
    }

    @Test("a place that is used again has another number, and nothing for the old number reaches it")
    mutating func reusedPlace() throws {
        let (session, other) = (session(1), session(2))
        let old = try subscribe(session)
        #expect(index.remove(session, at: 0) == DetachPush(interest: old))
        let new = try subscribe(other, to: .test("b"))
        #expect(new != old)
        gather(8, interest: old)
        index.flush()
        #expect(taken(other).isEmpty)
        index.linkLost()
        #expect(answered(old, at: .at(9)) == nil)
        #expect(index.position(at: 0) == .at(7))
    }

    @Test("a number that was never given is nobody's, in an empty index and in one with a free place")
    mutating func unknownInterest() throws {
        for interest in [0, 1, .max] as [UInt64] { gather(1, interest: interest) }
        let session = session(1)
        _ = try subscribe(session)
        _ = index.remove(session, at: 0)
        for interest in [0, 1, .max] as [UInt64] {
            gather(1, interest: interest)
            #expect(answered(interest, at: .at(1)) == nil)
            #expect(index.attachFailed(interest) == nil)
        }
        index.flush()
        #expect(index.deliveries == 0)
    }

    @Test("a session that unsubscribes or ends before the answer is no longer expected")
    mutating func leftMeanwhile() throws {
        let (leaving, ending) = (session(1), session(2))
        let (one, first) = enter(leaving)
        let (two, _) = enter(ending)
        let request = try attachRequest(first)
        #expect(index.isCurrent(one, at: 0) && index.isCurrent(two, at: 0))
        #expect(index.remove(leaving, at: 0) == nil)
        ending.end()
        #expect(index.removeAll(ending).isEmpty)
        #expect(!index.isCurrent(one, at: 0) && !index.isCurrent(two, at: 0))
        let attached = try known(answered(request.interest, at: .at(1)))
        #expect(attached.waiting.count == 2)
        #expect(index.abandon(one, at: 0) == nil)
        #expect(index.abandon(two, at: 0) == DetachPush(interest: request.interest))
    }

    @Test("of two subscribes with an unsubscribe between them the second one counts")
    mutating func subscribedAgain() throws {
        let session = session(1)
        let (one, first) = enter(session)
        let request = try attachRequest(first)
        _ = index.remove(session, at: 0)
        let (two, second) = enter(session)
        #expect(second == .wait)
        _ = answered(request.interest, at: .at(1))
        #expect(!index.isCurrent(one, at: 0))
        #expect(index.abandon(one, at: 0) == nil)
        #expect(index.isCurrent(two, at: 0))
        #expect(index.admit(two, at: 0) == .at(1))
        #expect(index.remove(session, at: 0) == DetachPush(interest: request.interest))
    }

    // MARK: Delivery

    @Test(
        "M-2, M-21: each gets what its features select, without its own; those who get all share one buffer")
    mutating func selection() throws {
        let publisher = session(1)
        let interest = try subscribe(publisher, features: [.message, .presence])
        let (all, messages) = (session(2), session(3))
        _ = try subscribe(all, features: [.message, .presence])
        _ = try subscribe(messages, features: [.message])
        gather(8, interest: interest, from: 1)
        gather(9, interest: interest, feature: .presence)
        gather(10, interest: interest)
        #expect(taken(all).isEmpty, "nothing before the end of the turn")
        index.flush()
        #expect(taken(publisher) == [9, 10])
        #expect(taken(all) == [8, 9, 10])
        #expect(taken(messages) == [8, 10])
        #expect(index.deliveries == 7)
        index.flush()
        #expect(taken(all).isEmpty && index.deliveries == 7)
    }

    @Test("entries that came together go on together, those among them that were seen before left out")
    mutating func together() throws {
        let (publisher, session) = (session(1), session(2))
        let interest = try subscribe(session)
        _ = try subscribe(publisher)
        gather(run: 8...10, interest: interest, from: 1)
        gather(run: 6...8, interest: interest)
        gather(run: 9...12, interest: interest)
        gather(run: 13...14, interest: interest)
        index.flush()
        #expect(taken(session) == [8, 9, 10, 11, 12, 13, 14])
        #expect(taken(publisher) == [11, 12, 13, 14])
        #expect(index.deliveries == 11)
        #expect(index.position(at: 0) == .at(14))
    }

    @Test("while an attach is under way, entries that came together count from the one behind our position")
    mutating func togetherWhileAttaching() throws {
        let session = session(1)
        let interest = try subscribe(session)
        index.linkLost()
        #expect(index.reattach(limit: 10).count == 1)
        gather(run: 9...10, interest: interest)
        gather(run: 6...8, interest: interest)
        gather(run: 7...9, interest: interest)
        index.flush()
        #expect(taken(session) == [8, 9])
    }

    @Test("a message to everybody (publisher session 0) goes to everybody, M-33")
    mutating func everybody() throws {
        let session = session(1)
        let interest = try subscribe(session)
        gather(8, interest: interest, from: 0)
        index.flush()
        #expect(taken(session) == [8])
    }

    @Test("M-5: a subscriber that gets other features stands still until it comes in again")
    mutating func pause() throws {
        let session = session(1)
        let interest = try subscribe(session, features: [.message])
        let live = session.liveSubscriptions
        gather(8, interest: interest)
        let first = index.pause(session, at: 0)
        let paused = try #require(first)
        #expect(paused.position == .at(8) && paused.features == .message)
        #expect(session.subscriptions[0]?.pausedAt == .at(8) && session.liveSubscriptions == live - 1)
        let second = index.pause(session, at: 0)
        #expect(second == nil)
        gather(9, interest: interest)
        index.flush()
        #expect(taken(session) == [8])
        let (pending, action) = enter(session, features: [.presence])
        #expect(action == .proceed(place: 0))
        #expect(index.admit(pending, at: 0) == .at(9))
        #expect(session.liveSubscriptions == live)
        gather(10, interest: interest)
        gather(11, interest: interest, feature: .presence)
        index.flush()
        #expect(taken(session) == [11])
    }

    @Test("one who is admitted in the middle of a turn sees nothing of it from before")
    mutating func admittedMidTurn() throws {
        let (old, new) = (session(1), session(2))
        let interest = try subscribe(old)
        gather(8, interest: interest)
        let (pending, _) = enter(new)
        #expect(index.admit(pending, at: 0) == .at(8))
        gather(9, interest: interest)
        index.flush()
        #expect(taken(old) == [8, 9])
        #expect(taken(new) == [9])
    }

    @Test("leaving in any order leaves the others what is theirs")
    mutating func leavingOrder() throws {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let sessions = (1...4).map { session(UInt64($0)) }
            var interest: UInt64 = 0
            for session in sessions { interest = try subscribe(session) }
            var offset: UInt64 = 8
            var left: Set<Int> = []
            for leaving in order {
                gather(offset, interest: interest)
                index.flush()
                for (number, session) in sessions.enumerated() {
                    #expect(taken(session) == (left.contains(number) ? [] : [offset]))
                }
                offset += 1
                let detach = index.remove(sessions[leaving], at: 0)
                left.insert(leaving)
                #expect((detach != nil) == (left.count == 4))
            }
            #expect(index.channelCount == 0)
        }
    }

    // MARK: -

    final class Sessions {
        var connections: [SessionID: RecordingConnection] = [:]
    }

    let sessions = Sessions()

    func session(_ id: UInt64) -> Session {
        let connection = RecordingConnection()
        let session = Session(
            id: SessionID(rawValue: id), application: .forTest, userID: "\(id)", heartbeatInterval: 5,
            connection: connection)
        sessions.connections[session.id] = connection
        return session
    }

    /// The offsets that the session has been sent since the last call.
    func taken(_ session: Session) -> [UInt64] {
        var frames = sessions.connections[session.id]?.takeSent() ?? ByteBuffer()
        var offsets: [UInt64] = []
        while let record = Record(&frames) { offsets.append(record.position.offset) }
        return offsets
    }

    mutating func enter(
        _ session: Session, _ channel: ChannelKey? = nil, features: SubscriptionFeatures = .message
    ) -> (pending: PendingSubscribe, action: SubscriptionIndex.EnterAction) {
        lastRequest += 1
        let pending = PendingSubscribe(
            session: session, requestID: lastRequest, features: features, after: nil, purpose: .subscribe)
        return (pending, index.enter(pending, channel ?? key))
    }

    func attachRequest(_ action: SubscriptionIndex.EnterAction) throws -> AttachRequest {
        guard case .attach(let request) = action else { throw UnexpectedAction(action: action) }
        return request
    }

    mutating func answered(
        _ interest: UInt64, at position: StreamPosition, gap: Bool = false
    ) -> SubscriptionIndex.Attached? {
        index.attached(interest, AttachResponse(position: position, gap: gap))
    }

    /// All the way to a subscriber; a new channel stands at 7. Returns the channel's number.
    mutating func subscribe(
        _ session: Session, to channel: ChannelKey? = nil, features: SubscriptionFeatures = .message
    ) throws -> UInt64 {
        let (pending, action) = enter(session, channel, features: features)
        switch action {
        case .attach(let request):
            let attached = try known(answered(request.interest, at: .at(7)))
            #expect(index.admit(pending, at: attached.place) == .at(7))
            interests[channel ?? key] = request.interest
        case .proceed(let place): _ = index.admit(pending, at: place)
        case .wait: throw UnexpectedAction(action: action)
        }
        return try #require(interests[channel ?? key])
    }

    var interests: [ChannelKey: UInt64] = [:]

    mutating func gather(
        _ offset: UInt64, interest: UInt64, from publisher: UInt64 = 99,
        feature: SubscriptionFeatures = .message
    ) {
        gather(run: offset...offset, interest: interest, from: publisher, feature: feature)
    }

    mutating func gather(
        run offsets: ClosedRange<UInt64>, interest: UInt64, from publisher: UInt64 = 99,
        feature: SubscriptionFeatures = .message
    ) {
        var frames = ByteBuffer()
        for offset in offsets {
            frames.writeImmutableBuffer(Record(channel: key, position: .at(offset)).frame)
        }
        frames.withUnsafeReadableBytes { bytes in
            index.gather(
                DeliveryPush(
                    interest: interest, offset: offsets.lowerBound, count: offsets.count,
                    publisherSession: publisher, feature: feature, frames: WireText(bytes)))
        }
    }
}

/// As `#require`, which doesn't take mutating calls.
func known<Value>(_ value: Value?) throws -> Value { try #require(value) }

private struct UnexpectedAction: Error {
    let action: SubscriptionIndex.EnterAction
}

extension StreamPosition {
    static func at(_ offset: UInt64, epoch: UInt64 = 5) -> StreamPosition {
        StreamPosition(epoch: epoch, offset: offset)
    }
}
