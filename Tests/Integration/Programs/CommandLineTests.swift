import Foundation
import RTMClient
import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// The command line as a script uses it: JSON lines and exit statuses.
@Suite(.serialized) struct CommandLineTests {
    @Test("subscribe says when it is live, shows each message as one object, ends after --count")
    func subscribe() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let subscriber = try system.command(
                ["subscribe", "lobby", "--json", "--count", "2", "--timeout", "60s", "--user", "bob"])
            try await eventually("bob is there", within: .seconds(20)) {
                try await system.run("send", "bob", "first", "--user", "alice").status == 0
            }
            let publish = try await system.run(
                "publish", "lobby", "hi", "--user", "alice", "--custom-type", "t", "--json")
            #expect(publish.status == 0)
            #expect(publish.output == [#"{"event":"result","result":"ok"}"#])
            let outcome = try await system.end(subscriber)
            #expect(outcome.status == 0)
            #expect(outcome.output.first == #"{"event":"subscribed","channels":["lobby"],"userId":"bob"}"#)
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
            #expect(without.errors.first?.contains("needs a token") == true)

            let subscribe = try await system.end(
                system.command(["subscribe", "lobby", "--token", token("2s")] + app))
            #expect(subscribe.status == 1)
            #expect(
                subscribe.errors.last?.contains("the token has expired; log in with a new one") == true)
            #expect(subscribe.errors.last?.hasSuffix("(tokenExpired -10009)") == true)
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
                "{\"event\":\"error\",\"error\":{\"code\":-11010,"
                + "\"name\":\"channelMessageLengthExceedLimitation\","
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

    @Test("A refused connection ends a command within a second, and silence is explained")
    func noServer() async throws {
        try await RunningSystem.with(.standalone) { system in
            let start = ContinuousClock.now
            // Nobody listens at port 1.
            let refused = try await system.run("publish", "lobby", "hi", "--server", "127.0.0.1:1")
            #expect(ContinuousClock.now - start < .seconds(8), "10 s of silence before")
            #expect(refused.status == 1)
            #expect(refused.errors.count == 1)
            #expect(
                refused.errors.first?.contains("127.0.0.1:1 can't be reached: Connection refused") == true)
            #expect(refused.errors.first?.contains("is a server running there?") == true)
            let patient = try await system.run(
                "publish", "lobby", "hi", "--server", "127.0.0.1:1", "--connect-timeout", "2s")
            #expect(patient.errors.first?.hasPrefix("rtm: 127.0.0.1:1 can't be reached") == true)
            #expect(patient.errors.first?.contains("trying again, for up to 2 s") == true)
            #expect(patient.errors.last?.contains("no login at 127.0.0.1:1 within 2 s") == true)
            let mistyped = try await system.run("publsh", "lobby", "hi")
            #expect(mistyped.status == 64)
            #expect(mistyped.errors.first == "Error: there is no command 'publsh'; did you mean publish?")
        }
    }

    @Test("L-1, L-2, L-4: a name that isn't allowed is refused in a sentence, before any connection is made")
    func names() async throws {
        try await RunningSystem.with(.standalone) { system in
            let channel = "the channel name has 'ü' at place 3, which is not allowed: it consists of a to z"
            let user = "the user id has 'ü' at place 3, which is not allowed: it consists of a to z"
            for (words, reason) in [
                (["publish", "Grüße", "hi"], channel), (["publish", "Grüße", "-l"], channel),
                (["subscribe", "lobby", "Grüße"], channel), (["chat", "Grüße"], channel),
                (["history", "Grüße"], channel), (["presence", "who", "Grüße"], channel),
                (["presence", "get", "Grüße", "anna"], channel),
                (["presence", "set", "Grüße", "a=b"], channel), (["presence", "watch", "Grüße"], channel),
                (["metadata", "get", "channel", "Grüße"], channel),
                (["metadata", "set", "channel", "Grüße", "a=b"], channel),
                (["lock", "list", "Grüße"], channel), (["lock", "acquire", "Grüße", "a"], channel),
                (["lock", "set", "Grüße", "a"], channel), (["send", "Grüße", "hi"], user),
                (["presence", "where", "Grüße"], user), (["metadata", "watch", "user", "Grüße"], user),
                (["publish", "lobby", "hi", "--user", "Grüße"], user),
            ] {
                // Nobody listens at port 1.
                let outcome = try await system.end(system.command(words + ["--server", "127.0.0.1:1"]))
                #expect(outcome.status == 1, "\(words)")
                #expect(outcome.errors.count == 1 && outcome.errors[0].contains(reason), "\(words)")
            }
        }
    }

    @Test("R-2: publish --lines sends each line of standard input, and waits when the server says so")
    func lines() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-rates-publish", "60"]) { system in
            // More than a session may publish in a second.
            let count = 150
            let subscriber = try system.command(
                ["subscribe", "lobby", "--json", "--count", "\(count)", "--timeout", "60s"])
            #expect(await system.firstLine(of: subscriber).contains("subscribed"))
            let input = Pipe()
            let publisher = try system.command(["publish", "lobby", "-l", "--json"], input: input)
            let text = (1...count).map { "line \($0)" }.joined(separator: "\n")
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try input.fileHandleForWriting.close()
            let outcome = try await system.end(publisher)
            #expect(outcome.status == 0)
            #expect(outcome.output == [#"{"event":"result","result":"ok","published":150}"#])
            let messages = try await system.end(subscriber).output.filter {
                $0.contains("\"message\":\"line")
            }
            #expect(messages.count == count)
            #expect(messages.last?.contains("\"line 150\"") == true)
        }
    }

    @Test("bench works on a server as it is installed, and keeps to its rates")
    func bench() async throws {
        try await RunningSystem.with(.standalone, edge: ["--edge-rates-publish", "60"]) { system in
            let outcome = try await system.run(
                "bench", "--fan-out", "2", "--window", "70", "--duration", "1s", "--json")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.first?.hasPrefix(#"{"event":"result","result":"ok""#) == true)
            let limit =
                #""limits":[{"name":"messages per second","value":60,"key":"edge.rates.publish","times":"#
            #expect(outcome.output.first?.contains(limit) == true, "\(outcome.output)")
            let human = try await system.run("bench", "--duration", "1s", "--window", "70")
            #expect(human.status == 0)
            #expect(human.errors.first == "rtm: 11 clients log in")
            let line = try #require(human.output.first { $0.hasPrefix("  limited ") })
            #expect(line.contains("60 messages per second (edge.rates.publish, or the app's own rate), met "))
            #expect(line.hasSuffix("; --rates-unlimited of the server lifts all rates, for measuring"))
        }
    }

    @Test("scripts get results on standard output alone; what a command does meanwhile is on standard error")
    func streams() async throws {
        try await RunningSystem.with(.standalone) { system in
            func lines(_ text: String, _ words: String...) async throws -> CommandOutcome {
                let input = Pipe()
                let process = try system.command(words, input: input)
                try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
                try input.fileHandleForWriting.close()
                return try await system.end(process)
            }
            let subscribe = try await system.run("subscribe", "lobby", "--timeout", "100ms", "--user", "bob")
            #expect(subscribe.output == [] && subscribe.errors == ["rtm: subscribed to lobby as bob"])
            let nobody = try await system.run("presence", "who", "empty")
            #expect(nobody.output == [] && nobody.errors == ["rtm: nobody is in empty"])
            #expect(try await system.run("presence", "who", "empty", "--count").output == ["0"])
            #expect(try await system.run("presence", "where", "carol").output == [])
            #expect(try await system.run("lock", "list", "empty").output == [])
            #expect(try await system.run("history", "empty").output == [])
            #expect(try await system.run("metadata", "get", "channel", "empty").output == [])
            _ = try await system.run("lock", "set", "lobby", "manage")
            let owned = try await system.run("lock", "acquire", "lobby", "manage", "--", "echo", "mine")
            #expect(owned.output == ["mine"])
            #expect(owned.errors.first?.hasPrefix("rtm: lock 'manage' of lobby is owned") == true)
            let two = try await lines("a\nb\n", "publish", "lobby", "--lines")
            #expect(two.output == [] && two.errors == ["rtm: 2 messages are published"])
            let outbox = system.directory.appending(path: "probe.outbox").path
            let one = try await lines("a\n", "publish", "lobby", "-l", "--user", "probe", "--outbox", outbox)
            #expect(one.output == [] && one.errors.last == "rtm: 1 message is published")
        }
    }

    @Test("with --json every line says with its first field what it is")
    func events() async throws {
        try await RunningSystem.with(.standalone) { system in
            _ = try await system.run("publish", "lobby", "hi", "--history")
            _ = try await system.run("lock", "set", "lobby", "manage")
            let watcher = try system.command(["subscribe", "lobby", "--user", "bob", "--json"])
            _ = await system.firstLine(of: watcher)
            for words in [
                ["ping"], ["publish", "lobby", "hi"], ["history", "lobby"], ["presence", "who", "lobby"],
                ["presence", "where", "bob"], ["presence", "get", "lobby", "bob"], ["lock", "list", "lobby"],
                ["lock", "acquire", "lobby", "manage", "--", "true"],
                ["metadata", "get", "channel", "lobby"],
                ["metadata", "set", "channel", "lobby", "a=1"], ["doctor"], ["send", "nobody", "hi"],
                ["lock", "watch", "lobby", "--count", "1"],
                ["presence", "set", "lobby", "a=1", "--for", "1ms"],
            ] {
                let outcome = try await system.end(
                    system.command(
                        Array(words.prefix { $0 != "--" }) + ["--json"] + words.drop { $0 != "--" }))
                let all = outcome.output + outcome.errors
                #expect(!all.isEmpty, "\(words)")
                for line in all { #expect(line.hasPrefix(#"{"event":""#), "\(words): \(line)") }
            }
            let stored = try await system.run("history", "lobby", "--json")
            #expect(stored.output.first?.contains(#/"time":"20\d\d-\d\d-\d\dT[\d:]{8}\.\d{3}Z"/#) == true)
            watcher.terminate()
        }
    }

    @Test("doctor checks server, TLS, clock and token, a line each, and fails if one is wrong")
    func doctor() async throws {
        let apps = ["--apps", "dev,\(SampleApp.id):\(SampleApp.certificate)"]
        try await RunningSystem.with(.standalone, edge: apps) { system in
            func doctor(_ options: String...) async throws -> (status: Int32, lines: [String]) {
                let outcome = try await system.end(system.command(["doctor"] + options))
                return (
                    outcome.status,
                    outcome.output.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
                )
            }
            let healthy = ["ok server", "ok TLS", "ok clock"]
            #expect(try await doctor() == (0, healthy + ["ok token"]))
            let now = WallClock.milliseconds() / 1000
            let app = ["--app-id", SampleApp.id]
            let token = try SampleApp.token(for: "anna", endsAt: now + 60)
            let anna = try system.client("anna") { $0.appID = SampleApp.id }
            try await anna.login(token: token)
            #expect(try await doctor("--token", token) == (0, healthy + ["ok token"]))
            #expect(anna.linkState == .connected, "the session of the token's user stays")
            await anna.close()
            let expired = try SampleApp.token(for: "anna", endsAt: now - 60)
            #expect(try await doctor("--token", expired) == (1, healthy + ["wrong token"]))
            #expect(try await doctor(app[0], app[1]) == (1, healthy + ["wrong token"]), "the app needs one")
            #expect(try await doctor("--tls") == (1, ["ok server", "wrong TLS", "- clock", "- token"]))
            #expect(
                try await doctor("--server", "127.0.0.1:1")
                    == (1, ["wrong server", "- TLS", "- clock", "- token"]))
            #expect(try await doctor("nowhere.json").status == 1, "the record of a client")
        }
    }

    @Test("context add looks at the token; shells complete the names of contexts")
    func contexts() async throws {
        try await RunningSystem.with(.standalone) { system in
            let home = system.directory.appending(path: "home").path
            func rtm(_ words: [String]) async throws -> CommandOutcome {
                let process = ChildProcess()
                process.executableURL = ServiceProcess.executables.appending(path: "rtm")
                process.arguments = words
                process.environment = ["PATH": "/usr/bin:/bin", "HOME": home]
                process.standardOutput = Pipe()
                process.standardError = Pipe()
                try process.run()
                return try await system.end(process)
            }
            func file(_ name: String, endsIn seconds: Int) throws -> String {
                let path = system.directory.appending(path: name)
                let end = Int(WallClock.milliseconds() / 1000) + seconds
                try Data(SampleApp.token(for: "anna", endsAt: UInt64(end)).utf8).write(to: path)
                return path.path
            }
            let (good, old) = (try file("good", endsIn: 60), try file("old", endsIn: -60))
            func add(_ name: String, _ file: String, _ more: String...) async throws -> CommandOutcome {
                try await rtm(["context", "add", name, "--token-file", file] + more)
            }
            #expect(try await add("prod", good, "--user", "anna").status == 0)
            let expired = try await add("stale", old)
            #expect(expired.status == 0 && expired.errors.first?.contains("the token expired") == true)
            for refused in [
                try await add("a", good, "--user", "ben"), try await add("a", good, "--app-id", "other"),
                try await add("a", system.directory.appending(path: "none").path),
                try await add("a", "/etc/hostname"),
            ] { #expect(refused.status == 1 && refused.errors.count == 1, "\(refused)") }
            for words in [["ping", "--context"], ["context", "use"], ["context", "remove"]] {
                let option = words[0] == "ping" ? "--context" : "positional@0"
                let command = words[0] == "ping" ? ["ping"] : words
                let names = try await rtm(["---completion"] + command + ["--", option, "1", "0", "rtm"])
                #expect(names.output == ["prod", "stale"], "\(words): \(names)")
            }
        }
    }

    @Test("one flag of the server lifts all rates for a bench, and the server warns of it")
    func unlimited() async throws {
        let edge = ["--edge-rates-publish", "60", "--edge-rates-login", "1", "--rates-unlimited"]
        try await RunningSystem.with(.standalone, edge: edge) { system in
            let outcome = try await system.run("bench", "--duration", "1s", "--window", "70", "--json")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.first?.contains(#""limits":[]"#) == true, "\(outcome.output)")
            let log = try system.process("rtm-standalone").log
            let warning = log.split(separator: "\n").first { $0.contains("edge.rates.unlimited") }
            #expect(warning?.contains("\"level\":\"warning\"") == true)
            let metrics = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics")
            #expect(metrics.body.contains("\nrtm_edge_rates_lifted 1\n"))
        }
    }

    @Test("for an app with a certificate, the bench makes a token for each of its clients")
    func benchWithCertificate() async throws {
        let apps = ["--apps", "\(SampleApp.id):\(SampleApp.certificate)"]
        try await RunningSystem.with(.standalone, edge: apps) { system in
            let bench = [
                "bench", "--fan-out", "2", "--duration", "500ms", "--json", "--app-id", SampleApp.id,
            ]
            let signed = try await system.end(
                system.command(bench + ["--certificate", SampleApp.certificate]))
            #expect(signed.status == 0, "\(signed.errors)")
            let token = try SampleApp.token(for: "anna", endsAt: WallClock.milliseconds() / 1000 + 60)
            let single = try await system.end(system.command(bench + ["--token", token]))
            #expect(single.status == 1)
            #expect(single.errors.first?.contains("a token is for one user") == true, "\(single.errors)")
        }
    }

    @Test(
        "the commands that the start screen prints work as they stand, wherever the server listens",
        arguments: ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"])
    func startScreen(listen: String) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let server = ChildProcess()
        server.executableURL = ServiceProcess.executables.appending(path: "rtm-standalone")
        server.arguments = ["--listen", listen, "--admin", "127.0.0.1:0", "--data", directory.path]
        server.environment = ["PATH": "/usr/bin:/bin"]
        let screen = directory.appending(path: "screen")
        try Data().write(to: screen)
        server.standardOutput = try FileHandle(forWritingTo: screen)
        server.standardError = FileHandle.nullDevice
        try server.run()
        defer { server.terminate() }
        var commands: [String] = []
        try await eventually("the start screen", within: .seconds(30)) {
            let text = try String(contentsOf: screen, encoding: .utf8)
            commands = text.split(separator: "\n").map(String.init).filter { $0.contains(" chat ") }
            return text.contains("Ctrl-C ends it")
        }
        #expect(commands.count == 2)
        for command in commands {
            // Without a terminal the chat ends with its input.
            let outcome = try await ForeignClient.run(
                URL(filePath: "/bin/sh"), ["-c", "\(command) --connect-timeout 10s </dev/null"])
            #expect(outcome.status == 0, "\(command): \(outcome.output)")
        }
    }

    @Test("verify finds that every promise was kept, while the edge is killed and while messaging is")
    func verify() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let history = FileManager.default.temporaryDirectory.path + "/verify-\(UUID()).jsonl"
            defer { try? FileManager.default.removeItem(atPath: history) }
            let command = try system.command(
                ["verify", "--duration", "6s", "--clients", "3", "--history", history, "--json"])
            for service in ["edge", "messaging"] {
                try await eventually("the clients are at work", within: .seconds(20)) {
                    let metrics = try await system.get("http://\(system.address("rtm-edge admin"))/metrics")
                        .body
                    return metrics.contains("rtm_edge_sessions 4\n")
                }
                try await system.restart(service)
            }
            let outcome = try await system.end(command)
            #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
            let verdict = try #require(outcome.output.first)
            #expect(verdict.hasPrefix("{\"event\":\"verified\",\"result\":\"ok\",\"violations\":[],"))
            #expect(!verdict.contains("\"received\":0,"))
            let lines = try String(contentsOfFile: history, encoding: .utf8).split(separator: "\n")
            #expect(lines.contains { $0.contains("\"event\":\"received\"") })
        }
    }
}
