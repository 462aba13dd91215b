import Foundation
import RTMClient
import RTMTestSupport
import Testing

/// What is slow and loud in an app, over HTTP.
@Suite(.serialized, .ends(withinMinutes: 2)) struct GatewayTopTests {
    /// The rows of a list, by user or channel.
    private func names(_ answer: GatewaySystem.Answer, _ list: String, _ name: String) -> [String] {
        (answer.value(list) as? [[String: Any]] ?? []).compactMap { $0[name] as? String }
    }

    /// Measures while somebody publishes.
    private func measure(
        _ gateway: GatewaySystem, _ query: String = "", key: String = "admin",
        publishing publish: @escaping @Sendable () async throws -> Void
    ) async throws -> GatewaySystem.Answer {
        try await withThrowingTaskGroup(of: GatewaySystem.Answer?.self) { group in
            group.addTask {
                while !Task.isCancelled { try await publish() }
                return nil
            }
            let answer = try await gateway.call("GET", "/v1/dev/top?\(query)", key: key)
            group.cancelAll()
            while await group.nextResult() != nil {}
            return answer
        }
    }

    @Test(
        "W-79: who publishes most, into which channels, and who is refused",
        arguments: Deployment.allCases)
    func loud(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment) { gateway in
            if deployment == .fourProcesses { try await gateway.system.launchEdge() }
            try await gateway.system.withClients("ann", "ben", "carl") { clients in
                for client in clients { try await client.subscribe(to: "lobby") }
                await #expect(throws: RTMError.self) {
                    for number in 0..<1_000 { try await clients[2].subscribe(to: "room-\(number)") }
                }
                let publish: @Sendable () async throws -> Void = {
                    for client in [clients[0], clients[0], clients[1]] {
                        _ = try await client.publish("hello", to: .channel("lobby"))
                    }
                }
                let top = try await measure(gateway, publishing: publish)
                #expect(top.status == 200, "\(top.text)")
                #expect(top.int("measured") ?? 0 >= 1_000)
                #expect(names(top, "publishers", "user") == ["ann", "ben"], "\(top.text)")
                #expect(names(top, "channels", "channel").first == "lobby", "\(top.text)")
                #expect(top.int("channels", 0, "subscribers") == 3, "\(top.text)")
                let entries = top.value("channels", 0, "entriesPerSecond") as? Double ?? 0
                let deliveries = top.value("channels", 0, "deliveriesPerSecond") as? Double ?? 0
                #expect(entries > 1 && deliveries > 2.9 * entries, "\(top.text)")
                #expect(top.string("refused", 0, "user") == "carl" && top.int("refused", 0, "count") == 1)
                #expect(top.string("refused", 0, "request") == "subscribe", "\(top.text)")
                #expect(top.int("edges", "asked") ?? 0 > 0)
                #expect(top.int("edges", "asked") == top.int("edges", "answered"))
                // On a busy machine nothing may be published within a tenth of a second.
                try await eventually("there is one of each") {
                    let one = try await measure(gateway, "limit=1&for=100ms", publishing: publish)
                    #expect(100..<1_000 ~= one.int("measured") ?? 0, "\(one.text)")
                    return one.count("publishers") == 1 && one.count("channels") == 1
                }
                let quiet = try await gateway.call("GET", "/v1/dev/top?for=100ms")
                #expect(quiet.count("publishers") == 0 && quiet.count("refused") == 1)
                let other = try await gateway.call("GET", "/v1/other/top?for=100ms", key: "other")
                #expect(other.count("refused") == 0, "\(other.text)")
                let lines = try await gateway.run("top", "--for", "100ms")
                #expect(lines.status == 0 && lines.output.count == 1, "\(lines)")
                #expect(lines.output[0].hasPrefix("refused\tcarl\t1 subscribe\t"), "\(lines)")
                let json = try await gateway.run("top", "--json", "--limit", "1", "--for", "100ms")
                #expect(json.output.first?.hasPrefix(#"{"event":"top","#) ?? false, "\(json)")
                try await connections(gateway)
            }
        }
    }

    private func connections(_ gateway: GatewaySystem) async throws {
        let ben = try await gateway.call("GET", "/v1/dev/connections?user=ben")
        #expect(names(ben, "connections", "user") == ["ben"] && ben.int("total") == 1, "\(ben.text)")
        let number = ben.string("connections", 0, "session") ?? ""
        let session = try await gateway.call("GET", "/v1/dev/connections?session=\(number)")
        #expect(names(session, "connections", "user") == ["ben"])
        #expect(try await gateway.call("GET", "/v1/dev/connections?user=be").int("total") == 0)
        let first = try await gateway.call("GET", "/v1/dev/connections?order=queued&limit=2")
        let cursor = try #require(first.string("nextCursor"))
        let rest = try await gateway.call("GET", "/v1/dev/connections?order=queued&cursor=\(cursor)")
        // Nothing waits for anybody, so the order is that of the users.
        #expect(
            names(first, "connections", "user") + names(rest, "connections", "user")
                == ["ann", "ben", "carl"])
        let list = try await gateway.run("connection", "list", "--by-queue", "--user", "ben")
        #expect(list.output.count == 1, "\(list)")
        for wrong in ["order=up", "session=x"] {
            let answer = try await gateway.call("GET", "/v1/dev/connections?\(wrong)")
            #expect(answer.error == "invalidQuery", "\(wrong)")
        }
    }

    @Test("W-79: only the scope admin for all channels, and one app at a time")
    func access() async throws {
        try await GatewaySystem.with { gateway in
            for (key, error) in [
                ("all", "missingScope"), ("chat", "channelOutOfReach"), ("other", "anotherApp"),
            ] {
                let answer = try await gateway.call("GET", "/v1/dev/top", key: key)
                #expect(answer.status == 403 && answer.error == error, "\(key): \(answer.text)")
            }
            for wrong in ["limit=0", "limit=101", "for=2s", "for=1ms", "for=x", "app=dev"] {
                let answer = try await gateway.call("GET", "/v1/dev/top?\(wrong)")
                #expect(answer.error == "invalidQuery", "\(wrong)")
            }
            async let dev = gateway.call("GET", "/v1/dev/top")
            async let same = gateway.call("GET", "/v1/dev/top")
            #expect(try await [dev.status, same.status] == [200, 200])
            // Whichever comes first to all event loops is measured.
            async let one = gateway.call("GET", "/v1/dev/top")
            async let other = gateway.call("GET", "/v1/other/top", key: "other")
            let both = try await [one, other].sorted { $0.status < $1.status }
            #expect(both.map(\.status) == [200, 503], "\(both)")
            #expect(both[1].error == "busy" && both[1].headers["retry-after"] == "1", "\(both)")
        }
    }
}
