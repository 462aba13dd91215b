import Foundation
import RTMModel
import RTMTestSupport
import Testing

/// The command line as a script uses it: JSON lines out, exit statuses.
@Suite(.serialized) struct CommandLineTests {
    private struct Outcome {
        let status: Int32
        let output: [String]
        let errors: [String]
    }

    private func rtm(_ arguments: [String], _ system: RunningSystem) throws -> Process {
        let process = Process()
        process.executableURL = ServiceProcess.executables.appending(path: "rtm")
        process.arguments = arguments
        process.environment = [
            "PATH": "/usr/bin:/bin", "RTM_SERVER": system.address("edge"), "RTM_APP_ID": "dev",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = Pipe()
        process.standardError = Pipe()
        try process.run()
        return process
    }

    private func end(_ process: Process) async throws -> Outcome {
        try await eventually("rtm ends", within: .seconds(20)) { !process.isRunning }
        func lines(_ pipe: Any?) -> [String] {
            let data = (pipe as? Pipe)?.fileHandleForReading.readDataToEndOfFile() ?? Data()
            return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return Outcome(
            status: process.terminationStatus, output: lines(process.standardOutput),
            errors: lines(process.standardError))
    }

    private func run(_ arguments: String..., on system: RunningSystem) async throws -> Outcome {
        try await end(rtm(arguments, system))
    }

    @Test("subscribe says when it is live, shows each message as one object, ends after --count")
    func subscribe() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let subscriber = try rtm(
                ["subscribe", "lobby", "--json", "--count", "2", "--timeout", "20s", "--user", "bob"], system)
            try await eventually("bob is there", within: .seconds(20)) {
                try await run("send", "bob", "first", "--user", "alice", on: system).status == 0
            }
            let publish = try await run(
                "publish", "lobby", "hi", "--user", "alice", "--custom-type", "t", "--json", on: system)
            #expect(publish.status == 0)
            #expect(publish.output.contains { $0.hasPrefix("{\"result\":\"ok\"") })
            let outcome = try await end(subscriber)
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
                let outcome = try await end(rtm(create + app, system))
                return try #require(outcome.output.first)
            }
            func publish(_ token: String) async throws -> Outcome {
                try await end(rtm(["publish", "lobby", "hi", "--token", token] + app, system))
            }
            #expect(try await publish(token("60s")).status == 0)
            let expired = try SampleApp.token(for: "anna", endsAt: WallClock.milliseconds() / 1000 - 37)
            let outcome = try await publish(expired)
            #expect(outcome.status == 1)
            let words = try #require(outcome.errors.first)
            #expect(words.hasPrefix("rtm: login: the token expired "))
            #expect(words.hasSuffix(" s ago by server clock (tokenExpired -10009)"))
            let without = try await end(rtm(["publish", "lobby", "hi"] + app, system))
            #expect(without.status == 1)
            #expect(without.errors.first?.contains("needs a token (invalidToken -10005)") == true)

            let subscribe = try await end(
                rtm(["subscribe", "lobby", "--token", token("2s")] + app, system))
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
            let refused = try await run("publish", "lobby", long, "--json", on: system)
            #expect(refused.status == 1)
            let start =
                "{\"error\":{\"code\":-11010,\"name\":\"channelMessageLengthExceedLimitation\","
                + "\"operation\":\"publish\",\"reason\":"
            #expect(refused.errors.contains { $0.hasPrefix(start) })
            let offline = try await run("send", "nobody", "hi", on: system)
            #expect(offline.status == 1)
            let timeout = try await run(
                "subscribe", "lobby", "--count", "1", "--timeout", "200ms", on: system)
            #expect(timeout.status == 2)
            let ping = try await run("ping", "--count", "2", on: system)
            #expect(ping.status == 0)
        }
    }
}
