import Foundation
import RTMTestSupport
import Testing

/// `rtm metadata`, `rtm lock` and `rtm history` against the real system.
@Suite(.serialized, .ends(withinMinutes: 3)) struct StorageCommandLineTests {
    private let edge = ["--edge-rates-channel-metadata", "0"]

    private func parse(_ line: String?) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data((line ?? "").utf8)) as? [String: Any])
    }

    /// The events of one kind, by type.
    private func events(_ outcome: CommandOutcome, _ kind: String) throws -> [[String: Any]] {
        try outcome.output.map { try parse($0) }.filter { $0["event"] as? String == kind }
    }

    private func values(_ set: [String: Any]?) -> [String: String] {
        let items = set?["items"] as? [[String: Any]] ?? []
        return Dictionary(
            items.map { ($0["key"] as? String ?? "", $0["value"] as? String ?? "") }, uniquingKeysWith: { $1 }
        )
    }

    @Test("metadata: set, update, remove and get with their conditions, and a watcher sees each set")
    func metadata() async throws {
        try await RunningSystem.with(.standalone, edge: edge) { system in
            let set = try await system.run("metadata", "set", "channel", "lobby", "a=1", "b=2", "--json")
            let first = try #require(try parse(set.output.first)["majorRevision"] as? Int)
            let watcher = try system.command([
                "metadata", "watch", "channel", "lobby", "--count", "4", "--json",
            ])
            let snapshot = try parse(await system.firstLine(of: watcher))
            #expect(snapshot["eventType"] as? String == "snapshot")
            #expect(values(snapshot["data"] as? [String: Any]) == ["a": "1", "b": "2"])
            let stale = try await system.run(
                "metadata", "set", "channel", "lobby", "a=9", "--major-revision", "\(first + 7)", "--json")
            let error = try parse(stale.errors.first)["error"] as? [String: Any]
            #expect(stale.status == 1 && error?["code"] as? Int == -12014)
            #expect((error?["conflict"] as? [String: Any])?["majorRevision"] as? Int == first)
            let update = try await system.run(
                "metadata", "update", "channel", "lobby", "a=3", "--revision", "a=\(first)",
                "--major-revision", "\(first)", "--record-author", "--user", "anna")
            #expect(update.status == 0)
            #expect(try await system.run("metadata", "remove", "channel", "lobby", "b").status == 0)
            let get = try await system.run("metadata", "get", "channel", "lobby", "--json")
            let found = try parse(get.output.first)
            #expect(values(found) == ["a": "3"])
            let item = (found["items"] as? [[String: Any]])?.first
            #expect(item?["authorUserId"] as? String == "anna" && item?["revision"] as? Int ?? 0 > first)
            #expect(try await system.run("metadata", "remove", "channel", "lobby", "--all").status == 0)
            let seen = try events(try await system.end(watcher), "storage")
            #expect(seen.map { $0["eventType"] as? String } == ["update", "update", "update"])
            #expect(
                seen.map { values($0["data"] as? [String: Any]) } == [
                    ["a": "3", "b": "2"], ["a": "3"], [:],
                ])
            let own = try await system.run("metadata", "set", "user", "anna", "status=busy", "--user", "ben")
            #expect(own.status == 0, "D-16")
            let human = try await system.run("metadata", "get", "user", "anna", "status")
            #expect(human.output.contains { $0.hasPrefix("status=busy ") })
        }
    }

    @Test(
        "lock: set, acquire around a command, list, revoke, release, remove; writes under it, and a watcher")
    func locks() async throws {
        try await RunningSystem.with(.standalone, edge: edge) { system in
            #expect(try await system.run("lock", "set", "lobby", "manage", "--ttl", "30s").status == 0)
            let again = try await system.run("lock", "set", "lobby", "manage", "--json")
            #expect(again.status == 1 && again.errors.first?.contains("-14004") == true)
            let child = try await system.run(
                "lock", "acquire", "lobby", "manage", "--user", "anna", "--json", "--", "sh", "-c",
                "test \"$RTM_FENCING_TOKEN\" -gt 0 && exit 7")
            #expect(child.status == 7, "the command's status")
            let acquire = ["lock", "acquire", "lobby", "manage", "--user", "anna", "--json"]
            let holder = try system.command(acquire)
            let token = try await heldBy("anna", system)
            let refused = try await system.run(
                "lock", "acquire", "lobby", "manage", "--no-wait", "--user", "ben")
            #expect(refused.status == 1 && refused.errors.first?.contains("-14007") == true)
            #expect(try await system.run("lock", "revoke", "lobby", "manage", "anna").status == 0)
            let lost = try await system.end(holder)
            #expect(lost.status == 1 && lost.errors.last?.contains("-14006") == true, "\(lost.errors)")
            #expect(try parse(lost.output.first)["fencingToken"] as? Int == token)
            // The next owner dies while it has the lock, which stays hers for the ttl.
            let dying = try system.command(acquire)
            let newer = try await heldBy("anna", system)
            #expect(newer > token)
            kill(dying.processIdentifier, SIGKILL)
            _ = try await system.end(dying)
            let under = ["metadata", "set", "channel", "lobby", "a=1", "--lock", "manage", "--user"]
            #expect(try await system.end(system.command(under + ["ben"])).status == 1)
            let fenced = under + ["anna", "--fencing-token"]
            #expect(try await system.end(system.command(fenced + ["\(token)"])).status == 1, "an old token")
            #expect(try await system.end(system.command(fenced + ["\(newer)"])).status == 0)
            #expect(try await system.run("lock", "release", "lobby", "manage", "--user", "ben").status == 1)
            #expect(try await system.run("lock", "release", "lobby", "manage", "--user", "anna").status == 0)
            let watcher = try await system.run("lock", "watch", "lobby", "--count", "1", "--json")
            #expect(try events(watcher, "lock").map { $0["eventType"] as? String } == ["snapshot"])
            #expect(try await system.run("lock", "remove", "lobby", "manage").status == 0)
            let none = try await system.run("lock", "list", "lobby")
            #expect(
                none.status == 0 && none.output == [] && none.errors.contains { $0.contains("no locks") },
                "\(none)")
        }
    }

    /// Waits until the command owns the lock, and returns the fencing token.
    private func heldBy(_ user: String, _ system: RunningSystem) async throws -> Int {
        var token: Int?
        try await eventually("\(user) has it") {
            let list = try await system.run("lock", "list", "lobby", "--json")
            let lock = (try parse(list.output.first)["locks"] as? [[String: Any]])?.first ?? [:]
            #expect(lock["ttl"] as? Int == 30)
            token = lock["owner"] as? String == user ? lock["fencingToken"] as? Int : nil
            return token != nil
        }
        return try #require(token)
    }

    @Test("history: of a channel and of the own inbox, within bounds, newest first")
    func history() async throws {
        try await RunningSystem.with(.standalone, edge: edge) { system in
            for number in 0..<4 {
                let sent = try await system.run(
                    "publish", "lobby", "m\(number)", "--history", "--user", "anna")
                #expect(sent.status == 0)
            }
            _ = try await system.run("send", "ben", "for you", "--history", "--user", "anna")
            let page = try await system.run("history", "lobby", "--count", "3", "--json")
            let messages = try events(page, "message")
            #expect(messages.map { $0["message"] as? String } == ["m3", "m2", "m1"])
            let end = try parse(page.output.last)
            #expect(end["count"] as? Int == 3 && end["newStart"] as? Int ?? 0 > 0)
            let times = messages.compactMap { $0["timestamp"] as? Int }
            let before = try await system.run("history", "lobby", "--before", "\(times[1])", "--json")
            #expect(try events(before, "message").map { $0["message"] as? String } == ["m1", "m0"])
            let since = try await system.run("history", "lobby", "--since", "\(times[1])", "--json")
            #expect(try events(since, "message").map { $0["message"] as? String } == ["m3", "m2"])
            let inbox = try await system.run("history", "--user", "ben", "--json")
            let received = try events(inbox, "message")
            #expect(received.map { $0["message"] as? String } == ["for you"])
            #expect(received.map { $0["publisher"] as? String } == ["anna"])
        }
    }
}
