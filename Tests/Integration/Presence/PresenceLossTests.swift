import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// Users who are lost, who only seem so, and who come back: the network fails between a client and its edge.
/// Times are the shortest that are allowed. The tests assert to the moment that nothing happens too early;
/// how late things may happen depends on the machine.
@Suite(.serialized, .ends(withinMinutes: 3)) struct PresenceLossTests {
    /// Anna watches, and Ben's line goes through the proxy.
    private func withBen(
        presenceTimeout: Duration, heartbeat: Duration = .seconds(5),
        _ body: (_ anna: RTMClient, _ ben: RTMClient, [PresenceRecord], FaultProxy) async throws -> Void
    ) async throws {
        try await RunningSystem.with(.standalone, presence: ["--debounce", "0s"]) { system in
            let proxy = try await FaultProxy.start(to: system.address("edge"))
            let anna = try system.client("anna")
            let server = try ServerAddress(proxy.address)
            let ben = try system.client("ben") {
                $0.servers = [server]
                $0.presenceTimeout = presenceTimeout
                $0.heartbeatInterval = heartbeat
            }
            let records = [PresenceRecord(anna), PresenceRecord(ben)]
            for client in [anna, ben] {
                try await client.login()
                try await client.subscribe(to: "lobby")
            }
            try await ben.setState(["a": "1"], in: "lobby")
            try await records[0].expect(["snapshot anna", "join ben", "state ben[a=1]"])
            try await body(anna, ben, records, proxy)
            for client in [anna, ben] { await client.close() }
            try await proxy.stop()
        }
    }

    @Test(
        "Appendix D, S-42, S-43, S-44: back after the timeout: timeout, then join, with the cached states (P-46)"
    )
    func backLater() async throws {
        try await withBen(presenceTimeout: .seconds(5)) { anna, ben, records, proxy in
            var links = ben.events().makeAsyncIterator()
            let start = ContinuousClock.now
            proxy.refuse(true)
            proxy.spoil(.reset)
            #expect(await links.nextLinkState(.disconnected) != nil)
            let away = try await anna.whoNow(in: "lobby", includingStates: true).users
            // The rule is S-44: the lost user is still listed, unless this machine needed 5 s to ask.
            if ContinuousClock.now - start < .seconds(5) {
                #expect(away.map(\.userID) == ["anna", "ben"] && away.last?.states == ["a": "1"])
            }
            let timeout = try await records[0].first("timeout ben")
            #expect(timeout - start >= .seconds(5))
            #expect(try await anna.whoNow(in: "lobby").users.map(\.userID) == ["anna"])
            #expect(try await anna.whereNow("ben") == [])
            proxy.refuse(false)
            let back = await links.nextLinkState(.connected)
            #expect(back?.isResumed == true)
            try await records[0].expect([
                "snapshot anna", "join ben", "state ben[a=1]", "timeout ben", "join ben[a=1]",
            ])
            // P-41: his own states are in his snapshot.
            try await records[1].expect(["snapshot anna ben", "snapshot anna ben[a=1]"])
        }
    }

    @Test(
        "Appendix D, S-17, S-21, S-43: back within the timeout: nothing to others, states intact, a new snapshot"
    )
    func backInTime() async throws {
        try await withBen(presenceTimeout: .seconds(300)) { anna, ben, records, proxy in
            var links = ben.events().makeAsyncIterator()
            for round in 1...3 {
                proxy.refuse(true)
                proxy.spoil(.reset)
                #expect(await links.nextLinkState(.disconnected) != nil)
                proxy.refuse(false)
                #expect(await links.nextLinkState(.connected)?.isResumed == true)
                try await records[1].expect(
                    ["snapshot anna ben"] + (0..<round).map { _ in "snapshot anna ben[a=1]" })
            }
            // The answer to a call comes after everything that was sent to her before it.
            try await ben.setState(["b": "2"], in: "lobby")
            try await records[0].expect([
                "snapshot anna", "join ben", "state ben[a=1]", "state ben[a=1,b=2]",
            ])
        }
    }

    @Test("Appendix D, S-12b: back over a new line while the old one seems alive: no event, no 27")
    func halfDead() async throws {
        try await withBen(presenceTimeout: .seconds(5)) { anna, ben, records, proxy in
            var links = ben.events().makeAsyncIterator()
            // The server doesn't notice the end and takes the old line for a living one.
            proxy.spoil(.stall)
            ben.networkChanged()
            #expect(await links.nextLinkState(.connected)?.operation == .reconnected)
            try await records[1].expect(["snapshot anna ben", "snapshot anna ben[a=1]"])
            // This is longer than the old session's heartbeat, its grace and its presence timeout together.
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .seconds(21) {
                #expect(ben.linkState == .connected)
                await letPass(.seconds(1))
            }
            try await ben.setState(["b": "2"], in: "lobby")
            try await records[0].expect([
                "snapshot anna", "join ben", "state ben[a=1]", "state ben[a=1,b=2]",
            ])
        }
    }

    @Test(
        "Appendix D, S-41, S-42: a silent cut with heartbeats of 10 s and a timeout of 5 s is told after 15 s at the earliest"
    )
    func silentCut() async throws {
        try await withBen(presenceTimeout: .seconds(5), heartbeat: .seconds(10)) { anna, _, records, proxy in
            let start = ContinuousClock.now
            proxy.refuse(true)
            proxy.spoil(.stall)
            // The last heartbeat is at most 10 s old; it is followed by 10 s until the next one, 10 s of
            // grace, and 5 s of timeout.
            let timeout = try await records[0].first("timeout ben", within: .seconds(90))
            #expect(timeout - start >= .seconds(10 + 5))
            #expect(records[0].texts().filter { $0 == "timeout ben" }.count == 1)
            #expect(try await anna.whoNow(in: "lobby").users.map(\.userID) == ["anna"])
        }
    }

    @Test("2.1.11: who leaves while one is away is gone from the roster when one is back")
    func leaveMeanwhile() async throws {
        try await withBen(presenceTimeout: .seconds(300)) { anna, ben, records, proxy in
            var links = ben.events().makeAsyncIterator()
            var roster = ben.roster(of: "lobby").makeAsyncIterator()
            #expect(await roster.next()?.members.count == 2)
            proxy.refuse(true)
            proxy.spoil(.reset)
            #expect(await links.nextLinkState(.disconnected) != nil)
            try await anna.unsubscribe(from: "lobby")
            proxy.refuse(false)
            #expect(await links.nextLinkState(.connected) != nil)
            try await records[1].first("snapshot ben[a=1]")
            while let update = await roster.next(), update.members != ["ben": ["a": "1"]] {}
            #expect(try await ben.whoNow(in: "lobby").users.map(\.userID) == ["ben"])
        }
    }

    @Test("Appendix D, S-22: a logout is a leave at once, and no timeout follows")
    func logout() async throws {
        try await withBen(presenceTimeout: .seconds(5)) { anna, ben, records, _ in
            try await ben.logout()
            try await records[0].first("leave ben")
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .seconds(6) { await letPass(.milliseconds(500)) }
            try await anna.subscribe(to: "later")
            #expect(
                records[0].texts() == ["snapshot anna", "join ben", "state ben[a=1]", "leave ben"])
        }
    }
}
