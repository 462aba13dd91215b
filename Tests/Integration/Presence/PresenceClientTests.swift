import RTMClient
import RTMModel
import RTMTestSupport
import Testing

/// Presence as apps see it, against the real system: who comes, goes and shows which states.
/// `PresenceLossTests` and `PresenceRecoveryTests` show what it does when the network or a process fails.
@Suite(.serialized, .ends(withinMinutes: 3)) struct PresenceClientTests {
    private func withClients(
        _ users: [String], on deployment: Deployment = .standalone,
        presence: [String] = ["--debounce", "0s"],
        _ body: ([RTMClient], [PresenceRecord], RunningSystem) async throws -> Void
    ) async throws {
        try await RunningSystem.with(deployment, presence: presence) { system in
            let clients = try users.map { try system.client($0) }
            let records = clients.map { PresenceRecord($0) }
            for client in clients { try await client.login() }
            try await body(clients, records, system)
            for client in clients { await client.close() }
        }
    }

    @Test(
        "P-1, P-3, P-4, P-6, P-8: snapshot, joins, states and leaves, each once and to the others only",
        arguments: Deployment.allCases)
    func events(_ deployment: Deployment) async throws {
        try await withClients(["anna", "ben", "cleo"], on: deployment) { clients, records, _ in
            let (anna, ben, cleo) = (clients[0], clients[1], clients[2])
            try await anna.subscribe(to: "lobby")
            try await ben.subscribe(to: "lobby")
            try await ben.setState(["mood": "good", "näme": "ünicode 漢字"], in: "lobby")
            try await records[0].first("state ben[mood=good,näme=ünicode 漢字]")
            try await cleo.subscribe(to: "lobby")
            try await ben.setState(["mood": "bad"], in: "lobby")
            try await ben.removeState(["mood"], in: "lobby")
            try await records[2].first("state ben[näme=ünicode 漢字]")
            try await cleo.unsubscribe(from: "lobby")
            try await records[1].first("leave cleo")
            try await ben.logout()
            try await records[0].expect([
                "snapshot anna", "join ben", "state ben[mood=good,näme=ünicode 漢字]", "join cleo",
                "state ben[mood=bad,näme=ünicode 漢字]", "state ben[näme=ünicode 漢字]", "leave cleo",
                "leave ben",
            ])
            #expect(
                records[1].texts() == ["snapshot anna ben", "join cleo", "leave cleo"],
                "nobody hears of himself")
            #expect(
                records[2].texts() == [
                    "snapshot anna ben[mood=good,näme=ünicode 漢字] cleo",
                    "state ben[mood=bad,näme=ünicode 漢字]", "state ben[näme=ünicode 漢字]",
                ])
            #expect(try await anna.whoNow(in: "lobby").users.map(\.userID) == ["anna"])
        }
    }

    @Test("P-25: a leave is held back, and who returns meanwhile was never away")
    func debounce() async throws {
        try await withClients(["anna", "ben"], presence: ["--debounce", "60s"]) { clients, records, _ in
            for client in clients { try await client.subscribe(to: "lobby") }
            try await clients[1].unsubscribe(from: "lobby")
            // He is not listed any more, though nobody was told that he left.
            #expect(try await clients[0].whoNow(in: "lobby").users.map(\.userID) == ["anna"])
            try await clients[1].subscribe(to: "lobby")
            try await clients[1].setState(["a": "1"], in: "lobby")
            try await records[0].expect(["snapshot anna", "join ben", "state ben[a=1]"])
        }
    }

    @Test("M-7, P-45: a quiet user hears others, and is in nobody's list, count or events")
    func quiet() async throws {
        try await withClients(["anna", "ben"]) { clients, records, _ in
            let (anna, ben) = (clients[0], clients[1])
            try await anna.subscribe(to: "lobby")
            try await ben.subscribe(to: "lobby", features: [.message, .presence, .quiet])
            try await ben.setState(["a": "1"], in: "lobby")
            #expect(try await ben.state(of: "ben", in: "lobby") == ["a": "1"])
            #expect(await code { _ = try await anna.state(of: "ben", in: "lobby") } == .presenceUserNotExist)
            #expect(try await anna.whoNow(in: "lobby", includingUsers: false).total == 1)
            #expect(try await anna.whereNow("ben") == [])
            try await anna.setState(["b": "2"], in: "lobby")
            try await records[1].expect(["snapshot anna", "state anna[b=2]"])
            try await ben.unsubscribe(from: "lobby")
            // If she had been told of him, then before her own next snapshot.
            try await anna.unsubscribe(from: "lobby")
            try await anna.subscribe(to: "lobby")
            try await records[0].expect(["snapshot anna", "snapshot anna"])
        }
    }

    @Test("P-30 to P-37, 2.1.9: 252 users in pages of 100, each once; whereNow gives all channels")
    func queries() async throws {
        try await withClients(["anna", "ben"]) { clients, _, system in
            let names = (100..<350).map { "user\($0)" }
            let users = try await RawUser.enter(
                names.map { ($0, $0 == "user100" ? ["crowd", "attic", "zoo"] : ["crowd"]) },
                at: system.address("edge"), presenceTimeout: 300)
            let (anna, ben) = (clients[0], clients[1])
            try await anna.subscribe(to: "crowd")
            let others = try await ben.whoNow(in: "crowd", includingUsers: false)
            #expect(others.total == 251, "P-30: without a subscription")
            try await ben.subscribe(to: "crowd", features: .message)
            try await anna.setState(["a": "1"], in: "crowd")
            var (page, pages): (String?, [OnlineUsersPage]) = ("", [])
            while let bookmark = page {
                pages.append(try await ben.whoNow(in: "crowd", includingStates: true, page: bookmark))
                page = pages.last?.nextPage
            }
            #expect(pages.map(\.total) == [100, 100, 52], "P-33")
            let everybody = (["anna", "ben"] + names).sorted()
            #expect(pages.flatMap(\.users).map(\.userID) == everybody)
            #expect(pages.first?.users.first?.states == ["a": "1"])
            var read: [String] = []
            for try await user in ben.onlineUsers(in: "crowd") {
                read.append(user.userID)
                #expect(user.states.isEmpty, "P-35")
            }
            #expect(read == everybody)
            let count = try await ben.whoNow(in: "crowd", includingUsers: false)
            #expect(count.total == 252 && count.users == [] && count.nextPage == nil, "P-32")
            #expect(try await ben.whereNow("user100").map(\.name) == ["attic", "crowd", "zoo"])
            #expect(try await ben.whereNow("nobody") == [])
            #expect(
                await code { _ = try await ben.whoNow(in: "crowd", page: "no bookmark") }
                    == .presenceInvalidArgument)
            #expect(
                await code { _ = try await ben.state(of: "user100", in: "elsewhere") }
                    == .presenceUserNotExist)
            for user in users { try await user.connection.close() }
        }
    }

    @Test("P-27: the snapshot of a big channel is one event with everybody, however many ask for it at once")
    func bigChannel() async throws {
        let options = ["--debounce", "0s", "--interval", "300ms"]
        let users = ["anna", "ben", "cleo"]
        try await withClients(users, on: .fourProcesses, presence: options) { clients, records, system in
            let names = (1_000..<1_800).map { "a user with a name \($0)" }
            let crowd = try await RawUser.enter(
                names.map { ($0, ["crowd"]) }, at: system.address("edge"), presenceTimeout: 300)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in clients { group.addTask { try await client.subscribe(to: "crowd") } }
                try await group.waitForAll()
            }
            for (user, (client, record)) in zip(users, zip(clients, records)) {
                func snapshots() -> [String] {
                    record.texts(of: "crowd").filter { $0.hasPrefix("snapshot") }
                }
                try await eventually("\(user) gets the snapshot") { !snapshots().isEmpty }
                let snapshot = snapshots()[0]
                let isWhole = (names + [user]).allSatisfy { snapshot.contains($0) }
                #expect(isWhole)
                // The others are in the snapshot already, or come with the next interval.
                var updates = client.roster(of: "crowd").makeAsyncIterator()
                let everybody = (names + users).sorted()
                while let update = await updates.next(), update.members.keys.sorted() != everybody {}
                #expect(snapshots().count == 1)
            }
            for user in crowd { try await user.connection.close() }
        }
    }

    @Test("P-21, P-22, P-26: beyond the threshold changes are collected; back at it, each is told at once")
    func interval() async throws {
        let options = ["--debounce", "0s", "--announce-max", "3", "--interval", "300ms"]
        try await withClients(["anna", "ben", "cleo", "dora"], presence: options) { clients, records, _ in
            for client in clients.dropLast() { try await client.subscribe(to: "lobby") }
            try await clients[3].subscribe(to: "lobby")
            try await records[0].first("interval +dora")
            try await clients[3].setState(["a": "1"], in: "lobby")
            try await clients[2].setState(["b": "2"], in: "lobby")
            try await eventually("both states are told") {
                let reported = records[0].texts().joined(separator: " ")
                return reported.contains("dora[a=1]") && reported.contains("cleo[b=2]")
            }
            // This begins one more period, and its batch is sent before the events that follow the switch.
            try await clients[1].setState(["c": "3"], in: "lobby")
            try await clients[3].unsubscribe(from: "lobby")
            try await clients[1].setState(["c": "4"], in: "lobby")
            try await records[0].first("state ben[c=4]")
            let texts = records[0].texts()
            #expect(texts.prefix(3) == ["snapshot anna", "join ben", "join cleo"])
            #expect(
                texts.dropFirst(3).dropLast().allSatisfy { $0.hasPrefix("interval") || $0 == "leave dora" })
            let reported = texts.joined(separator: " ")
            #expect(
                reported.contains("ben[c=3]")
                    && (reported.contains("-dora") || reported.contains("leave dora")))
            // A client that has combined the intervals knows the same as one that asks.
            var updates = clients[0].roster(of: "lobby").makeAsyncIterator()
            #expect(await updates.next()?.members.keys.sorted() == ["anna", "ben", "cleo"])
        }
    }

    @Test("S-12, S-11: a takeover is a leave to the others; the new session begins with nothing")
    func takeover() async throws {
        try await withClients(["anna", "ben"], on: .fourProcesses) { clients, records, system in
            try await clients[0].subscribe(to: "lobby")
            try await clients[1].subscribe(to: "lobby")
            try await clients[1].setState(["a": "1"], in: "lobby")
            let newer = try system.client("ben")
            let record = PresenceRecord(newer)
            try await newer.login()
            try await records[0].first("leave ben")
            #expect(try await clients[0].whereNow("ben") == [])
            try await newer.subscribe(to: "lobby")
            try await newer.setState(["b": "2"], in: "lobby")
            try await records[0].expect([
                "snapshot anna", "join ben", "state ben[a=1]", "leave ben", "join ben", "state ben[b=2]",
            ])
            try await record.expect(["snapshot anna ben"])
            await newer.close()
        }
    }

    @Test("P-40, P-41, P-46, L-32: states set before subscribing wait here, and are told with the join")
    func statesBefore() async throws {
        try await withClients(["anna", "ben"]) { clients, records, _ in
            try await clients[0].subscribe(to: "lobby")
            try await clients[1].setState(["a": "1", "b": "1"], in: "lobby")
            try await clients[1].setState(["b": "2"], in: "lobby")
            #expect(try await clients[1].state(of: "ben", in: "lobby") == ["a": "1", "b": "2"])
            try await clients[1].subscribe(to: "lobby")
            try await records[0].expect(["snapshot anna", "join ben[a=1,b=2]"])
            // The states are gone with the subscription, even for the user itself (P-42).
            try await clients[1].unsubscribe(from: "lobby")
            try await clients[1].subscribe(to: "lobby")
            try await records[1].expect(["snapshot anna ben[a=1,b=2]", "snapshot anna ben"])
            #expect(try await clients[0].state(of: "ben", in: "lobby") == [:])
        }
    }

    @Test(
        "2.2.8, 2.2.2: however often states are set, each change is told once, in order, and nobody seems to go"
    )
    func frequentStates() async throws {
        try await withClients(["anna", "ben", "cleo"]) { clients, records, _ in
            for client in clients { try await client.subscribe(to: "lobby") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (client, name) in [(clients[1], "ben"), (clients[2], "cleo")] {
                    group.addTask {
                        for number in 1...100 {
                            try await client.setState(["of": name, "n": "\(number)"], in: "lobby")
                        }
                    }
                }
                try await group.waitForAll()
            }
            for name in ["ben", "cleo"] { try await records[0].first("state \(name)[n=100,of=\(name)]") }
            let texts = records[0].texts()
            for name in ["ben", "cleo"] {
                let reported = texts.filter { $0.hasPrefix("state \(name)") }
                #expect(reported == (1...100).map { "state \(name)[n=\($0),of=\(name)]" })
            }
            #expect(texts.count == 3 + 200, "a snapshot, two joins, and nothing else")
            let users = try await clients[0].whoNow(in: "lobby", includingStates: true).users
            #expect(users.map(\.states) == [[:]] + ["ben", "cleo"].map { ["n": "100", "of": $0] })
        }
    }

    @Test("A roster follows: joins, states and leaves of the others, and the own states")
    func roster() async throws {
        try await withClients(["anna", "ben"]) { clients, _, _ in
            var updates = clients[0].roster(of: "lobby").makeAsyncIterator()
            try await clients[0].subscribe(to: "lobby")
            try await clients[1].subscribe(to: "lobby")
            try await clients[1].setState(["a": "1"], in: "lobby")
            try await clients[0].setState(["own": "1"], in: "lobby")
            let full = ["anna": ["own": "1"], "ben": ["a": "1"]]
            while let update = await updates.next(), update.members != full {}
            try await clients[1].unsubscribe(from: "lobby")
            let last = await updates.next()
            #expect(last?.members == ["anna": ["own": "1"]] && last?.changes == [.left("ben")])
        }
    }
}
