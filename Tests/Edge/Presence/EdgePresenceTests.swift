import NIOCore
import RTMAppConfiguration
import RTMModel
import RTMProtocol
import RTMTokenTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMAccessToken
@testable import RTMEdgeServer

/// What an edge tells presence of its sessions, and what becomes of a subscribe, when presence answers, is
/// late, or is gone in between.
@Suite("An edge and presence") struct EdgePresenceTests {
    private let fixture = EdgeFixture()
    private var presence: FakeService { fixture.presence }

    // MARK: Joining

    @Test("M-3, M-4: a subscribe joins, and is answered when presence has; the snapshot comes right behind")
    func join() {
        let anna = fixture.client("anna", instance: 7, presenceTimeout: 77)
        anna.subscribe(3, "lobby")
        #expect(anna.take().isEmpty, "subscribed means listed")
        let join = presence.joins.first
        #expect(presence.joins.count == 1)
        #expect(join?.channel == fixture.key("lobby") && join?.caller.userID == "anna")
        #expect(join.map { $0.ownership > 0 } == true, "presence can tell the newest login")
        #expect(join?.caller.instance == 7 && join?.presenceTimeout == .seconds(77))
        #expect(
            join?.wantsSnapshot == true && join?.quiet == false
                && join?.lease == fixture.edge.memberships.leaseID)
        presence.answerJoin(["anna"])
        fixture.pass()
        let frames = anna.take()
        #expect(frames.map(\.requestID) == [3, 0])
        #expect(frames.first?.subscribed.featuresUnavailable == 0)
        #expect(frames.last?.presenceSnapshot.users.map(\.userID) == ["anna"])
        fixture.end()
    }

    @Test(
        "P-46, R-17: states go with the join where a call might set them, and the answer says whether they do"
    )
    func states() throws {
        let rates = ApplicationRates(
            publish: 0, calls: 0, subscribesMax: 0, login: 0, subscriptionsMax: 0, stateBytes: 1_000)
        let fixture = EdgeFixture(rates: rates)
        let presence = fixture.presence
        let anna = fixture.client("anna")
        let state = Rtm_Client_StateItem.with { ($0.key, $0.value) = ("seat", "1") }
        func subscribe(_ id: UInt64, _ channel: String, _ states: [Rtm_Client_StateItem]) {
            anna.send(
                id, .subscribe(.with { ($0.channel, $0.features, $0.states) = (channel, 4, states) }))
        }
        func isSet(_ id: UInt64) -> Bool? {
            fixture.pass()
            return anna.take().first { $0.requestID == id }?.subscribed.statesSet
        }
        subscribe(3, "lobby", [state])
        #expect(presence.joins.last?.states == [StateItem(key: "seat", value: "1")])
        presence.answerJoin(hasSetStates: true)
        #expect(isSet(3) == true)
        // An older presence doesn't know states of a join.
        subscribe(4, "hall", [state])
        presence.answerJoin()
        #expect(isSet(4) == false)
        // A token that doesn't allow to set them lets the user in.
        let session = try #require(fixture.edge.sessions.all.first { $0.userID == "anna" })
        let lists = TokenPermissions.channels(read: ["news"], write: ["lobby"])
        session.grant = TokenGrant(expiresAtMilliseconds: .max, permissions: [lists])
        subscribe(5, "news", [state])
        #expect(presence.joins.last?.channel == fixture.key("news") && presence.joins.last?.states == [])
        presence.answerJoin()
        #expect(isSet(5) == false)
        session.grant = nil
        // States count as those of a call do.
        subscribe(6, "room", [state])
        presence.answerJoin(hasSetStates: true, statesCost: 1 << 40)
        #expect(isSet(6) == true)
        subscribe(7, "room 2", [state])
        #expect(presence.joins.last?.states == [])
        presence.answerJoin()
        #expect(isSet(7) == false)
        fixture.end()
    }

    @Test("P-46: states of subscribes under way share a bounded memory, which their end gives back")
    func memoryForStates() {
        let large = (0..<32).map { number in
            Rtm_Client_StateItem.with {
                ($0.key, $0.value) = ("\(number)", String(repeating: "x", count: 1_000))
            }
        }
        let users = (0..<4).map { fixture.client("user\($0)") }
        func subscribe(_ user: EdgeClient, _ number: UInt64) {
            user.send(
                number + 3,
                .subscribe(
                    .with { ($0.channel, $0.features, $0.states) = ("lobby\(number)", 4, large) }))
        }
        for number in 0..<50 { for user in users { subscribe(user, UInt64(number)) } }
        let carrying = presence.joins.count { !$0.states.isEmpty }
        #expect(presence.joins.count == 200 && carrying > 50 && carrying < 150, "\(carrying)")
        for _ in 0..<200 { presence.answerJoin() }
        fixture.pass()
        subscribe(users[3], 1)
        #expect(presence.joins.last?.states.count == 32)
        fixture.end()
    }

    @Test("M-3, M-7: who wants no presence events is a member without a snapshot; quiet is passed on")
    func otherFeatures() {
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby", .message)
        anna.subscribe(4, "hall", [.presence, .quiet])
        #expect(presence.joins.map(\.wantsSnapshot) == [false, true])
        #expect(presence.joins.map(\.quiet) == [false, true])
        presence.answerJoin()
        presence.answerJoin(["ben"], in: "hall")
        fixture.pass()
        #expect(anna.take().map(\.requestID) == [3, 4, 0])
        // M-5: other features are announced anew, and a snapshot is asked for where there was none.
        anna.subscribe(5, "lobby")
        #expect(presence.joins.last?.wantsSnapshot == true)
        anna.subscribe(6, "hall", [.message, .presence])
        #expect(presence.joins.last?.wantsSnapshot == false && presence.joins.last?.quiet == false)
        fixture.end()
    }

    @Test(
        "A subscribe that is unsubscribed meanwhile: presence hears of the leave after the join, the client once"
    )
    func unsubscribedMeanwhile() {
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby")
        anna.send(4, .unsubscribe(.with { $0.channel = "lobby" }))
        #expect(presence.methods == [PresenceMethod.join.number, PresenceMethod.leave.number])
        presence.answerJoin(["anna"])
        fixture.pass()
        let frames = anna.take()
        #expect(frames.map(\.requestID).sorted() == [3, 4])
        #expect(frames.first { $0.requestID == 3 }?.error.code == .errorChannelSubscribeFailed)
        // And in again.
        anna.subscribe(5, "lobby")
        presence.answerJoin(["anna"])
        fixture.pass()
        #expect(anna.take().map(\.requestID) == [5, 0])
        fixture.end()
    }

    // MARK: Going

    @Test(
        "P-4, S-22, S-42, S-12: unsubscribing, logging out, vanishing and being superseded are told as what they are"
    )
    func goings() {
        let clients = ["anna", "ben", "cleo", "dora"].map { fixture.client($0, instance: 1) }
        for client in clients {
            client.subscribe(3, "lobby", .message)
            presence.answerJoin()
        }
        fixture.pass()
        presence.forget()
        clients[0].send(4, .unsubscribe(.with { $0.channel = "lobby" }))
        #expect(presence.leaves.map(\.caller.userID) == ["anna"])
        clients[1].send(4, .logout(.init()))
        clients[2].vanish()
        _ = fixture.client("dora", instance: 2)
        #expect(presence.ends.map(\.caller.userID) == ["ben", "cleo", "dora"])
        #expect(presence.ends.map(\.end) == [.loggedOut, .lost, .superseded])
        #expect(presence.leaves.count == 1)
        // Who was never in a channel is nobody to presence.
        fixture.client("eve").vanish()
        #expect(presence.ends.count == 3)
        fixture.end()
    }

    @Test(
        "Appendix D, S-41: who is silent is lost to presence 10 s after the heartbeat that didn't come, not sooner",
        arguments: [(heartbeat: UInt32(10), offline: Int64(20)), (5, 15)])
    func silence(heartbeat: UInt32, offline: Int64) {
        let anna = fixture.client("anna", heartbeat: heartbeat, presenceTimeout: 5)
        anna.subscribe(3, "lobby")
        presence.answerJoin(["anna"])
        fixture.pass()
        _ = anna.take()
        anna.send(4, .heartbeat(.init()))
        fixture.pass(.seconds(offline) - .milliseconds(2))
        #expect(presence.ends.isEmpty)
        // Deadlines are looked at several times a second.
        fixture.pass(.seconds(1))
        #expect(presence.ends.map(\.end) == [.lost])
        #expect(presence.joins.first?.presenceTimeout == .seconds(5), "so long presence waits then (S-42)")
        fixture.end()
    }

    // MARK: Presence is late, or gone

    @Test(
        "M-4, -11032: a presence that doesn't answer is given up after 5 s; the subscribe succeeds without it"
    )
    func noAnswer() {
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby")
        fixture.pass(.milliseconds(4_990))
        #expect(anna.take().isEmpty)
        fixture.pass(.milliseconds(20))
        let subscribed = anna.take()
        #expect(subscribed.map(\.requestID) == [3])
        #expect(
            subscribed.first?.subscribed.featuresUnavailable == SubscriptionFeatures.presence.rawValue)
        // With the next renewal of the lease it is told anew, then asked for the snapshot that is missing.
        presence.forget()
        fixture.pass(.seconds(10))
        fixture.renewLease(isKnown: true)
        #expect(presence.syncs.flatMap(\.memberships).map(\.channel) == [fixture.key("lobby")])
        presence.answerSync()
        fixture.pass()
        #expect(presence.joins.map(\.wantsSnapshot) == [true])
        presence.answerJoin(["anna"])
        fixture.pass()
        let snapshot = anna.take()
        #expect(snapshot.map(\.requestID) == [0])
        #expect(snapshot.first?.presenceSnapshot.users.map(\.userID) == ["anna"])
        fixture.end()
    }

    @Test(
        "Presence is lost while it is asked: the subscribe goes on at once, and is told when presence is back"
    )
    func lostWhileAsked() {
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby")
        anna.subscribe(4, "hall", .message)
        presence.stop()
        let frames = anna.take()
        #expect(frames.map(\.requestID) == [3, 4])
        #expect(frames.map(\.subscribed.featuresUnavailable) == [1, 0])
        anna.subscribe(5, "attic")
        #expect(anna.take().first?.subscribed.featuresUnavailable == 1)
        presence.forget()
        presence.start()
        fixture.pass(.seconds(1))
        fixture.renewLease(isKnown: true)
        let sync = presence.syncs.first
        #expect(Set(sync?.memberships.map(\.channel.name) ?? []) == ["lobby", "hall", "attic"])
        #expect(sync?.isFirst == true && sync?.isLast == true)
        presence.answerSync()
        fixture.pass()
        #expect(Set(presence.joins.map(\.channel.name)) == ["lobby", "attic"], "who wants presence")
        for join in presence.joins { presence.answerJoin(["anna"], in: join.channel.name) }
        fixture.pass()
        #expect(Set(anna.take().map(\.presenceSnapshot.channel)) == ["lobby", "attic"])
        fixture.end()
    }

    @Test(
        "One join that fails, again and again: only that subscription is asked for anew, the others are let be"
    )
    func oneFails() {
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        for client in [anna, ben] {
            client.subscribe(3, "lobby")
            presence.answerJoin([])
        }
        let refusal = RTMError(.presenceOperationFailed, "too many rosters")
        ben.subscribe(4, "hall")
        presence.refuse(PresenceMethod.join.number, refusal)
        fixture.pass()
        #expect(ben.take().last?.subscribed.featuresUnavailable == SubscriptionFeatures.presence.rawValue)
        // All members are announced to presence, once.
        presence.forget()
        fixture.pass(.seconds(5))
        fixture.renewLease(isKnown: true)
        #expect(presence.syncs.count == 1)
        presence.answerSync()
        fixture.pass()
        for _ in 0..<3 {
            #expect(presence.joins.map(\.channel.name) == ["hall"])
            #expect(presence.joins.map(\.wantsSnapshot) == [true])
            presence.refuse(PresenceMethod.join.number, refusal)
            presence.forget()
            fixture.pass(.seconds(5))
            fixture.renewLease(isKnown: true)
            #expect(presence.syncs.isEmpty, "it knows of the member")
        }
        presence.answerJoin(["ben"], in: "hall")
        presence.forget()
        fixture.pass(.seconds(5))
        fixture.renewLease(isKnown: true)
        #expect(presence.joins.isEmpty && presence.syncs.isEmpty)
        #expect(ben.take().map(\.presenceSnapshot.channel) == ["hall"])
        fixture.end()
    }

    @Test("P-1: after a gap in a channel's log its subscribers who want presence get a snapshot, nobody else")
    func gap() {
        let fixture = EdgeFixture(entriesMax: 4)
        let presence = fixture.presence
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        anna.subscribe(3, "lobby")
        anna.subscribe(4, "hall")
        ben.subscribe(3, "lobby", .message)
        for channel in ["lobby", "hall"] { presence.answerJoin([], in: channel) }
        presence.answerJoin()
        fixture.pass()
        // The edge loses its attachments, and more is published in the lobby than messaging keeps.
        fixture.messaging.ignored = [MessagingMethod.attach.number]
        fixture.messaging.cutLinks()
        fixture.pass(.seconds(1))
        for number in 10..<20 as Range<UInt64> { ben.publish(number, "a text") }
        _ = anna.take()
        fixture.messaging.ignored = []
        fixture.pass(.seconds(7))
        let gaps = anna.bodies().compactMap { if case .gap(let gap) = $0 { gap.channel } else { nil } }
        #expect(gaps == ["lobby"])
        presence.forget()
        fixture.pass(.seconds(5))
        fixture.renewLease(isKnown: true)
        #expect(presence.syncs.isEmpty)
        #expect(presence.joins.map(\.caller.userID) == ["anna"])
        #expect(presence.joins.map(\.channel.name) == ["lobby"])
        fixture.end()
    }

    @Test("Who leaves while presence is away has left: it is told so before everything else (P-4, S-22)")
    func leavesWhileAway() {
        let (anna, ben, cleo) = (fixture.client("anna"), fixture.client("ben"), fixture.client("cleo"))
        for client in [anna, ben, cleo] {
            client.subscribe(3, "lobby")
            presence.answerJoin([])
        }
        fixture.pass()
        presence.stop()
        presence.forget()
        anna.send(4, .unsubscribe(.with { $0.channel = "lobby" }))
        anna.subscribe(5, "lobby")
        ben.send(4, .logout(.init()))
        cleo.vanish()
        presence.start()
        fixture.pass(.seconds(1))
        #expect(presence.leases.map(\.link) == [2] && presence.leaves.map(\.link) == [2])
        fixture.renewLease(isKnown: true)
        #expect(presence.leaves.map(\.caller.userID) == ["anna"])
        #expect(presence.ends.map(\.caller.userID) == ["ben", "cleo"])
        #expect(presence.ends.map(\.end) == [.loggedOut, .lost])
        #expect(
            presence.methods == [
                PresenceMethod.leave.number, PresenceMethod.sessionEnded.number,
                PresenceMethod.sessionEnded.number,
                PresenceMethod.lease.number, PresenceMethod.sync.number,
            ])
        #expect(presence.syncs.first?.memberships.map(\.caller.userID) == ["anna"])
        // Once.
        presence.answerSync()
        presence.stop()
        presence.forget()
        presence.start()
        fixture.pass(.seconds(1))
        #expect(presence.leaves.isEmpty && presence.ends.isEmpty)
        fixture.end()
    }

    @Test(
        "A departure that may have been lost with the link is told again, until an answer says that it arrived"
    )
    func leavesInDoubt() {
        let (anna, ben, cleo) = (fixture.client("anna"), fixture.client("ben"), fixture.client("cleo"))
        for client in [anna, ben, cleo] {
            client.subscribe(3, "lobby")
            presence.answerJoin([])
        }
        fixture.pass()
        anna.send(4, .unsubscribe(.with { $0.channel = "lobby" }))
        ben.send(4, .unsubscribe(.with { $0.channel = "lobby" }))
        ben.subscribe(5, "lobby")
        cleo.send(4, .logout(.init()))
        presence.stop()
        presence.forget()
        presence.start()
        fixture.pass(.seconds(1))
        // Ben is there: that he was away for a moment is not worth a leave and a join.
        #expect(presence.leaves.map(\.caller.userID) == ["anna"])
        #expect(presence.ends.map(\.caller.userID) == ["cleo"])
        #expect(
            presence.methods.last == PresenceMethod.lease.number, "before the sync, which would lose them")
        // What is announced while the renewal is under way isn't confirmed by its answer.
        ben.vanish()
        fixture.renewLease(isKnown: true)
        presence.answerSync()
        presence.stop()
        presence.forget()
        presence.start()
        fixture.pass(.seconds(1))
        #expect(presence.leaves.isEmpty)
        #expect(presence.ends.map(\.caller.userID) == ["ben"])
        fixture.end()
    }

    @Test("Who waits for messaging while presence is told everything is not left there when the session ends")
    func endsWhileAttaching() {
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        fixture.messaging.ignored = [MessagingMethod.attach.number]
        for client in [anna, ben] { client.subscribe(3, "lobby") }
        fixture.pass(.seconds(3))
        presence.stop()
        presence.start()
        fixture.pass(.seconds(1))
        fixture.renewLease(isKnown: false)
        #expect(Set(presence.syncs.flatMap(\.memberships).map(\.caller.userID)) == ["anna", "ben"])
        presence.answerSync()
        anna.vanish()
        #expect(presence.ends.map(\.caller.userID) == ["anna"])
        // And who is given up, because messaging doesn't answer.
        fixture.pass(.seconds(3))
        #expect(ben.take().map(\.error.code) == [.errorChannelSubscribeTimeout])
        #expect(presence.leaves.map(\.caller.userID) == ["ben"])
        fixture.end()
    }

    @Test(
        "A call is refused at once without presence, and when it is lost meanwhile: -13013, with a time to wait"
    )
    func calls() {
        let anna = fixture.client("anna")
        anna.send(3, .whoNow(.with { ($0.channelType, $0.channel) = (.message, "lobby") }))
        #expect(anna.take().isEmpty)
        presence.stop()
        anna.send(4, .whereNow(.with { $0.userID = "ben" }))
        let refusals = anna.take()
        #expect(refusals.map(\.requestID) == [3, 4])
        #expect(refusals.allSatisfy { $0.error.code == .errorPresenceOperationFailed })
        #expect(refusals.allSatisfy { $0.error.retryAfterMs > 0 })
        presence.start()
        fixture.pass(.seconds(1))
        anna.send(5, .whoNow(.with { ($0.channelType, $0.channel) = (.message, "lobby") }))
        fixture.pass(.seconds(6))
        #expect(anna.take().map(\.error.code) == [.errorPresenceOperationTimeout], "-13012 after 5 s")
        fixture.end()
    }

    // MARK: The lease

    @Test("The lease is renewed at a third of its time; a presence that doesn't know it is told everything")
    func lease() {
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby")
        presence.answerJoin(["anna"])
        fixture.pass()
        _ = anna.take()
        presence.forget()
        fixture.pass(.seconds(5))
        #expect(presence.leases.map(\.lease) == [fixture.edge.memberships.leaseID])
        fixture.renewLease(isKnown: true, timeToLive: .seconds(30))
        #expect(presence.syncs.isEmpty)
        fixture.pass(.milliseconds(9_900))
        #expect(presence.leases.count == 1)
        fixture.pass(.milliseconds(200))
        #expect(presence.leases.count == 2)
        fixture.renewLease(isKnown: false)
        #expect(presence.syncs.flatMap(\.memberships).count == 1)
        presence.answerSync()
        fixture.pass(.milliseconds(4_900))
        #expect(presence.joins.isEmpty, "it hears of the other edges first")
        fixture.pass(.milliseconds(200))
        presence.answerJoin(["anna", "ben"])
        fixture.pass()
        #expect(anna.take().map(\.presenceSnapshot.users.count) == [2], "P-1: what it knew means nothing now")
        // A renewal that fails is tried again soon.
        fixture.renewLease(isKnown: true)
        presence.forget()
        fixture.pass(.seconds(5))
        presence.refuse(PresenceMethod.lease.number, RTMError(.presenceOperationFailed, "no Redis"))
        fixture.pass(.milliseconds(1_100))
        #expect(presence.leases.count == 2)
        fixture.end()
    }
}
