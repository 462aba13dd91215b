import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceLink
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// What an edge does between its clients and storage: waits for locks, sessions that hold some, snapshots;
/// and what becomes of them when storage is gone in between.
@Suite("An edge and storage") struct EdgeStorageTests {
    private let fixture = EdgeFixture()
    private var storage: FakeService { fixture.storage }

    // MARK: Waiting for a lock

    @Test(
        "K-4, K-5: who gets a ticket hears nothing until the lock is granted, and then the answer to its request"
    )
    func granted() {
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        anna.acquire(3, "a")
        storage.answerAcquired(1)
        fixture.pass()
        #expect(anna.take().map(\.lockAcquired.fencingToken) == [1])
        anna.acquire(4, "b")
        storage.answerWithTicket(100)
        ben.acquire(4, "b")
        storage.answerWithTicket(101)
        fixture.pass(.seconds(60))
        #expect(anna.take().isEmpty && ben.take().isEmpty, "a wait has no end of its own")
        storage.grant(101, 7)
        fixture.pass()
        let answer = ben.take()
        #expect(answer.map(\.requestID) == [4] && answer.first?.lockAcquired.fencingToken == 7)
        // A ticket is worth one answer.
        storage.grant(101, 8)
        fixture.pass()
        #expect(ben.take().isEmpty && anna.take().isEmpty)
        storage.push(
            StorageMethod.lockGranted.number,
            LockGrantedPush(ticket: 100, error: RTMError(.lockNotExist, "removed"))
        )
        fixture.pass()
        #expect(anna.take().map(\.error.code) == [.errorLockNotExist], "K-3")
        fixture.end()
    }

    @Test("The grant that comes together with the ticket is not lost")
    func grantedAtOnce() {
        let anna = fixture.client("anna")
        anna.acquire(3, "a")
        storage.answerWithTicket(100)
        storage.grant(100, 5)
        fixture.pass()
        #expect(anna.take().map(\.lockAcquired.fencingToken) == [5])
        fixture.end()
    }

    @Test(
        "K-6: storage is lost while sessions wait: each is answered once, and what comes for its ticket later isn't"
    )
    func lostWhileWaiting() {
        let anna = fixture.client("anna")
        for number in 0..<3 {
            anna.acquire(UInt64(3 + number), "lock\(number)")
            storage.answerWithTicket(UInt64(100 + number))
        }
        // This one has not even a ticket.
        anna.acquire(6, "late")
        storage.stop()
        let refusals = anna.take()
        #expect(refusals.map(\.requestID).sorted() == [3, 4, 5, 6])
        let codes = Dictionary(uniqueKeysWithValues: refusals.map { ($0.requestID, $0.error.code) })
        #expect(codes[3] == .errorLockOperationTimeout && codes[5] == .errorLockOperationTimeout)
        #expect(codes[6] == .errorLockNotAvailable)
        #expect(refusals.allSatisfy { $0.error.retryAfterMs > 0 })
        storage.start()
        fixture.pass(.seconds(1))
        storage.grant(100, 9)
        fixture.pass()
        #expect(anna.take().isEmpty)
        // Nothing of them counts any more.
        for number in 0..<SessionLocks.acquiresMax { anna.acquire(UInt64(10 + number), "l\(number)") }
        #expect(anna.take().isEmpty)
        anna.acquire(99, "one more")
        #expect(anna.take().map(\.error.code) == [.errorLockOperationFailed])
        fixture.end()
    }

    @Test(
        "A session that ends while it waits: storage hears of it, and a grant that was under way goes nowhere"
    )
    func endedWhileWaiting() {
        let anna = fixture.client("anna")
        anna.acquire(3, "a")
        storage.answerWithTicket(100)
        anna.acquire(4, "b")
        fixture.pass()
        anna.vanish()
        #expect(storage.sessions.map(\.change) == [.ended])
        #expect(storage.sessions.first?.caller.userID == "anna")
        // Its second ticket comes after its end.
        storage.answerWithTicket(101)
        storage.grant(100, 5)
        storage.grant(101, 6)
        fixture.pass()
        #expect(fixture.edge.locks.waitCount == 0)
        fixture.end()
    }

    // MARK: Shards

