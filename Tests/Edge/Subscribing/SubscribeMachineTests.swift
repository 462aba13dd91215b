import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire
import Testing

@testable import RTMEdgeServer

/// The states of one subscribe, by what the index wants done.
@Suite("A subscribe on its way")
struct SubscribeMachineTests {
    private var scene = IndexScene()

    @Test("M-3, M-4: presence and storage are asked at once; the answer comes first, then presence, storage")
    mutating func snapshots() throws {
        let session = scene.session(1)
        try scene.subscribe(scene.session(2))
        scene.presenceAnswers = false
        let request = scene.enter(session, features: [.message, .presence, .metadata, .lock, .quiet])
        let query = try #require(scene.questions.last)
        let id = query.id
        #expect(query.join == .init(isQuiet: true, wantsSnapshot: true))
        #expect(query.stored == [.metadata, .lock])
        scene.storageAnswered(id, .success(IndexScene.frames(2...2)))
        #expect(scene.answers[request] == nil)
        scene.presenceAnswered(id, IndexScene.frames(1...1))
        #expect(scene.answers[request]?.position == .at(7))
        #expect(scene.taken(session) == [1, 2])
        #expect(scene.isLive(session))
    }

    @Test("what can't be had is said, and presence hears of the member later")
    mutating func unavailable() throws {
        let session = scene.session(1)
        try scene.subscribe(scene.session(2))
        scene.presenceAnswers = false
        let request = scene.enter(session, features: [.message, .presence, .metadata])
        let id = try #require(scene.questions.last).id
        scene.presenceAnswered(id, nil)
        scene.storageAnswered(id, .failure(.timedOut))
        guard case .subscribed(_, let unavailable, false, _) = scene.answers[request] else {
            Issue.record("not subscribed")
            return
        }
        #expect(unavailable == [.presence, .metadata])
        #expect(scene.joinsMissed == [false] && scene.lacking == [session])
    }

