import RTMClient
import RTMModel
import RTMTestSupport
import Testing

/// An edge dies with all its users. Everything under its leases goes with it: each other subscriber is told
/// that each user timed out, once, and within the bound that docs/metrics.md states.
@Suite(.serialized, .ends(withinMinutes: 4)) struct KilledEdgeTests {
    private static let roomsMax = 100
    private static let usersMax = 1_000
    /// The shortest presence timeout that a client may ask for (L-45).
    private static let presenceTimeout = Duration.seconds(5)
    private static let lease = Duration.seconds(3)
    /// The lease, the users' timeout, and two sweeps.
    private static let bound = lease + presenceTimeout + .milliseconds(2 * 250)

    /// Each user is in two rooms, never in the same one twice, so each room has twenty users.
    private static func rooms(of user: Int) -> [String] {
        ["room\(user % roomsMax)", "room\((user * 7 + 1) % roomsMax)"]
    }

    /// The users of each room, by name.
    private static func crowds() -> [String: [String]] {
        var crowds: [String: [String]] = [:]
        for user in 0..<usersMax {
            for room in rooms(of: user) { crowds[room, default: []].append("user\(user)") }
        }
        return crowds.mapValues { $0.sorted() }
    }

    /// Two users watch the same rooms: as many as one client may (L-24).
    private struct Watch {
        let rooms: [String]
        let names: [String]
        let clients: [RTMClient]
        let records: [PresenceRecord]

        init(_ system: RunningSystem, _ rooms: [String], names: [String]) async throws {
            self.rooms = rooms
            self.names = names
            clients = try names.map { try system.client($0) { $0.eventBufferCapacity = 100_000 } }
            records = clients.map { PresenceRecord($0) }
            for client in clients {
                try await client.login()
                for room in rooms { try await client.subscribe(to: room) }
            }
        }
    }

    @Test(
        "kill -9 of an edge with 1,000 users in 100 channels: each is told as timed out once, not before its time",
        arguments: PresenceRecoveryTests.Memory.allCases)
    func killed(_ memory: PresenceRecoveryTests.Memory) async throws {
        let options = ["--debounce", "0s", "--lease-ttl", "3s"]
        try await PresenceRecoveryTests.withSystem(memory, options) { system, _ in
            let doomed = try system.process("rtm-edge")
            let users = try await RawUser.enter(
                (0..<Self.usersMax).map { ("user\($0)", Self.rooms(of: $0)) },
                at: system.address("edge"), presenceTimeout: 5)
            let crowds = Self.crowds()
            #expect(crowds.count == Self.roomsMax && crowds.values.allSatisfy { $0.count == 20 })
            try await system.launchEdge()
            try await system.ready()
            let rooms = crowds.keys.sorted()
            let watches = [
                try await Watch(system, Array(rooms.prefix(50)), names: ["walt", "wilma"]),
                try await Watch(system, Array(rooms.suffix(50)), names: ["xaver", "xenia"]),
            ]
            for watch in watches {
                for room in watch.rooms {
                    let everybody = ((crowds[room] ?? []) + watch.names).sorted()
                    try await watch.records[1].expect(
                        [(["snapshot"] + everybody).joined(separator: " ")], in: room)
                }
            }
            let start = ContinuousClock.now
            try await doomed.kill9()
            for watch in watches { try await expectTimeouts(watch, crowds, since: start) }
            let asked = try await watches[0].clients[0].whoNow(in: watches[0].rooms[0])
            #expect(asked.users.map(\.userID) == watches[0].names)
            #expect(try await watches[0].clients[0].whereNow("user0") == [])
            let metrics = try await system.get("http://\(system.address("rtm-presence admin"))/metrics").body
            // 3 + 300 + 30 + 0.75 seconds, and the claim.
            let bound = memory == .redis ? 339 : 334
            #expect(metrics.contains("\nrtm_presence_gone_bound_seconds \(bound)\n"))
            for watch in watches { for client in watch.clients { await client.close() } }
            for user in users { try? await user.connection.close() }
        }
    }

    private func expectTimeouts(
        _ watch: Watch, _ crowds: [String: [String]], since start: ContinuousClock.Instant
    ) async throws {
        for record in watch.records {
            try await eventually("1,000 timeouts", within: .seconds(90)) {
                record.all.count { $0.text.hasPrefix("timeout") } >= 1_000
            }
        }
        // An event that presence sent twice would come before this one.
        for room in watch.rooms {
            try await watch.clients[1].setState(["the": "end"], in: room)
            try await watch.records[0].first("state \(watch.names[1])[the=end]", in: room)
            try await watch.clients[0].setState(["the": "end"], in: room)
            try await watch.records[1].first("state \(watch.names[0])[the=end]", in: room)
        }
        for record in watch.records {
            let timeouts = record.all.filter { $0.text.hasPrefix("timeout") }
            for room in watch.rooms {
                let reported = timeouts.filter { $0.channel == room }.map(\.text).sorted()
                #expect(reported == crowds[room]?.map { "timeout \($0)" })
            }
            let delays = timeouts.map { $0.at - start }
            #expect(try #require(delays.min()) >= Self.presenceTimeout)
            // The rest is time for a slow machine.
            #expect(try #require(delays.max()) <= Self.bound + .seconds(30))
            #expect(!record.all.contains { $0.text.hasPrefix("leave") })
        }
    }
}
