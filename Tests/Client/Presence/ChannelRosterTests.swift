import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

@Suite("The roster of a channel")
struct ChannelRosterTests {
    private var roster = ChannelRoster(
        of: ChannelID(type: .message, name: "lobby"), userID: "me")

    private func page(
        _ offset: UInt64, _ users: [String: [String: String]], epoch: UInt64 = 1, more: Bool = false
    ) -> ChannelRoster.Page {
        ChannelRoster.Page(
            position: StreamPosition(epoch: epoch, offset: offset), users: users.sortedUsers, more: more,
            timestampMilliseconds: 7)
    }

    private func event(_ change: PresenceEvent.Change) -> PresenceEvent {
        PresenceEvent(
            channelType: .message, channelName: "lobby", change: change, timestampMilliseconds: 7)
    }

    @Test("P-1: frames of a snapshot are one event, sorted, once the last is there")
    mutating func pages() {
        #expect(roster.received(page(5, ["zoe": [:]], more: true)) == ChannelRoster.Outcome())
        #expect(roster.members == nil)
        let outcome = roster.received(page(5, ["ann": ["a": "1"], "me": [:]]))
        let users = [
            UserState(userID: "ann", states: ["a": "1"]), UserState(userID: "me"), UserState(userID: "zoe"),
        ]
        #expect(outcome == ChannelRoster.Outcome(events: [event(.snapshot(users))], changes: [.replaced]))
        #expect(roster.members == ["ann": ["a": "1"], "me": [:], "zoe": [:]])
    }

