import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMPresenceServer

/// The promises that every store of rosters keeps, wherever it keeps them.
@Suite("The contract of presence stores", .overRedisCluster)
struct StoreContractTests {
    typealias Kind = StoreHarness.Kind

    // MARK: Coming and going

    @Test(
        "a join is told to the others, a second one of the same session to nobody (P-3)",
        arguments: Kind.allCases)
    func joins(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna"))
            try await store.enter(.of("bob", session: 2))
            try await store.enter(.of("anna"))
            #expect(try await store.events() == [.joined("anna"), .joined("bob", except: 2)])
            #expect(try await store.users() == ["anna", "bob"])
            #expect(try await store.count() == 2)
        }
    }

    @Test("P-46: states that come with a join are one event with it", arguments: Kind.allCases)
    func joinsWithStates(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("bob", session: 2))
            let entered = try await store.enter(.of("anna", states: ["mood": "fine", "a": "1"]))
            let whole = RosterEvent.states("anna", ["mood": "fine", "a": "1"], whole: true)
            #expect(
                entered.isMember && entered.statesCost == StateChange.of("", ["mood": "fine", "a": "1"]).cost)
            #expect(
                try await store.events() == [.joined("bob", except: 2), .joinedWithStates("anna"), whole])
            let items = StateChange.of("", ["mood": "fine", "a": "1"]).items
            #expect(try await store.states(of: "anna") == items)
            // A second subscribe changes nothing: a call may have set other states while it was on the way.
            #expect(try await store.set(.of("anna"), ["a": "2"]))
            _ = try await store.events()
            let second = try await store.enter(.of("anna", states: ["a": "1", "mood": "fine"]))
            #expect(second.isMember && second.statesCost == nil)
            // What it shows already is set.
            let same = try await store.enter(.of("anna", states: ["a": "2"]))
            #expect(same.isMember && same.statesCost == 0)
            #expect(try await store.events() == [])
            let shown = StateChange.of("", ["a": "2", "mood": "fine"]).items
            #expect(try await store.states(of: "anna") == shown)
            // Nobody sees the states of a quiet user before it is visible (P-45).
            try await store.enter(.of("cleo", session: 3, quiet: true, states: ["a": "1"]))
            #expect(try await store.events() == [])
            try await store.enter(.of("cleo", session: 3))
            #expect(
                try await store.events() == [
                    .joinedWithStates("cleo", except: 3), .states("cleo", ["a": "1"], whole: true, except: 3),
                ])
        }
    }

    @Test(
        "P-46: a user who returns in time shows the states that it brings, and others see what is new of them (S-43)",
        arguments: Kind.allCases)
    func returnsWithStates(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna", instance: 5, states: ["a": "1", "b": "1"]))
            _ = try await store.events()
            try await store.end(.of("anna"), .lost)
            try await store.enter(.of("anna", session: 2, instance: 5, states: ["a": "1", "b": "1"]))
            #expect(try await store.events() == [])
            try await store.end(.of("anna", session: 2), .lost)
            try await store.enter(.of("anna", session: 3, instance: 5, states: ["a": "2"]))
            #expect(try await store.events() == [.states("anna", ["a": "2"], except: 3)])
            // Another instance of the user has states of its own (S-12).
            try await store.enter(.of("anna", session: 4, instance: 6, states: ["c": "1"]))
            #expect(
                try await store.events() == [
                    .left("anna", except: 4), .joinedWithStates("anna", except: 4),
                    .states("anna", ["c": "1"], whole: true, except: 4),
                ])
            #expect(try await store.states(of: "anna") == StateChange.of("", ["c": "1"]).items)
        }
    }

    @Test(
        "P-46: states beyond the limit are left out, and the user is let in (L-31)", arguments: Kind.allCases)
    func tooManyStates(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            let states = Dictionary(
                uniqueKeysWithValues: (0...StoreHarness.rules.states.countMax).map { ("k\($0)", "") })
            let entered = try await store.enter(.of("anna", states: states))
            #expect(entered.isMember && entered.statesCost == nil)
            #expect(try await store.events() == [.joined("anna")])
            #expect(try await store.users() == ["anna"])
            #expect(try await store.states(of: "anna") == [])
        }
    }

    @Test(
        "P-46: a sync brings states to who isn't listed, and leaves those of who is (S-19)",
        arguments: Kind.allCases)
    func syncWithStates(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.adopt(.of("anna", states: ["a": "1"]), isAnnounced: false)
            #expect(
                try await store.events() == [
                    .joinedWithStates("anna"), .states("anna", ["a": "1"], whole: true),
                ])
            #expect(try await store.set(.of("anna"), ["a": "2"]))
            _ = try await store.events()
            try await store.adopt(.of("anna", states: ["a": "1"]), isAnnounced: false)
            #expect(try await store.events() == [])
            #expect(try await store.states(of: "anna") == StateChange.of("", ["a": "2"]).items)
        }
    }

    @Test(
        "P-46: who returns within the debounce time shows what it brings, without a leave and a join (P-25)",
        arguments: Kind.allCases)
    func debouncedStates(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.announce.debounce = 2_000 }) { store in
            try await store.enter(.of("anna"))
            _ = try await store.events()
            try await store.leave(.of("anna"))
            try await store.enter(.of("anna", session: 2, states: ["a": "1"]))
            try await store.advance(10_000)
            let events = try await store.events()
            #expect(events == [.states("anna", ["a": "1"], whole: true, except: 2)])
        }
    }

    @Test(
        "a leave is told, states vanish, and a leave of another session is passed over (P-4, M-6)",
        arguments: Kind.allCases)
    func leaves(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna"))
            #expect(try await store.set(.of("anna"), ["a": "1"]))
            try await store.leave(.of("anna", session: 9))
            #expect(try await store.users() == ["anna"])
            try await store.leave(.of("anna"))
            try await store.leave(.of("anna"))
            #expect(
                try await store.events() == [.joined("anna"), .states("anna", ["a": "1"]), .left("anna")])
            #expect(try await store.states(of: "anna") == nil)
            #expect(try await store.channels(of: "anna") == [])
            try await store.enter(.of("anna"))
            #expect(try await store.states(of: "anna") == [])
        }
    }

    @Test(
        "the same instance in another session is a return: silent, states kept (S-43)",
        arguments: Kind.allCases)
    func returns(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna", instance: 5))
            #expect(try await store.set(.of("anna"), ["a": "1"]))
            _ = try await store.events()
            try await store.end(.of("anna"), .lost)
            try await store.advance(4_000)
            try await store.enter(.of("anna", session: 2, instance: 5))
            try await store.advance(20_000)
            #expect(try await store.events() == [])
            #expect(try await store.states(of: "anna") == [StateItem(key: "a", value: "1")])
            // The first session is over, so what it still sends comes late.
            try await store.leave(.of("anna", session: 1))
            #expect(try await store.users() == ["anna"])
        }
    }

    @Test(
        "what an older login sends late changes nothing: its join, its sync, its end (S-12)",
        arguments: Kind.allCases)
    func olderLogin(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna", session: 2, instance: 7, ownership: 20, lease: 2))
            #expect(try await store.set(.of("anna", session: 2), ["a": "1"]))
            _ = try await store.events()
            for instance in [6, 7] as [UInt64] {
                let older = Entry.of("anna", session: 1, instance: instance, ownership: 10)
                #expect(try await store.enter(older).isMember == false)
                #expect(try await store.adopt(older) == false)
                #expect(try await store.set(.of("anna", session: 1), ["a": "2"]) == false)
            }
            try await store.synced(1, except: [])
            try await store.end(.of("anna", session: 1), .superseded)
            #expect(try await store.events() == [])
            #expect(try await store.states(of: "anna") == [StateItem(key: "a", value: "1")])
            #expect(try await store.channels(of: "anna") == ["room"])
            // A newer login that is lost makes room: nobody can tell whether it was the last one.
            try await store.end(.of("anna", session: 2), .lost)
            let older = Entry.of("anna", session: 1, instance: 6, ownership: 10)
            #expect(try await store.enter(older).isMember)
            #expect(try await store.events() == [.left("anna"), .joined("anna")])
        }
    }

    @Test("another instance takes over: a leave and a join, states dropped (S-12)", arguments: Kind.allCases)
    func takeover(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna", instance: 5))
            #expect(try await store.set(.of("anna"), ["a": "1"]))
            _ = try await store.events()
            try await store.enter(.of("anna", session: 2, instance: 6))
            #expect(try await store.events() == [.left("anna", except: 2), .joined("anna", except: 2)])
            #expect(try await store.states(of: "anna") == [])
            // An unknown instance is never the same as another one.
            try await store.enter(.of("bob", session: 3, instance: 0))
            try await store.enter(.of("bob", session: 4, instance: 0))
            #expect(try await store.events().count == 3)
            try await store.hasMembers(2)
        }
    }

    @Test(
        "a lost session times out after its presence timeout, not before (P-5, S-42, S-44)",
        arguments: Kind.allCases)
    func timesOut(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna", timeout: 5_000))
            try await store.enter(.of("anna", timeout: 5_000), .room("other"))
            _ = try await store.events()
            try await store.end(.of("anna"), .lost)
            try await store.advance(4_999)
            #expect(try await store.events() == [])
            #expect(try await store.users() == ["anna"])
            try await store.advance(1)
            #expect(try await store.events() == [.timedOut("anna")])
            #expect(try await store.events(.room("other")).last == .timedOut("anna"))
            #expect(try await store.users() == [])
            #expect(try await store.channels(of: "anna") == [])
            try await store.enter(.of("anna", session: 2))
            #expect(try await store.events() == [.joined("anna", except: 2)])
        }
    }

    @Test(
        "a logout leaves all channels, a superseded session too, without debounce (S-12, S-22)",
        arguments: Kind.allCases)
    func ends(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.announce.debounce = 2_000 }) { store in
            for name in ["a", "b"] {
                try await store.enter(.of("anna"), .room(name))
                try await store.enter(.of("bob", session: 2), .room(name))
                _ = try await store.events(.room(name))
            }
            try await store.end(.of("anna"), .superseded)
            try await store.end(.of("bob", session: 2), .loggedOut)
            for name in ["a", "b"] {
                #expect(try await store.events(.room(name)) == [.left("anna")])
                #expect(try await store.users(in: .room(name)) == [])
            }
            try await store.advance(2_000)
            for name in ["a", "b"] {
                #expect(try await store.events(.room(name)) == [.left("bob", except: 0)])
            }
            try await store.hasMembers(0)
        }
    }

    @Test(
        "C-4: of a session that ends others hear first that its topics are over, then that it has left",
        arguments: Kind.allCases, [SessionEnd.loggedOut, .superseded])
    func endsTopics(_ kind: Kind, _ end: SessionEnd) async throws {
        try await StoreHarness.with(kind) { store in
            let rooms = ["a", "b", "c"].flatMap { name in
                [ChannelType.stream, .topics].map { ChannelKey(appID: "app", type: $0, name: name) }
            }
            for room in rooms { try await store.enter(.of("anna"), room) }
            let before = try await store.order().count
            try await store.end(.of("anna"), end)
            let reported = try await store.order().dropFirst(before)
            #expect(Array(reported) == [.topics, .topics, .topics, .stream, .stream, .stream])
        }
    }

    @Test(
        "a leave is held back for the debounce time, and a rejoin meanwhile is no event (P-25)",
        arguments: Kind.allCases)
    func debounce(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.announce.debounce = 2_000 }) { store in
            try await store.enter(.of("anna"))
            _ = try await store.events()
            try await store.leave(.of("anna"))
            #expect(try await store.users() == [])
            #expect(try await store.channels(of: "anna") == [])
            #expect(try await store.snapshot().users == [UserState(userID: "anna")])
            try await store.advance(1_999)
            try await store.enter(.of("anna", session: 2))
            try await store.advance(10_000)
            #expect(try await store.events() == [])
            #expect(try await store.users() == ["anna"])
            try await store.leave(.of("anna", session: 2))
            try await store.advance(2_000)
            #expect(try await store.events() == [.left("anna", except: 0)])
        }
    }

    @Test(
        "states that a held-back leave dropped are told as gone after the rejoin (M-6, P-25)",
        arguments: Kind.allCases)
    func debounceStates(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.announce.debounce = 2_000 }) { store in
            try await store.enter(.of("anna"))
            #expect(try await store.set(.of("anna"), ["a": "1"]))
            _ = try await store.events()
            try await store.leave(.of("anna"))
            #expect(try await store.states(of: "anna") == nil)
            #expect(try await store.set(.of("anna"), ["a": "1"]) == false)
            try await store.enter(.of("anna", session: 2))
            #expect(try await store.events() == [.states("anna", [:], whole: true, except: 2)])
        }
    }

    // MARK: Quiet

    @Test("a quiet user is in no list, no count and no event (M-7, P-45)", arguments: Kind.allCases)
    func quiet(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna", quiet: true))
            #expect(try await store.set(.of("anna"), ["a": "1"]))
            #expect(try await store.users() == [])
            #expect(try await store.count() == 0)
            #expect(try await store.channels(of: "anna") == [])
            #expect(try await store.snapshot().users == [])
            #expect(try await store.states(of: "anna", askedBy: "bob") == nil)
            #expect(try await store.states(of: "anna", askedBy: "anna") == [StateItem(key: "a", value: "1")])
            #expect(try await store.events() == [])
            // Turning visible is a join, and turning quiet is a leave.
            try await store.enter(.of("anna"))
            try await store.enter(.of("anna", quiet: true))
            try await store.end(.of("anna"), .lost)
            try await store.advance(5_000)
            #expect(
                try await store.events()
                    == [.joinedWithStates("anna"), .states("anna", ["a": "1"], whole: true), .left("anna")])
            try await store.hasMembers(0)
        }
    }

    // MARK: States

    @Test(
        "an event has the states that a call sets and those that it removes (P-6, P-9, P-40, P-44)",
        arguments: Kind.allCases)
    func states(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna"))
            _ = try await store.events()
            #expect(try await store.set(.of("anna"), ["b": "1", "a": "\u{1F388}"]))
            #expect(try await store.set(.of("anna"), ["c": "", "b": "2"]))
            #expect(try await store.set(.of("anna"), ["b": "2"]))
            #expect(try await store.remove(.of("anna"), ["a", "x"]))
            #expect(try await store.remove(.of("anna"), []))
            #expect(
                try await store.events() == [
                    .states("anna", ["a": "\u{1F388}", "b": "1"]),
                    .states("anna", ["b": "2", "c": ""]), .states("anna", ["b": "2"]),
                    .states("anna", [:], removed: ["a"]), .states("anna", [:], whole: true),
                ])
            #expect(try await store.states(of: "anna") == [])
            #expect(try await store.set(.of("bob"), ["a": "1"]) == false)
            #expect(try await store.remove(.of("bob"), []) == false)
        }
    }

    @Test("setting the same values again is an event again (P-10)", arguments: Kind.allCases)
    func sameStates(_ kind: Kind) async throws {
        // In a small channel each change is announced, in a big one the user stands in the list.
        for announceMax in [50, 0] {
            try await StoreHarness.with(kind, .with { $0.announce.announceMax = announceMax }) { store in
                try await store.enter(.of("anna"))
                try await store.advance(30_000)
                _ = try await store.events()
                for _ in 1...2 { #expect(try await store.set(.of("anna"), ["a": "1"])) }
                try await store.advance(30_000)
                let reported = try await store.events()
                #expect(
                    reported
                        == (announceMax == 0
                            ? [.interval(PresenceInterval(states: [.of("anna", ["a": "1"])]))]
                            : [.states("anna", ["a": "1"]), .states("anna", ["a": "1"])]))
            }
        }
    }

    @Test("the 33rd state is refused and nothing of its call is done (L-31)", arguments: Kind.allCases)
    func stateCount(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("anna"))
            let all = Dictionary(uniqueKeysWithValues: (1...32).map { ("k\($0)", "v") })
            #expect(try await store.set(.of("anna"), all))
            let refusal = await code { _ = try await store.set(.of("anna"), ["k1": "w", "k33": "w"]) }
            #expect(refusal == .presenceStateCountOverflow)
            #expect(try await store.states(of: "anna")?.count == 32)
            #expect(try await store.states(of: "anna")?.contains { $0.value == "w" } == false)
            #expect(try await store.set(.of("anna"), ["k1": "w"]))
        }
    }

    // MARK: Interval mode

    @Test(
        "the 51st user is told by interval, back at 50 one by one (P-21, P-22, P-24, P-26)",
        arguments: Kind.allCases)
    func modes(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            for number in 1...50 { try await store.enter(.of("u\(number)")) }
            #expect(try await store.events().count == 50)
            try await store.enter(.of("v1"))
            #expect(try await store.set(.of("v1"), ["a": "1"]))
            #expect(try await store.set(.of("v1"), ["a": "2"]))
            try await store.enter(.of("v2"))
            try await store.leave(.of("v2"))
            try await store.advance(29_999)
            #expect(try await store.events() == [])
            try await store.advance(1)
            #expect(
                try await store.events() == [
                    .interval(
                        PresenceInterval(
                            joined: ["v1", "v2"], left: ["v2"],
                            states: [.of("v1", ["a": "2"])]))
                ])
            try await store.advance(60_000)
            #expect(try await store.events() == [], "nothing when nothing happened")
            #expect(try await store.set(.of("u2"), ["b": "3"]))
            try await store.leave(.of("u1"))
            #expect(
                try await store.events() == [
                    .interval(PresenceInterval(states: [.of("u2", ["b": "3"])])), .left("u1"),
                ])
        }
    }

    @Test(
        "an interval has each user once, with the states that have changed as they are now (P-23)",
        arguments: Kind.allCases)
    func intervalStates(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.announce.announceMax = 0 }) { store in
            for user in ["anna", "bob"] { try await store.enter(.of(user)) }
            try await store.advance(30_000)
            _ = try await store.events()
            _ = try await store.set(.of("bob"), ["b": "1"])
            _ = try await store.set(.of("anna"), ["a": "1"])
            _ = try await store.set(.of("bob"), ["c": "2"])
            _ = try await store.remove(.of("bob"), ["b"])
            try await store.advance(30_000)
            let states = [
                StateChange.of("anna", ["a": "1"]), .of("bob", ["c": "2"], removed: ["b"]),
            ]
            #expect(try await store.events() == [.interval(PresenceInterval(states: states))])
        }
    }

    @Test(
        "a snapshot is complete in both modes, before the period's end, too (P-27)", arguments: Kind.allCases)
    func completeSnapshots(_ kind: Kind) async throws {
        for announceMax in [50, 2] {
            let rules = PresenceRules.with {
                $0.announce.announceMax = announceMax
                $0.announce.debounce = 2_000
            }
            try await StoreHarness.with(kind, rules) { store in
                for user in ["anna", "bob", "carl", "dora"] { try await store.enter(.of(user)) }
                _ = try await store.set(.of("dora"), ["a": "1"])
                try await store.end(.of("bob"), .lost)
                try await store.leave(.of("anna", session: 1))
                try await store.enter(.of("eve", quiet: true))
                let snapshot = try await store.snapshot()
                #expect(snapshot.users.map(\.userID) == ["anna", "bob", "carl", "dora"])
                #expect(snapshot.users.last?.items == [StateItem(key: "a", value: "1")])
                #expect(try await store.snapshot(onlineMax: 3) != nil, "three are online or away")
                #expect(try await store.snapshot(onlineMax: 2) == nil)
            }
        }
    }

    @Test(
        "who goes and comes again within a period is in joined alone, with new states",
        arguments: Kind.allCases)
    func intervalReturn(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.announce.announceMax = 0 }) { store in
            for user in ["anna", "bob", "carl"] { try await store.enter(.of(user)) }
            try await store.advance(30_000)
            _ = try await store.events()
            try await store.leave(.of("anna"))
            try await store.end(.of("carl"), .lost)
            try await store.enter(.of("anna", session: 2))
            try await store.advance(5_000)
            try await store.advance(25_000)
            #expect(
                try await store.events() == [
                    .interval(
                        PresenceInterval(
                            joined: ["anna"], timedOut: ["carl"], states: [.of("anna", [:], whole: true)]))
                ])
        }
    }

    // MARK: Queries

    @Test("pages are in the order of bytes and stable under churn (P-35)", arguments: Kind.allCases)
    func pages(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            for number in 0..<250 { try await store.enter(.of("user\(1000 + number)")) }
            try await store.enter(.of("B"))
            try await store.enter(.of("a b"))
            var seen: [String] = []
            var last: String?
            repeat {
                let page = try await store.users(after: last, countMax: 100)
                seen += page
                last = page.count == 100 ? page.last : nil
                try await store.leave(.of(page.first ?? ""))
                try await store.enter(.of("A\(seen.count)"))
            } while last != nil
            #expect(seen == ["B", "a b"] + (0..<250).map { "user\(1000 + $0)" })
            #expect(try await store.users(in: .room("empty")) == [])
            #expect(try await store.count(.room("empty")) == 0)
        }
    }

    @Test("where a user is, by type and name (P-36)", arguments: Kind.allCases)
    func whereNow(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            let stream = ChannelKey(appID: "app", type: .stream, name: "a")
            try await store.enter(.of("anna"), stream)
            for name in ["z", "a", "k"] { try await store.enter(.of("anna"), .room(name)) }
            try await store.enter(.of("anna", quiet: true), .room("hidden"))
            try await store.enter(.of("anna"), ChannelKey(appID: "other", type: .message, name: "foreign"))
            let channels: [ChannelKey] = try await store.call {
                $0.channels(of: UserKey(appID: "app", userID: "anna"), $1)
            }
            #expect(channels == [.room("a"), .room("k"), .room("z"), stream])
            #expect(try await store.channels(of: "nobody") == [])
        }
    }

    @Test("a snapshot with the events after it comes to the later snapshot (P-1)", arguments: Kind.allCases)
    func snapshots(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            try await store.enter(.of("bob"))
            #expect(try await store.set(.of("bob"), ["a": "1"]))
            let sequences = try await store.sequences()
            #expect(sequences == sequences.sorted() && Set(sequences).count == 2)
            let snapshot = try await store.snapshot()
            #expect(snapshot.through == sequences.last)
            #expect(snapshot.users == [UserState(userID: "bob", items: [StateItem(key: "a", value: "1")])])
            _ = try await store.events()
            let through = try await store.enter(.of("anna")).through
            #expect(try await store.sequences() == [through])
            try await store.leave(.of("bob"))
            var view = SubscriberView(snapshot.users)
            for event in try await store.events() { view.receive(event) }
            #expect(view.states == (try await store.snapshot().users))
        }
    }

    @Test("numbers go on when a channel was empty in between", arguments: Kind.allCases)
    func sequencesContinue(_ kind: Kind) async throws {
        try await StoreHarness.with(kind) { store in
            for _ in 0..<3 {
                try await store.enter(.of("anna"))
                try await store.leave(.of("anna"))
            }
            let sequences = try await store.sequences()
            #expect(sequences.count == 6)
            #expect(Set(sequences).count == 6 && sequences == sequences.sorted())
        }
    }

    // MARK: Leases

    @Test(
        "an unknown lease says so until its members were told, then it is known until it ends",
        arguments: Kind.allCases)
    func leases(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.leaseTimeToLive = 15_000 }) { store in
            // A join names the lease, but the edge doesn't know yet whether its other members are known.
            try await store.enter(.of("anna", lease: 7))
            #expect(try await store.renew(7) == false)
            // The answer may have been lost.
            #expect(try await store.renew(7) == false)
            try await store.synced(7, except: [MemberKey(channel: .room, user: "anna", session: 1)])
            #expect(try await store.renew(7))
            try await store.advance(14_999)
            #expect(try await store.renew(7))
            try await store.advance(15_000)
            #expect(try await store.renew(7) == false)
            #expect(try await store.expiredLeases() == 1)
        }
    }

    @Test(
        "when a lease ends, its sessions are lost in all channels, each timing out once and in time",
        arguments: Kind.allCases)
    func leaseEnds(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.leaseTimeToLive = 15_000 }) { store in
            _ = try await store.renew(7)
            _ = try await store.renew(8)
            for number in 0..<40 {
                let room = ChannelKey.room("r\(number % 10)")
                try await store.enter(.of("u\(number)", lease: 7), room)
                try await store.enter(.of("v\(number)", lease: 8), room)
            }
            // One member has moved to another edge in time.
            try await store.enter(.of("u0", session: 2, lease: 8), .room("r0"))
            for number in 0..<10 { _ = try await store.events(.room("r\(number)")) }
            try await store.advance(10_000)
            _ = try await store.renew(8)
            try await store.advance(5_000)
            try await store.advance(4_999, sweeps: 1)
            _ = try await store.renew(8)
            for number in 0..<10 { #expect(try await store.events(.room("r\(number)")) == []) }
            try await store.advance(1)
            for room in 0..<10 {
                let gone = (0..<40).filter { $0 % 10 == room && $0 != 0 }.map { "u\($0)" }
                let events = try await store.events(.room("r\(room)"))
                #expect(Set(events) == Set(gone.map { .timedOut($0) }))
                #expect(events.count == gone.count)
            }
            try await store.hasMembers(41)
            #expect(try await store.expiredLeases() == 1)
        }
    }

    @Test(
        "an edge that comes back tells its members, and they are there as if nothing had been",
        arguments: Kind.allCases)
    func sync(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.leaseTimeToLive = 15_000 }) { store in
            _ = try await store.renew(7)
            for user in ["anna", "bob"] { try await store.enter(.of(user, lease: 7)) }
            _ = try await store.events()
            try await store.advance(15_000)
            #expect(try await store.renew(7) == false)
            try await store.adopt(.of("anna", lease: 7))
            // A member that presence didn't know is announced to the others.
            try await store.adopt(.of("carl", lease: 7))
            let kept = ["anna", "carl"].map { MemberKey(channel: .room, user: $0, session: 1) }
            try await store.synced(7, except: Set(kept))
            try await store.advance(4_999)
            #expect(try await store.events() == [.joined("carl")])
            try await store.advance(1)
            #expect(try await store.events() == [.timedOut("bob")])
            #expect(try await store.users() == ["anna", "carl"])
        }
    }

    @Test("who isn't among the members that an edge tells is lost", arguments: Kind.allCases)
    func syncLoses(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.leaseTimeToLive = 15_000 }) { store in
            _ = try await store.renew(7)
            for user in ["anna", "bob"] { try await store.enter(.of(user, lease: 7)) }
            try await store.enter(.of("carl", lease: 8))
            _ = try await store.events()
            try await store.synced(7, except: [MemberKey(channel: .room, user: "anna", session: 1)])
            try await store.advance(5_000)
            #expect(try await store.events() == [.timedOut("bob")])
        }
    }

    @Test(
        "an edge whose lease has ended and that comes back, then dies: nobody stays, in any of his channels",
        arguments: Kind.allCases)
    func leaseEndsAgain(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.leaseTimeToLive = 15_000 }) { store in
            let rooms = ["a", "b", "c"].map { ChannelKey.room($0) }
            for room in rooms { try await store.enter(.of("anna", lease: 7), room) }
            try await store.advance(15_000)
            // Her presence timeout is not over yet.
            try await store.advance(4_000)
            #expect(try await store.renew(7) == false)
            for room in rooms { try await store.adopt(.of("anna", lease: 7), room) }
            try await store.synced(
                7, except: Set(rooms.map { MemberKey(channel: $0, user: "anna", session: 1) }))
            try await store.leave(.of("anna"), .room("a"))
            try await store.advance(14_999)
            #expect(try await store.channels(of: "anna") == ["b", "c"])
            try await store.advance(1)
            try await store.advance(5_000)
            #expect(try await store.channels(of: "anna") == [])
            for room in rooms.dropFirst() { #expect(try await store.events(room).last == .timedOut("anna")) }
            try await store.hasMembers(0)
            #expect(try await store.totals.leases == 0)
        }
    }

    @Test(
        "who comes back while those that an edge hasn't told are declared lost isn't one of them",
        arguments: Kind.allCases)
    func comesBackDuringSync(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.leaseTimeToLive = 15_000 }) { store in
            for user in ["anna", "bob"] { try await store.enter(.of(user, lease: 7)) }
            _ = try await store.events()
            let _: Entered = try await store.call { store, done in
                // Both calls come at once, before either is answered.
                store.synced(EdgeLink(lease: 7), except: []) { _ in }
                store.enter(.of("anna", session: 2, lease: 7), .room, over: .unknown, done)
            }
            try await store.advance(5_000)
            #expect(try await store.events() == [.timedOut("bob")])
            #expect(try await store.users() == ["anna"])
        }
    }

    @Test("the end of a lease with more members than commands may wait for Redis")
    func bigLeaseEnds() async throws {
        let rules = PresenceRules.with { $0.leaseTimeToLive = 15_000 }
        try await StoreHarness.with(.redis, rules, commandsMax: 700) { store in
            for number in 0..<500 {
                let timeout = 5_000 + UInt64(number) * 10
                try await store.enter(
                    .of("u\(number)", lease: 7, timeout: timeout), .room("r\(number % 10)"))
            }
            try await store.advance(15_000)
            #expect(try await store.expiredLeases() == 1)
            try await store.advance(5_000)
            try await store.advance(5_000, sweeps: 10)
            for number in 0..<10 {
                #expect(try await store.count(.room("r\(number)")) == 0)
                #expect(try await store.events(.room("r\(number)")).count { $0.event == .timedOut } == 50)
            }
        }
    }

    @Test(
        "a store that begins anew is filled without events, and nobody is timed out falsely",
        arguments: Kind.allCases)
    func heals(_ kind: Kind) async throws {
        try await StoreHarness.with(
            kind,
            .with {
                $0.grace = 30_000
                $0.leaseTimeToLive = 15_000
            }
        ) { store in
            #expect(try await store.renew(7) == false)
            try await store.adopt(.of("anna", lease: 7))
            try await store.adopt(.of("bob", lease: 7))
            try await store.synced(
                7,
                except: Set(["anna", "bob"].map { MemberKey(channel: .room, user: $0, session: 1) }))
            #expect(try await store.events() == [])
            #expect(try await store.users() == ["anna", "bob"])
            for _ in 0..<10 {
                try await store.advance(5_000)
                #expect(try await store.renew(7))
            }
            #expect(try await store.events() == [])
            try await store.adopt(.of("carl", lease: 7))
            #expect(try await store.events() == [.joined("carl")], "the grace is over")
        }
    }

    @Test(
        "W-40: a store that begins anew announces whose join it has missed, once", arguments: Kind.allCases)
    func missedJoins(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.grace = 30_000 }) { store in
            try await store.adopt(.of("anna", lease: 7))
            for _ in 0..<2 { try await store.adopt(.of("bob", lease: 7), isAnnounced: false) }
            #expect(try await store.events() == [.joined("bob")])
        }
    }

    @Test(
        "whoever has seen a roster that is being filled hears of those who were still missing",
        arguments: Kind.allCases)
    func shownWhileFilled(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.grace = 30_000 }) { store in
            try await store.adopt(.of("anna", lease: 7))
            #expect(try await store.snapshot().users.map(\.userID) == ["anna"])
            try await store.adopt(.of("bob", lease: 8))
            #expect(try await store.events() == [.joined("bob")])
            try await store.adopt(.of("anna", lease: 7))
            #expect(try await store.events() == [])
        }
    }

    @Test(
        "L-27, C-12: topics are announced one by one and at once, and a publisher has eight at most",
        arguments: Kind.allCases)
    func topics(_ kind: Kind) async throws {
        let rules = PresenceRules.with { rules in
            rules.announce = AnnounceRules(announceMax: 0, interval: 30_000, debounce: 2_000)
        }
        try await StoreHarness.with(kind, rules) { store in
            let topics = ChannelKey(appID: "app", type: .topics, name: "room")
            try await store.enter(.of("anna"), topics)
            try await store.enter(.of("bob"), topics)
            #expect(try await store.set(.of("anna"), ["chat": "hi"], topics))
            try await store.leave(.of("bob"), topics)
            #expect(
                try await store.events(topics) == [
                    .joined("anna"), .joined("bob"), .states("anna", ["chat": "hi"]), .left("bob"),
                ])
            let others = Dictionary((1...7).map { ("t\($0)", "") }) { $1 }
            #expect(try await store.set(.of("anna"), others, topics))
            let error = await #expect(throws: RTMError.self) {
                _ = try await store.set(.of("anna"), ["one more": ""], topics)
            }
            #expect(error?.code == .channelExceedTopicLimitation && error?.limit?.value == 8)
        }
    }

    @Test("L-26: a stream channel has a limit of its own", arguments: Kind.allCases)
    func streamUsers(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { ($0.usersMax, $0.streamUsersMax) = (0, 1) }) { store in
            let stream = ChannelKey(appID: "app", type: .stream, name: "room")
            try await store.enter(.of("anna"), stream)
            let error = await #expect(throws: RTMError.self) { try await store.enter(.of("bob"), stream) }
            #expect(error?.code == .channelJoinFailed && error?.limit?.value == 1)
            try await store.enter(.of("bob"))
            try await store.leave(.of("anna"), stream)
            try await store.enter(.of("bob"), stream)
        }
    }

    @Test("L-42: a channel has so many users, whoever was one stays one, and one who goes makes room")
    func usersMax() async throws {
        for kind in Kind.allCases {
            try await StoreHarness.with(kind, .with { $0.usersMax = 2 }) { store in
                try await store.enter(.of("anna"))
                try await store.enter(.of("bob", quiet: true))
                let refusal = await #expect(throws: RTMError.self) {
                    try await store.enter(.of("carol"))
                }
                #expect(refusal?.code == .channelSubscribeFailed && refusal?.retryAfter != nil)
                #expect(refusal?.limit == .init(name: "users in a channel", value: 2))
                // Another session of a user, and what an edge reports of members that it has, always fit.
                try await store.enter(.of("anna", session: 5))
                try await store.adopt(.of("dora"))
                #expect(try await store.users() == ["anna", "dora"])
                for user in ["bob", "dora"] { try await store.leave(.of(user)) }
                try await store.enter(.of("carol"))
                #expect(try await store.users() == ["anna", "carol"])
                #expect(try await store.channels(of: "carol") == ["room"])
            }
        }
    }

    @Test("rosters of no more channels than allowed", arguments: [Kind.embedded])
    func channelsMax(_ kind: Kind) async throws {
        try await StoreHarness.with(kind, .with { $0.channelsMax = 2 }) { store in
            try await store.enter(.of("anna"), .room("a"))
            try await store.enter(.of("anna"), .room("b"))
            #expect(await code { try await store.enter(.of("anna"), .room("c")) } == .presenceOperationFailed)
            try await store.leave(.of("anna"), .room("a"))
            try await store.enter(.of("anna"), .room("c"))
            #expect(try await store.totals == PresenceTotals(channels: 2, members: 2, leases: 1))
        }
    }
}