    @Test(
        "K-6, K-11: calls go to the shard of their channel; the loss of one ends the waits there, and who leads next learns of sessions with locks there"
    )
    func shards() throws {
        let fixture = EdgeFixture(storageShards: 2)
        let storage = fixture.storage
        let channels = try (0..<2).map { shard in
            try #require(
                (0..<100).map { "room \($0)" }.first { fixture.key($0).storageShard(among: 2) == shard })
        }
        let anna = fixture.client("anna")
        for (shard, channel) in channels.enumerated() {
            anna.acquire(UInt64(3 + shard), "a", in: channel)
            #expect(storage.received.last?.shard == shard)
            // Each shard counts its tickets by itself.
            storage.answerWithTicket(100)
        }
        anna.acquire(5, "b", in: channels[1])
        storage.answerAcquired(1)
        fixture.pass()
        #expect(anna.take().map(\.requestID) == [5])
        storage.forget()
        storage.lose(1)
        #expect(anna.take().map(\.requestID) == [4], "the other wait lasts")
        #expect(storage.received.isEmpty)
        // The shard is away when one session ends, and the other one is there.
        let ben = fixture.client("ben")
        ben.acquire(3, "a", in: channels[0])
        storage.answerAcquired(7)
        storage.forget()
        ben.vanish()
        #expect(storage.sessions(in: 0).map(\.change) == [.ended])
        fixture.pass(.seconds(5))
        #expect(storage.sessions(in: 0).count == 1, "nothing is new for a shard that was there")
        #expect(storage.sessions(in: 1).map(\.change) == [.ended, .entered])
        #expect(storage.sessions(in: 1).last?.channel == fixture.key(channels[1]))
        storage.grant(100, 9, in: 1)
        fixture.pass()
        #expect(anna.take().isEmpty, "a ticket of another shard")
        storage.grant(100, 5, in: 0)
        fixture.pass()
        #expect(anna.take().map(\.lockAcquired.fencingToken) == [5])
        storage.forget()
        anna.vanish()
        #expect(storage.sessions(in: 0).map(\.change) == [.ended])
        #expect(storage.sessions(in: 1).map(\.change) == [.ended])
        fixture.end()
    }

    // MARK: Sessions

    @Test("K-11: storage hears where sessions that use locks come and go, and of no others")
    func sessions() {
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        for client in [anna, ben] { enter(client, "lobby", 3) }
        ben.send(4, .unsubscribe(.with { $0.channel = "lobby" }))
        ben.vanish()
        #expect(storage.sessions.isEmpty)
        anna.acquire(4, "a")
        storage.answerAcquired(1)
        anna.send(5, .unsubscribe(.with { $0.channel = "lobby" }))
        enter(anna, "lobby", 6)
        anna.send(7, .logout(.init()))
        #expect(storage.sessions.map(\.change) == [.left, .entered, .ended])
        #expect(storage.sessions.map(\.channel) == [fixture.key("lobby"), fixture.key("lobby"), nil])
        #expect(Set(storage.sessions.map(\.caller.userID)) == ["anna"])
        fixture.end()
    }

    @Test(
        "S-45: storage hears that a silent owner is offline at the heartbeat's deadline, whatever presence waits",
        arguments: [UInt32(5), 300])
    func silentOwner(presenceTimeout: UInt32) {
        let anna = fixture.client("anna", heartbeat: 5, presenceTimeout: presenceTimeout)
        anna.acquire(3, "a")
        storage.answerAcquired(1)
        anna.send(4, .heartbeat(.init()))
        fixture.pass(.seconds(15) - .milliseconds(2))
        #expect(storage.sessions.isEmpty)
        // Deadlines are looked at several times a second.
        fixture.pass(.seconds(1))
        #expect(storage.sessions.map(\.change) == [.ended])
        #expect(storage.sessions.first?.caller.userID == "anna")
        fixture.end()
    }

    @Test("K-11: after storage was away it hears who ended meanwhile, and who is still there")
    func sessionsReported() {
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        for client in [anna, ben] {
            client.acquire(3, "of \(client === anna ? "anna" : "ben")")
            storage.answerAcquired(1)
        }
        fixture.pass()
        storage.stop()
        storage.forget()
        anna.vanish()
        storage.start()
        fixture.pass(.seconds(1))
        #expect(storage.sessions.map(\.change) == [.ended, .entered])
        #expect(storage.sessions.map(\.caller.userID) == ["anna", "ben"])
        #expect(storage.sessions.last?.channel == fixture.key("lobby"))
        // The end once; who is there after every loss.
        storage.stop()
        storage.forget()
        storage.start()
        fixture.pass(.seconds(1))
        #expect(storage.sessions.map(\.change) == [.entered])
        fixture.end()
    }

    @Test("K-11: an owner that left the channel and came back is still there after storage was away")
    func cameBack() {
        let anna = fixture.client("anna")
        anna.acquire(3, "manage")
        storage.answerAcquired(1)
        fixture.pass()
        anna.subscribe(4, "lobby", [.message])
        fixture.presence.answerJoin()
        fixture.pass()
        anna.send(5, .unsubscribe(.with { $0.channel = "lobby" }))
        anna.subscribe(6, "lobby", [.message])
        fixture.presence.answerJoin()
        fixture.pass()
        #expect(storage.sessions.map(\.change) == [.entered, .left, .entered])
        storage.stop()
        storage.forget()
        storage.start()
        fixture.pass(.seconds(1))
        #expect(storage.sessions.map(\.change) == [.entered])
        #expect(storage.sessions.last?.channel == fixture.key("lobby"))
        fixture.end()
    }

    @Test("L-41: locks may be used in ever new channels by whoever gives them back")
    func everNewChannels() {
        let anna = fixture.client("anna")
        for number in 0..<UInt64(SessionLocks.channelsMax) + 10 {
            anna.acquire(3 + 2 * number, "l", in: "channel \(number)")
            storage.answerAcquired(number + 1)
            fixture.pass()
            anna.release(4 + 2 * number, "l", in: "channel \(number)")
            storage.answerDone()
            fixture.pass()
        }
        #expect(anna.take().allSatisfy { $0.error.code == .errorOk })
        anna.acquire(9_000, "kept", in: "lobby")
        storage.answerAcquired(9_000)
        anna.acquire(9_001, "missing", in: "hall")
        storage.refuse(StorageMethod.call.number, RTMError(.lockNotExist, "there is no such lock"))
        fixture.pass()
        storage.stop()
        storage.forget()
        storage.start()
        fixture.pass(.seconds(1))
        #expect(storage.sessions.map(\.channel) == [fixture.key("lobby")], "it is told of what is held")
        fixture.end()
    }

    @Test("Locks in a thousand channels at one time are the limit, which is told")
    func channelsAtOneTime() {
        let anna = fixture.client("anna")
        for number in 0..<UInt64(SessionLocks.channelsMax) {
            anna.acquire(3 + number, "l", in: "channel \(number)")
            storage.answerAcquired(number + 1)
            fixture.pass()
        }
        _ = anna.take()
        anna.acquire(9_000, "l", in: "one more")
        let refusal = anna.take().first?.error
        #expect(refusal?.code == .errorLockOperationFailed && refusal?.limit.name == "channels with locks")
        anna.acquire(9_001, "another", in: "channel 7")
        storage.answerAcquired(9_001)
        fixture.pass()
        #expect(anna.take().map(\.lockAcquired.fencingToken) == [9_001])
        fixture.end()
    }

    // MARK: Snapshots

    @Test(
        "M-4: a subscribe with metadata or locks asks storage once; its frames come behind those of presence")
    func snapshots() {
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby", [.presence, .metadata, .lock])
        #expect(storage.snapshots.map(\.channel) == [fixture.key("lobby")])
        #expect(storage.snapshots.first?.metadata == true && storage.snapshots.first?.locks == true)
        answerSnapshot("lobby")
        fixture.pass()
        #expect(anna.take().isEmpty, "it waits for presence, too")
        fixture.presence.answerJoin(["anna"])
        fixture.pass()
        let frames = anna.take()
        #expect(frames.map(\.requestID) == [3, 0, 0])
        #expect(frames[1].presenceSnapshot.channel == "lobby" && frames[2].metadata.target == "lobby")
        // M-5: only for what is new.
        anna.subscribe(4, "lobby", [.presence, .metadata, .lock])
        fixture.presence.answerJoin()
        fixture.pass()
        #expect(storage.snapshots.count == 1 && anna.take().map(\.requestID) == [4])
        anna.subscribe(5, "hall", .message)
        #expect(storage.snapshots.count == 1)
        fixture.end()
    }

    @Test("Storage is lost while it is asked: the subscribe succeeds, and says what can't be had")
    func snapshotLost() {
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby", [.message, .metadata, .lock])
        fixture.presence.answerJoin()
        storage.stop()
        let subscribed = anna.take()
        #expect(subscribed.map(\.requestID) == [3])
        let unavailable = SubscriptionFeatures(
            rawValue: subscribed.first?.subscribed.featuresUnavailable ?? 0)
        #expect(unavailable == [.metadata, .lock])
        // A user's metadata alone are nothing without storage (D-44).
        anna.send(4, .subscribeUserMetadata(.with { $0.userID = "ben" }))
        #expect(anna.take().map(\.error.code) == [.errorStorageNotAvailable])
        fixture.end()
    }

    private func enter(_ client: EdgeClient, _ channel: String, _ id: UInt64) {
        client.subscribe(id, channel, .message)
        fixture.presence.answerJoin()
        fixture.pass()
        #expect(client.take().contains { $0.requestID == id && $0.subscribed.featuresUnavailable == 0 })
    }

    private func answerSnapshot(_ channel: String) {
        let frame = Rtm_Client_ServerFrame.with { $0.metadata.target = channel }
        FakeService.bytes([frame]).withUnsafeBytes { bytes in
            _ = storage.answer(StorageMethod.snapshot.number, SnapshotResponse(frames: WireText(bytes)))
        }
    }
}