    @Test("what a snapshot contains is passed over; what follows it counts once")
    mutating func positions() {
        _ = roster.received(page(5, ["ann": [:]]))
        #expect(roster.received(event(.left("ann")), offset: 5) == ChannelRoster.Outcome())
        #expect(roster.received(event(.joined("bob")), offset: 4) == ChannelRoster.Outcome())
        let joined = event(.joined("bob"))
        #expect(
            roster.received(joined, offset: 6)
                == ChannelRoster.Outcome(events: [joined], changes: [.joined("bob")]))
        #expect(roster.members == ["ann": [:], "bob": [:]])
    }

    @Test("P-46: who comes with states is shown with them, in one event")
    mutating func joinsWithStates() {
        let states = ["seat": "1"]
        let coming = PresenceUpdate(change: .joinedWithStates("bob"), timestampMilliseconds: 7)
        let shown = PresenceUpdate(
            change: .states(.init(userID: "bob", items: states, isWhole: true)), timestampMilliseconds: 7)
        let joined = event(.joined("bob", states: states))
        // Nobody is known before a snapshot.
        #expect(roster.received(coming, offset: 1) == ChannelRoster.Outcome())
        #expect(roster.received(shown, offset: 2).events.map(\.change) == [joined.change])
        _ = roster.received(page(5, ["ann": [:]]))
        #expect(roster.received(coming, offset: 6) == ChannelRoster.Outcome())
        #expect(roster.members == ["ann": [:]])
        let outcome = roster.received(shown, offset: 7)
        #expect(outcome.events.map(\.change) == [joined.change] && outcome.changes == [.joined("bob")])
        #expect(roster.members == ["ann": [:], "bob": states])
        // Another event shows a join whose states are missing, and a snapshot has everybody who comes.
        let cleo = PresenceUpdate(change: .joinedWithStates("cleo"), timestampMilliseconds: 7)
        _ = roster.received(cleo, offset: 8)
        let next = roster.received(event(.left("ann")), offset: 9)
        #expect(
            next.events.map(\.change) == [.joined("cleo"), .left("ann")])
        _ = roster.received(
            PresenceUpdate(change: .joinedWithStates("dora"), timestampMilliseconds: 7), offset: 10)
        _ = roster.received(page(11, ["dora": states]))
        #expect(roster.received(event(.left("dora")), offset: 12).events.count == 1)
    }

    @Test("after presence was started anew, a present user doesn't join and an absent one doesn't leave")
    mutating func noNews() {
        _ = roster.received(page(5, ["ann": ["a": "1"]]))
        let again = roster.received(event(.joined("ann")), offset: 6)
        #expect(again == ChannelRoster.Outcome(changes: [.statesChanged(UserState(userID: "ann"))]))
        #expect(roster.received(event(.left("bob")), offset: 7) == ChannelRoster.Outcome())
        #expect(roster.received(event(.timedOut("bob")), offset: 8) == ChannelRoster.Outcome())
        let shown = event(.statesChanged(UserState(userID: "bob", states: ["a": "1"])))
        #expect(roster.received(shown, offset: 9) == ChannelRoster.Outcome())
        #expect(roster.members == ["ann": [:]])
    }

    @Test("a snapshot of another log says nothing about the offsets of this one")
    mutating func otherLog() {
        roster.follow(epoch: 2)
        _ = roster.received(page(500, ["ann": [:]], epoch: 1))
        let joined = event(.joined("bob"))
        #expect(roster.received(joined, offset: 3).events == [joined])
        #expect(roster.members == ["ann": [:], "bob": [:]])
    }

    @Test("P-41: the own entry of a snapshot has what the client has set, and what the server has is known")
    mutating func ownStates() {
        var first = page(5, ["ann": [:], "me": ["seat": "0", "old": "1"]])
        first.ownStates = ["seat": "1"]
        let outcome = roster.received(first)
        let own = UserState(userID: "me", states: ["seat": "1", "old": "1"])
        #expect(outcome.events == [event(.snapshot([UserState(userID: "ann"), own]))])
        #expect(roster.members?["me"] == own.states)
        #expect(roster.listedStates == ["seat": "0", "old": "1"])
        // The server has taken the user for somebody who comes anew, and gets its states again.
        #expect(roster.received(event(.joined("me")), offset: 6) == ChannelRoster.Outcome())
        #expect(roster.members?["me"] == own.states)
        #expect(roster.listedStates == [:])
        _ = roster.received(event(.timedOut("me")), offset: 7)
        #expect(roster.listedStates == nil)
        // A quiet user isn't listed, and doesn't list itself.
        var quiet = page(8, ["ann": [:]])
        quiet.ownStates = ["seat": "1"]
        _ = roster.received(quiet)
        #expect(roster.members == ["ann": [:]])
        #expect(
            roster.showSelf(true, ["seat": "1"]).last
                == .statesChanged(
                    UserState(userID: "me", states: ["seat": "1"])))
    }

    @Test("M-5, M-7: who becomes quiet isn't in the own roster, and is again afterwards")
    mutating func showSelf() {
        #expect(roster.showSelf(true) == [])
        _ = roster.received(page(5, ["ann": [:], "me": [:]]))
        #expect(roster.showSelf(true) == [])
        #expect(roster.showSelf(false) == [.left("me")])
        #expect(roster.members == ["ann": [:]])
        #expect(roster.showSelf(true) == [.joined("me")])
        #expect(roster.members == ["ann": [:], "me": [:]])
    }

    @Test("P-10: the same states again are an event again")
    mutating func sameStates() {
        let state = UserState(userID: "ben", states: ["a": "1"])
        _ = roster.received(
            ChannelRoster.Page(
                position: StreamPosition(epoch: 1, offset: 10), users: [state], more: false,
                timestampMilliseconds: 0))
        for offset in [11, 12] as [UInt64] {
            let outcome = roster.received(event(.statesChanged(state)), offset: offset)
            #expect(outcome == ChannelRoster.Outcome(events: [event(.statesChanged(state))]))
        }
    }

    @Test("a snapshot that is younger than its position: what it shows already is not emitted again")
    mutating func youngerThanPosition() {
        // After 10 the log has: ben joins (11) and shows something (12), cleo goes (13), dora comes (14). The
        // snapshot was taken after 13, by a node that knew only that 10 was in the log.
        let ben = UserState(userID: "ben", states: ["a": "1"])
        _ = roster.received(
            ChannelRoster.Page(
                position: StreamPosition(epoch: 1, offset: 10), users: [ben], more: false,
                timestampMilliseconds: 0))
        let log: [PresenceEvent.Change] = [
            .joined("ben"), .statesChanged(ben), .left("cleo"),
            .joined("dora"),
        ]
        var emitted: [PresenceEvent] = []
        for (index, change) in log.enumerated() {
            emitted += roster.received(event(change), offset: UInt64(11 + index)).events
        }
        // No user joins who is there, and none leaves who isn't. The state is the one that the app has seen.
        #expect(emitted == [event(.statesChanged(ben)), event(.joined("dora"))])
        #expect(roster.members == ["ben": ["a": "1"], "dora": [:]])
    }

    @Test("a later event that comes amid the frames of a snapshot is emitted after it")
    mutating func amidFrames() {
        _ = roster.received(page(5, ["ann": [:]], more: true))
        let left = event(.left("bob"))
        #expect(roster.received(left, offset: 6) == ChannelRoster.Outcome())
        #expect(roster.received(event(.joined("bob")), offset: 3) == ChannelRoster.Outcome())
        let outcome = roster.received(page(5, ["bob": [:]]))
        #expect(outcome.events.count == 2)
        #expect(outcome.events.last == left)
        #expect(outcome.changes == [.replaced, .left("bob")])
        #expect(roster.members == ["ann": [:]])
    }

    @Test("a snapshot that is sent again replaces; one that begins anew forgets the frames before")
    mutating func again() {
        _ = roster.received(page(5, ["ann": [:]]))
        _ = roster.received(page(8, ["bob": [:]], more: true))
        _ = roster.received(page(9, ["eve": [:]], more: true))
        #expect(roster.members == ["ann": [:]])
        _ = roster.received(page(9, ["me": [:]]))
        #expect(roster.members == ["eve": [:], "me": [:]])
    }

    @Test("P-8: the own user gets no events of itself, and shows what its own calls have set")
    mutating func own() {
        _ = roster.received(page(5, ["me": [:]]))
        let changes = roster.changeOwnStates { $0["a"] = "2" }
        #expect(changes == [.statesChanged(.init(userID: "me", states: ["a": "2"]))])
        let late = event(.statesChanged(.init(userID: "me", states: ["a": "1"])))
        #expect(roster.received(late, offset: 6) == ChannelRoster.Outcome())
        #expect(roster.members == ["me": ["a": "2"]])
        let none = roster.changeOwnStates { $0["a"] = "2" }
        #expect(none == [])
        #expect(roster.received(event(.timedOut("me")), offset: 7).events == [])
        #expect(roster.members == [:])
    }

    private func update(_ change: PresenceUpdate.Change) -> PresenceUpdate {
        PresenceUpdate(change: change, timestampMilliseconds: 7)
    }

    @Test("P-6: an event has what has changed of a user's states, and the app gets all of them")
    mutating func changedStates() {
        _ = roster.received(page(5, ["ann": ["a": "1", "b": "1"]]))
        let changes: [(PresenceUpdate.StateChange, [String: String])] = [
            (.init(userID: "ann", items: ["b": "2"]), ["a": "1", "b": "2"]),
            (.init(userID: "ann", items: ["c": "3"], removed: ["a", "x"]), ["b": "2", "c": "3"]),
            (.init(userID: "ann"), ["b": "2", "c": "3"]),
            (.init(userID: "ann", items: ["d": "4"], isWhole: true), ["d": "4"]),
            (.init(userID: "ann", isWhole: true), [:]),
        ]
        for (index, (change, states)) in changes.enumerated() {
            let outcome = roster.received(update(.states(change)), offset: UInt64(6 + index))
            let user = UserState(userID: "ann", states: states)
            #expect(outcome.events == [event(.statesChanged(user))])
            #expect(roster.members == ["ann": states])
        }
    }

    @Test("P-23: the states of an interval are all states that each user has afterwards")
    mutating func intervalStates() {
        _ = roster.received(page(5, ["ann": ["a": "1", "b": "1"], "me": ["m": "1"]]))
        let interval = PresenceUpdate.Interval(
            joined: ["bob"], left: [], timedOut: [],
            states: [
                .init(userID: "ann", items: ["b": "2"]), .init(userID: "bob", items: ["x": "1"]),
                .init(userID: "me", items: ["m": "0"]), .init(userID: "zoe", items: ["z": "1"]),
            ])
        let outcome = roster.received(update(.interval(interval)), offset: 6)
        let shown = PresenceInterval(
            joined: ["bob"],
            states: [
                .init(userID: "ann", states: ["a": "1", "b": "2"]), .init(userID: "bob", states: ["x": "1"]),
                .init(userID: "me", states: ["m": "1"]),
            ], occupancy: 3)
        #expect(outcome.events == [event(.interval(shown))])
    }

    @Test("P-7: while nobody is known the app gets no states, because they would not be all")
    mutating func statesOfUnknown() {
        let change = PresenceUpdate.StateChange(userID: "ann", items: ["a": "1"])
        #expect(roster.received(update(.states(change)), offset: 1) == ChannelRoster.Outcome())
        let interval = PresenceUpdate.Interval(joined: ["bob"], states: [change])
        let outcome = roster.received(update(.interval(interval)), offset: 2)
        #expect(outcome.events == [event(.interval(PresenceInterval(joined: ["bob"])))])
    }

    @Test("P-24: an interval says who is there afterwards, and how many")
    mutating func interval() {
        _ = roster.received(page(5, ["ann": ["a": "1"], "bob": [:], "me": [:]]))
        let interval = PresenceInterval(
            joined: ["eve", "joe"], left: ["bob", "joe"], timedOut: ["ann"],
            states: [
                .init(userID: "eve", states: ["e": "1"]), .init(userID: "eve", states: ["e": "2"]),
                .init(userID: "joe", states: ["j": "1"]),
            ])
        let outcome = roster.received(event(.interval(interval)), offset: 6)
        #expect(roster.members == ["eve": ["e": "2"], "me": [:]])
        guard case .interval(let emitted) = outcome.events.first?.change else {
            Issue.record("no interval")
            return
        }
        #expect(emitted.occupancy == 2)
        #expect(outcome.changes.count == 7)
    }

    @Test("a log that begins anew is not mistaken for an old one")
    mutating func epochs() {
        _ = roster.received(page(500, ["ann": [:]]))
        roster.follow(epoch: 1)
        #expect(roster.received(event(.joined("bob")), offset: 3).events.isEmpty)
        roster.follow(epoch: 2)
        #expect(roster.received(event(.joined("bob")), offset: 3).events.count == 1)
    }

    @Test("P-7: out of service is reported, and no user is known any more")
    mutating func outOfService() {
        #expect(roster.outOfService(at: 7).changes == [])
        _ = roster.received(page(5, ["ann": [:]]))
        let outcome = roster.outOfService(at: 7)
        #expect(outcome.events == [event(.outage(.unavailable))])
        #expect(outcome.changes == [.cleared])
        #expect(roster.members == nil)
        // Events are still reported, although there is nothing to apply them to.
        #expect(roster.received(event(.joined("bob")), offset: 6).events.count == 1)
        #expect(roster.members == nil)
    }
}

extension ChannelRoster {
    /// Receives an event as a server sends it that names all states.
    fileprivate mutating func received(_ event: PresenceEvent, offset: UInt64) -> Outcome {
        received(
            PresenceUpdate(
                change: .init(event.change), timestampMilliseconds: event.timestampMilliseconds),
            offset: offset)
    }
}

extension PresenceUpdate.Change {
    fileprivate init(_ change: PresenceEvent.Change) {
        switch change {
        case .joined(let user, _): self = .joined(user)
        case .left(let user): self = .left(user)
        case .timedOut(let user): self = .timedOut(user)
        case .statesChanged(let user): self = .states(.init(user))
        case .interval(let interval):
            self = .interval(
                .init(
                    joined: interval.joined, left: interval.left, timedOut: interval.timedOut,
                    states: interval.states.map { .init($0) }))
        case .snapshot, .outage: self = .interval(.init())
        }
    }
}

extension PresenceUpdate.StateChange {
    fileprivate init(_ user: UserState) {
        self.init(userID: user.userID, items: user.states, isWhole: true)
    }
}