    @Test("P-46: states come with the join, and the answer says whether they are set")
    mutating func states() throws {
        let states = [StateItem(key: "seat", value: "1")]
        try scene.subscribe(scene.session(9))
        scene.presenceAnswers = false
        for (number, isSet) in [(1, true), (2, false)] as [(UInt64, Bool)] {
            let request = scene.enter(scene.session(number), states: states)
            let query = try #require(scene.questions.last)
            #expect(query.join?.states == states)
            scene.presenceAnswered(query.id, .snapshot([]), hasSetStates: isSet)
            guard case .subscribed(_, _, _, isSet) = scene.answers[request] else {
                Issue.record("\(String(describing: scene.answers[request]))")
                return
            }
        }
        // While presence is away they are held for the sync, and the client is not told that they are set.
        let request = scene.enter(scene.session(3), features: [.message, .presence], states: states)
        scene.presenceAnswered(try #require(scene.questions.last).id, .unavailable)
        guard case .subscribed(_, .presence, _, false) = scene.answers[request] else {
            Issue.record("\(String(describing: scene.answers[request]))")
            return
        }
        #expect(scene.statesHeld == [states])
    }

    @Test(
        "L-42: whom presence refuses because the channel is full isn't subscribed, and storage was waited for"
    )
    mutating func channelIsFull() throws {
        let session = scene.session(1)
        try scene.subscribe(scene.session(2))
        scene.presenceAnswers = false
        let request = scene.enter(session, features: [.message, .presence, .metadata])
        let id = try #require(scene.questions.last).id
        scene.presenceAnswered(id, .refused(RTMError(.channelSubscribeFailed, "the channel is full")))
        #expect(scene.answers[request] == nil)
        scene.storageAnswered(id, .success(IndexScene.frames(2...2)))
        #expect(scene.answers[request]?.refusal == .channelSubscribeFailed)
        #expect(scene.taken(session) == [] && !scene.isLive(session))
    }

    @Test("a user's metadata that can't be had are refused")
    mutating func metadataRefused() throws {
        let session = scene.session(1)
        let user = ChannelKey(appID: "app", type: .none, name: "bob")
        let request = scene.enter(session, user, features: .metadata, purpose: .userMetadata)
        scene.attached(try #require(scene.attaches.last?.interest), at: .at(7))
        let query = try #require(scene.questions.last)
        let id = query.id
        #expect(query.join == nil && query.stored == .metadata)
        scene.storageAnswered(id, .failure(.timedOut))
        #expect(scene.answers[request]?.refusal == .storageOperationTimeout)
        #expect(scene.index.channelCount == 0 && scene.notEntered.isEmpty)
    }

    @Test("the session's own join, and what it doesn't want to see, need no page")
    mutating func sparedPage() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(scene.session(2), features: [.message, .presence])
        scene.presenceAnswers = false
        let request = scene.enter(session, features: [.message, .presence])
        scene.gather(8, interest: interest, from: 1, feature: .presence)
        scene.gather(9, interest: interest, feature: .metadata)
        scene.presenceAnswered(try #require(scene.questions.last).id)
        #expect(scene.reads.isEmpty)
        #expect(scene.answers[request]?.position == .at(9))
        #expect(scene.taken(session).isEmpty)
    }

    @Test("M-43: an own message that came meanwhile is read, if it is wanted")
    mutating func ownMessage() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(scene.session(2))
        for features in [[.message], [.message, .ownMessages]] as [SubscriptionFeatures] {
            scene.forget()
            scene.presenceAnswers = false
            scene.enter(session, features: features)
            scene.gather((scene.position()?.offset ?? 0) + 1, interest: interest, from: 1)
            scene.presenceAnswered(try #require(scene.questions.last).id)
            #expect(scene.reads.map(\.features) == (features == .message ? [] : [features]))
            scene.leave(session)
        }
    }

    @Test("S-19: who continues may get a later position than the one it named, with nothing lost in between")
    mutating func laterPosition() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(scene.session(2), features: [.message, .presence])
        scene.presenceAnswers = false
        let request = scene.enter(session, features: [.message, .presence], after: .at(7))
        // Its own join takes an offset of the log, and the session may not see it.
        scene.gather(8, interest: interest, from: 1, feature: .presence)
        scene.presenceAnswered(try #require(scene.questions.last).id)
        guard case .subscribed(let position, _, let gap, _) = scene.answers[request] else {
            Issue.record("not subscribed")
            return
        }
        #expect(position == .at(8) && !gap && scene.reads.isEmpty)
        #expect(scene.taken(session).isEmpty && scene.isLive(session))
    }

    @Test("a big snapshot is asked for only when there is room, and given when it is there")
    mutating func bigSnapshot() throws {
        let session = scene.session(1)
        try scene.subscribe(scene.session(2))
        scene.presenceAnswers = false
        scene.isWritable = false
        let request = scene.enter(session, features: [.message, .presence])
        let id = try #require(scene.questions.last).id
        scene.presenceAnswered(id, .bigSnapshot)
        #expect(scene.answers[request]?.position == .at(7), "the answer doesn't wait")
        #expect(scene.collections.isEmpty && scene.waiting == [id])
        scene.isWritable = true
        scene.proceed(id)
        let asked = try #require(scene.collections.last)
        #expect(asked.join == nil && asked.wantsRoster && asked.stored.isEmpty)
        scene.isWritable = false
        scene.presenceAnswered(id, IndexScene.frames(1...3))
        #expect(scene.taken(session) == [1, 2, 3] && scene.isLive(session))
    }

    @Test("snapshots that come without room are dropped and read again; the answer waits for storage's")
    mutating func droppedSnapshots() throws {
        let session = scene.session(1)
        try scene.subscribe(scene.session(2))
        scene.presenceAnswers = false
        scene.isWritable = false
        let request = scene.enter(session, features: [.message, .presence, .metadata])
        let id = try #require(scene.questions.last).id
        scene.presenceAnswered(id, IndexScene.frames(1...1))
        scene.storageAnswered(id, .success(IndexScene.frames(2...2)))
        #expect(scene.answers[request] == nil && scene.taken(session).isEmpty)
        scene.isWritable = true
        scene.proceed(id)
        let asked = try #require(scene.collections.last)
        #expect(asked.wantsRoster && asked.stored == .metadata)
        scene.storageAnswered(id, .failure(.timedOut))
        scene.presenceAnswered(id, IndexScene.frames(3...4))
        guard case .subscribed(_, let unavailable, false, _) = scene.answers[request] else {
            Issue.record("not subscribed")
            return
        }
        #expect(unavailable == .metadata, "what can't be had is said")
        #expect(scene.taken(session) == [3, 4] && scene.isLive(session) && scene.joinsMissed.isEmpty)
    }

    @Test("of many who come at once only those that may see an entry have to read the log")
    mutating func manySubscribes() throws {
        let interest = try scene.subscribe(scene.session(1))
        scene.presenceAnswers = false
        let quiet = (2...4).map { scene.session($0) }
        let curious = (5...7).map { scene.session($0) }
        for session in quiet { scene.enter(session, features: .message) }
        for session in curious { scene.enter(session, features: [.message, .presence]) }
        // The join of the first of the curious ones: he is the only one of them who may not see it.
        scene.gather(8, interest: interest, from: 5, feature: .presence)
        for query in scene.questions.dropFirst() { scene.presenceAnswered(query.id) }
        #expect(scene.reads.map(\.session) == Array(curious.dropFirst()))
        for session in quiet + curious.prefix(1) { #expect(scene.isLive(session)) }
    }

    @Test("what came meanwhile and is to be seen is read, from the position that the answer says")
    mutating func read() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(scene.session(2))
        scene.presenceAnswers = false
        let request = scene.enter(session)
        scene.gather(8, interest: interest)
        // It has missed something before, so what it may not see makes no difference any more.
        scene.gather(9, interest: interest, from: 1)
        scene.presenceAnswered(try #require(scene.questions.last).id)
        let query = try #require(scene.reads.first)
        #expect(query.after == .at(7) && !query.showsOwn)
        #expect(scene.answers[request] == nil)
        scene.pageRead(query.id, SubscribePage(frames: IndexScene.frames(8...8), position: .at(9)))
        #expect(scene.answers[request]?.position == .at(7))
        #expect(scene.taken(session) == [8] && scene.isLive(session))
    }

    @Test("pages follow one another until the last one")
    mutating func pages() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(scene.session(2))
        scene.gather(run: 8...10, interest: interest)
        scene.enter(session, after: .at(6))
        let first = try #require(scene.reads.last)
        #expect(first.after == .at(6))
        scene.pageRead(
            first.id, SubscribePage(frames: IndexScene.frames(7...8), position: .at(8), more: true))
        #expect(!scene.isLive(session))
        let second = try #require(scene.reads.last)
        #expect(second.after == .at(8) && scene.reads.count == 2)
        scene.pageRead(second.id, SubscribePage(frames: IndexScene.frames(9...10), position: .at(10)))
        #expect(scene.taken(session) == [7, 8, 9, 10] && scene.isLive(session))
    }

    @Test("L-42: without room it is answered, holds no page, and reads it again when the client has read")
    mutating func room() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(scene.session(2))
        scene.gather(8, interest: interest)
        let request = scene.enter(session, after: .at(6))
        let read = try #require(scene.reads.last)
        scene.isWritable = false
        scene.pageRead(read.id, SubscribePage(frames: IndexScene.frames(7...8), position: .at(8)))
        #expect(scene.answers[request]?.position == .at(6), "the answer doesn't wait")
        #expect(scene.taken(session).isEmpty && scene.waiting.count == 1)
        scene.proceed(read.id)
        #expect(scene.waiting.count == 2, "another one took the room")
        scene.isWritable = true
        scene.proceed(read.id)
        #expect(scene.reads.count == 2 && scene.taken(session).isEmpty)
        scene.pageRead(read.id, SubscribePage(frames: IndexScene.frames(7...8), position: .at(8)))
        #expect(scene.taken(session) == [7, 8] && scene.isLive(session))
    }

    @Test(
        "a read that fails refuses a new subscribe; a subscriber that was let in stands still and tries again"
    )
    mutating func readFails() throws {
        let (new, returning) = (scene.session(1), scene.session(2))
        let interest = try scene.subscribe(returning)
        scene.gather(8, interest: interest)
        let refused = scene.enter(new, after: .at(6))
        let first = try #require(scene.reads.last)
        scene.readFailed(first.id, .timedOut)
        #expect(scene.answers[refused]?.refusal == .channelSubscribeTimeout)
        #expect(scene.notEntered == [new])
        scene.presenceAnswers = false
        let again = scene.enter(returning, features: [.message, .presence])
        scene.gather(9, interest: interest)
        scene.presenceAnswered(try #require(scene.questions.last).id)
        let second = try #require(scene.reads.last)
        scene.readFailed(second.id, .timedOut)
        #expect(scene.answers[again]?.position == .at(8) && scene.gaps.isEmpty)
        #expect(scene.retries == [second.id] && !scene.isLive(returning))
        scene.proceed(second.id)
        #expect(scene.reads.last?.after == .at(8))
    }

    @Test("what the log doesn't have any more is said, to a new subscribe and to one that was answered")
    mutating func gap() throws {
        let session = scene.session(1)
        let interest = try scene.subscribe(scene.session(2))
        scene.gather(8, interest: interest)
        let request = scene.enter(session, after: .at(2))
        scene.pageRead(
            try #require(scene.reads.last).id,
            SubscribePage(frames: ByteBuffer(), position: .at(8), gap: true))
        #expect(scene.answers[request]?.hasGap == true && scene.answers[request]?.position == .at(8))
        #expect(scene.gaps.isEmpty)
        // The second page says it.
        let other = scene.session(3)
        let answered = scene.enter(other, features: [.message, .presence], after: .at(6))
        let first = try #require(scene.reads.last)
        scene.pageRead(first.id, SubscribePage(frames: ByteBuffer(), position: .at(7), more: true))
        let second = try #require(scene.reads.last)
        scene.pageRead(second.id, SubscribePage(frames: ByteBuffer(), position: .at(8), gap: true))
        #expect(scene.answers[answered]?.hasGap == false && scene.gaps == [.at(8)])
        #expect(scene.lacking == [other], "its snapshot was given before the gap")
    }

    @Test("a log that began anew is read from its beginning, behind the gap")
    mutating func newLog() throws {
        let session = scene.session(1)
        try scene.subscribe(scene.session(2))
        let request = scene.enter(session, features: [.message, .presence], after: .at(40, epoch: 4))
        let first = try #require(scene.reads.last)
        scene.pageRead(
            first.id, SubscribePage(frames: ByteBuffer(), position: .at(5), gap: true, more: true))
        #expect(scene.answers[request]?.hasGap == true && scene.answers[request]?.position == .at(5))
        #expect(!scene.isLive(session))
        let second = try #require(scene.reads.last)
        #expect(second.after == .at(5) && scene.reads.count == 2)
        scene.pageRead(second.id, SubscribePage(frames: IndexScene.frames(6...7), position: .at(7)))
        #expect(scene.taken(session) == [6, 7] && scene.isLive(session))
        #expect(scene.gaps.isEmpty && scene.lacking.isEmpty, "its snapshot is newer than the new log")
    }

    @Test("when the log begins anew behind a page, the gap is said, and the snapshot is got again")
    mutating func newLogBehindPage() throws {
        let session = scene.session(1)
        try scene.subscribe(scene.session(2))
        scene.enter(session, features: [.message, .presence], after: .at(5))
        let first = try #require(scene.reads.last)
        scene.pageRead(
            first.id, SubscribePage(frames: IndexScene.frames(6...6), position: .at(6), more: true))
        let second = try #require(scene.reads.last)
        let start = StreamPosition.at(0, epoch: 6)
        scene.pageRead(second.id, SubscribePage(frames: ByteBuffer(), position: start, gap: true, more: true))
        #expect(scene.gaps == [start])
        let third = try #require(scene.reads.last)
        #expect(third.after == start)
        scene.pageRead(third.id, SubscribePage(frames: IndexScene.frames(1...1), position: .at(1, epoch: 6)))
        #expect(scene.taken(session) == [6, 1] && scene.isLive(session))
        #expect(scene.lacking == [session])
    }

    @Test("P-1: a refresh answers nothing, ends once, and gives way to what the client asks for")
    mutating func refresh() throws {
        let session = scene.session(1)
        try scene.subscribe(session, features: [.message, .presence])
        let channelIndex = try #require(scene.index.channels.index(of: .test("a")))
        scene.forget()
        scene.change { $0.refresh(session, at: channelIndex) ?? [] }
        #expect(scene.answers.isEmpty && scene.refreshed == 1 && scene.isLive(session))
        #expect(scene.entered.isEmpty, "it was a subscriber before")
        scene.presenceAnswers = false
        scene.change { $0.refresh(session, at: channelIndex) ?? [] }
        let old = try #require(scene.questions.last).id
        #expect(!scene.index.isSubscribing(session, to: .test("a")))
        let request = scene.enter(session, features: .message)
        #expect(scene.refreshed == 2)
        scene.presenceAnswered(old)
        #expect(scene.answers[request] == nil, "that was for the refresh")
        scene.presenceAnswered(try #require(scene.questions.last).id)
        #expect(scene.answers[request]?.position == .at(7) && scene.isLive(session))
        #expect(scene.refreshed == 2)
    }

    @Test("S-10: an inbox is attached for its owner; nobody is asked, and a refusal says when to try again")
    mutating func login() throws {
        let session = scene.session(1)
        let owner = InboxOwner(session: session, instance: 7, attempt: 3, isReturn: true)
        let inbox = ChannelKey(appID: "app", type: .user, name: "anna")
        let request = scene.enter(session, inbox, purpose: .login(owner))
        let attach = try #require(scene.attaches.last)
        #expect(attach.ownership == 0 && attach.owner == 7 && attach.returns && attach.attempt == 3)
        scene.attached(attach.interest, at: .at(4))
        #expect(scene.answers[request]?.position == .at(4) && scene.questions.isEmpty)
        #expect(scene.index.owner(of: attach.interest) == session)
        let second = scene.enter(session, inbox, purpose: .login(owner))
        scene.attachFailed(try #require(scene.attaches.last).interest)
        guard case .loginRefused(let error) = scene.answers[second] else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .loginNoServerResources && error.retryAfter == .seconds(1))
    }
}
