import Foundation
import RTMModel
import RTMTestSupport
import Testing

/// The command line as a script uses it: JSON lines and exit statuses.
@Suite(.serialized) struct CommandLineTests {
    @Test("subscribe says when it is live, shows each message as one object, ends after --count")
    func subscribe() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let subscriber = try system.command(
                ["subscribe", "lobby", "--json", "--count", "2", "--timeout", "20s", "--user", "bob"])
            try await eventually("bob is there", within: .seconds(20)) {
                try await system.run("send", "bob", "first", "--user", "alice").status == 0
            }
            let publish = try await system.run(
                "publish", "lobby", "hi", "--user", "alice", "--custom-type", "t", "--json")
            #expect(publish.status == 0)
            #expect(publish.output.contains { $0.hasPrefix("{\"result\":\"ok\"") })
            let outcome = try await system.end(subscriber)
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("{\"subscribed\":[\"lobby\"]}"))
            let events = outcome.output.filter { $0.hasPrefix("{\"event\":\"message\"") }
            #expect(events.count == 2)
            let expected =
                "{\"event\":\"message\",\"channelType\":\"message\",\"channelName\":\"lobby\","
                + "\"publisher\":\"alice\",\"message\":\"hi\",\"customType\":\"t\",\"timestamp\":"
            #expect(events.contains { $0.hasPrefix(expected) })
        }
    }

    @Test("Tokens: create one and use it; an expired or refused one says why, and a session's end too")
    func tokens() async throws {
        let flags = ["--apps", "\(SampleApp.id):\(SampleApp.certificate)"]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            let app = ["--app-id", SampleApp.id, "--user", "anna"]
            func token(_ lifetime: String) async throws -> String {
                let create = [
                    "token", "create", "--certificate", SampleApp.certificate, "--expire", lifetime,
                ]
                let outcome = try await system.end(system.command(create + app))
                return try #require(outcome.output.first)
            }
            func publish(_ token: String) async throws -> CommandOutcome {
                try await system.end(system.command(["publish", "lobby", "hi", "--token", token] + app))
            }
            #expect(try await publish(token("60s")).status == 0)
            let expired = try SampleApp.token(for: "anna", endsAt: WallClock.milliseconds() / 1000 - 37)
            let outcome = try await publish(expired)
            #expect(outcome.status == 1)
            let words = try #require(outcome.errors.first)
            #expect(words.hasPrefix("rtm: login: the token expired "))
            #expect(words.hasSuffix(" s ago by server clock (tokenExpired -10009)"))
            let without = try await system.end(system.command(["publish", "lobby", "hi"] + app))
            #expect(without.status == 1)
            #expect(without.errors.first?.contains("needs a token (invalidToken -10005)") == true)

            let subscribe = try await system.end(
                system.command(["subscribe", "lobby", "--token", token("2s")] + app))
            #expect(subscribe.status == 1)
            #expect(
                subscribe.errors.first?.contains("the token has expired; log in with a new one") == true)
            #expect(subscribe.errors.first?.hasSuffix("(tokenExpired -10009)") == true)
        }
    }

    @Test(
        "Refusals are objects on stderr with exit status 1; a timeout is exit status 2; ping needs no login")
    func statuses() async throws {
        try await RunningSystem.with(.standalone) { system in
            let long = String(repeating: "x", count: 32_769)
            let refused = try await system.run("publish", "lobby", long, "--json")
            #expect(refused.status == 1)
            let start =
                "{\"error\":{\"code\":-11010,\"name\":\"channelMessageLengthExceedLimitation\","
                + "\"operation\":\"publish\",\"reason\":"
            #expect(refused.errors.contains { $0.hasPrefix(start) })
            let offline = try await system.run("send", "nobody", "hi")
            #expect(offline.status == 1)
            let timeout = try await system.run(
                "subscribe", "lobby", "--count", "1", "--timeout", "200ms")
            #expect(timeout.status == 2)
            let ping = try await system.run("ping", "--count", "2")
            #expect(ping.status == 0)
        }
    }
}
