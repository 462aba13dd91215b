import Foundation
import RTMClient
import RTMTestSupport
import Testing

/// What there is in an app: channels, users and connections, over HTTP.
@Suite(.serialized, .ends(withinMinutes: 2)) struct GatewayListTests {
    /// The rows of all pages.
    private func rows(
        _ gateway: GatewaySystem, _ path: String, _ list: String, _ query: String
    ) async throws -> [[String: Any]] {
        var (rows, cursor) = ([[String: Any]](), "")
        while true {
            let answer = try await gateway.call("GET", "\(path)?\(query)\(cursor)")
            #expect(answer.status == 200, "\(answer.text)")
            rows += (answer.value(list) as? [[String: Any]]) ?? []
            guard let next = answer.string("nextCursor") else { return rows }
            cursor = "&cursor=\(next)"
        }
    }

    @Test(
        "W-28: channels page by page in the order of their names, with their subscribers",
        arguments: Deployment.allCases)
    func channels(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment) { gateway in
            try await gateway.system.withClients("alice", "bob") { clients in
                for client in clients { try await client.subscribe(to: "room-7") }
                let messages = (0..<250).map { #"{"channel": "room-\#($0)", "message": "x"}"# }
                let batch = try await gateway.call(
                    "POST", "/v1/dev/batch", #"{"messages": [\#(messages.joined(separator: ","))]}"#)
                #expect(batch.status == 200)
                _ = try await gateway.call("POST", "/v1/other/publish", key: "other", messages[0])
                let names = (0..<250).map { "room-\($0)" }
                for limit in [1_000, 100, 7] {
                    let rows = try await rows(gateway, "/v1/dev/channels", "channels", "limit=\(limit)")
                    #expect(rows.compactMap { $0["channel"] as? String } == names.sorted(), "\(limit)")
                }
                let some = try await gateway.call("GET", "/v1/dev/channels?prefix=room-24&limit=2")
                #expect(some.int("total") == 11 && some.count("channels") == 2)
                let few = try await rows(gateway, "/v1/dev/channels", "channels", "prefix=room-24&limit=2")
                #expect(few.count == 11)
                let seven = try await gateway.call("GET", "/v1/dev/channels?prefix=room-7&limit=1")
                #expect(seven.int("channels", 0, "subscribers") == 2, "\(seven.text)")
                #expect(seven.int("edges", "asked") ?? 0 > 0)
                #expect(seven.int("edges", "asked") == seven.int("edges", "answered"))
                #expect(try await gateway.call("GET", "/v1/dev/channels?type=stream").count("channels") == 0)
                for wrong in ["limit=0", "limit=1001", "cursor=x", "type=user", "sort=up"] {
                    let answer = try await gateway.call("GET", "/v1/dev/channels?\(wrong)")
                    #expect(answer.error == "invalidQuery", "\(wrong)")
                }
                // A key for a prefix sees no others.
                _ = try await gateway.call(
                    "POST", "/v1/dev/publish", #"{"channel": "chat-1", "message": "x"}"#)
                let chats = try await gateway.call("GET", "/v1/dev/channels", key: "chat")
                #expect(chats.int("total") == 1 && chats.string("channels", 0, "channel") == "chat-1")

                try await eventually("both are listed") {
                    try await gateway.call("GET", "/v1/dev/channels/room-7").int("members") == 2
                }
                let one = try await gateway.call("GET", "/v1/dev/channels/room-7")
                #expect(one.int("subscribers") == 2 && one.int("active") ?? 0 > 0)
                #expect(one.int("offset") == batch.int("results", 7, "offset"))
                #expect(one.int("epoch") == batch.int("results", 7, "epoch"))
                let none = try await gateway.call("GET", "/v1/dev/channels/nothing%20here")
                #expect(none.status == 200 && none.value("active") == nil && none.int("members") == 0)
                let begin = try await gateway.call(
                    "POST", "/v1/dev/publish",
                    #"{"channel": "nothing here", "message": "", "ifOffset": \#(none.int("offset") ?? -1), "#
                        + #""ifEpoch": \#(none.int("epoch") ?? -1)}"#)
                #expect(begin.status == 200, "\(begin.text)")
            }
        }
    }

    @Test("W-28: users who are online, and their connections", arguments: Deployment.allCases)
    func users(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment) { gateway in
            if deployment == .fourProcesses { try await gateway.system.launchEdge() }
            try await gateway.system.withClients("ann", "bob b", "carl", "dora") { clients in
                try await clients[1].subscribe(to: "a")
                let rows = try await rows(gateway, "/v1/dev/users", "users", "limit=3")
                #expect(rows.compactMap { $0["user"] as? String } == ["ann", "bob b", "carl", "dora"])
                #expect(try await gateway.call("GET", "/v1/dev/users?prefix=c").int("total") == 1)
                #expect(try await gateway.call("GET", "/v1/other/users", key: "other").int("total") == 0)

                let all = try await self.rows(gateway, "/v1/dev/connections", "connections", "limit=1")
                #expect(all.compactMap { $0["user"] as? String } == ["ann", "bob b", "carl", "dora"])
                #expect(Set(all.compactMap { $0["session"] as? String }).count == 4)
                #expect(all.allSatisfy { ($0["address"] as? String)?.hasPrefix("127.0.0.1") == true })
                let bob = try await gateway.call("GET", "/v1/dev/users/bob%20b")
                #expect(bob.value("online") as? Bool == true && bob.count("connections") == 1)
                // Its inbox counts, too.
                #expect(bob.int("connections", 0, "channels") == 2, "\(bob.text)")
                #expect(bob.int("connections", 0, "since") ?? 0 > 0 && bob.value("bannedUntil") == nil)

                let usage = try await gateway.call("GET", "/v1/dev/usage", key: "read")
                #expect(usage.int("users") == 4 && usage.int("connections") == 4, "\(usage.text)")
                #expect(usage.int("channels") == 1 && usage.value("key", "perSecond") == nil)

                await clients[3].close()
                try await eventually("dora has gone") {
                    try await gateway.call("GET", "/v1/dev/users").int("total") == 3
                }
                let gone = try await gateway.call("GET", "/v1/dev/users/dora")
                #expect(gone.value("online") as? Bool == false && gone.count("connections") == 0)
                let ban = try await gateway.call(
                    "POST", "/v1/dev/users/dora/ban", key: "moderate", #"{"seconds": 60}"#)
                try await eventually("the ban is known") {
                    try await gateway.call("GET", "/v1/dev/users/dora").int("bannedUntil")
                        == ban.int("until")
                }
            }
        }
    }

    @Test("R-11: the usage says what a key and its app have left")
    func usage() async throws {
        try await GatewaySystem.with(.standalone, ["--rates-key", "5", "--rates-app", "7"]) { gateway in
            let usage = try await gateway.call("GET", "/v1/dev/usage")
            #expect(usage.int("key", "perSecond") == 5 && usage.int("app", "perSecond") == 7)
            #expect((1...10).contains(usage.int("key", "left") ?? 0))
            #expect((1...14).contains(usage.int("app", "left") ?? 0))
        }
    }

    @Test("W-28: while storage is away, what edges know can't be had, and the answer says so")
    func away() async throws {
        try await GatewaySystem.with(.fourProcesses) { gateway in
            try await gateway.system.process("rtm-storage").kill9()
            let connections = try await gateway.call("GET", "/v1/dev/connections")
            #expect(connections.status == 503 && connections.headers["retry-after"] != nil)
            #expect(try await gateway.call("GET", "/v1/dev/users").status == 200)
        }
    }
}
