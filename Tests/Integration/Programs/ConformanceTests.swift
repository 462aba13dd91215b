import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// The conformance suite of protocol/conformance: our edge and our clients pass it, and it finds what is
/// wrong with those that `mutating_proxy.py` makes of them.
@Suite(.serialized) struct ConformanceTests {
    private static let suite = "protocol/conformance/run.py"
    private static let proxy = "Tests/Python/mutating_proxy.py"

    @Test("another library decodes every vector to its fields, and encodes them to its bytes")
    func vectors() async throws {
        let outcome = try await ForeignClient.run(Self.suite, ["vectors"])
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    // MARK: Servers

    @Test("our edge passes the scenarios for servers", arguments: Deployment.allCases)
    func edge(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            let outcome = try await ForeignClient.run(
                Self.suite, ["server", system.address("edge")], within: .seconds(120))
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    /// Mutations, and the scenario that finds each.
    private static let wrongServers = [
        ("other_request_id", "10-hello"), ("no_gap", "33-gap"), ("no_gap", "34-gap"),
        ("swapped", "14-order"), ("twice", "40-once"), ("lost", "30-return"), ("other_offset", "10-hello"),
        ("other_code", "36-takeover"), ("no_disconnect", "18-a-versions"), ("no_limit", "20-refusals"),
        ("no_conflict", "52-metadata"), ("one_user_less", "50-presence"), ("old_token", "54-locks"),
        ("oldest_first", "55-history"), ("states_later", "57-states"),
    ]

    @Test("each wrong server is found, and a right one behind the same proxy is right")
    func wrongServers() async throws {
        try await RunningSystem.with(.standalone) { system in
            func judge(_ mutation: String, _ scenario: String) async throws -> ForeignClient.Outcome {
                let suite = ForeignClient.root.appending(path: Self.suite).path()
                return try await ForeignClient.run(
                    Self.proxy,
                    [system.address("edge"), mutation, "--", ForeignClient.python.path(), suite]
                        + ["server", "{proxy}", "--only", scenario], within: .seconds(120))
            }
            let right = try await judge("nothing", "")
            #expect(right.status == 0, "\(right.output)")
            for (mutation, scenario) in Self.wrongServers {
                let wrong = try await judge(mutation, scenario)
                #expect(wrong.status == 1 && wrong.output.contains("FAILED"), "\(mutation): \(wrong.output)")
            }
        }
    }

    // MARK: Clients

    @Test(
        "the suite finds the fault of each mutant of its sample client, which itself is right",
        .ends(withinMinutes: 5))
    func mutants() async throws {
        let outcome = try await ForeignClient.run(
            "protocol/conformance/mutants.py", [], within: .seconds(240))
        #expect(outcome.status == 0 && !outcome.output.contains("FAILED"), "\(outcome.output)")
    }

    /// What `rtm subscribe` writes when messages are lost (`Transcript`).
    private static let gap = ["--gap", "may be missing"]
    private static let rtm = ServiceProcess.executables.appending(path: "rtm").path()
    private static let subscribe = [
        rtm, "subscribe", "{channel}", "--server", "{server}", "--user", "{user}",
    ]
    private static let publish = [
        rtm, "publish", "{channel}", "{text}", "--server", "{server}", "--user", "{user}",
    ]

    @Test(
        "the command line, which is RTMClient, passes the scenarios for clients",
        arguments: zip(["receive,return", "publish,ends,once"], [subscribe, publish]))
    func commandLine(_ abilities: String, _ command: [String]) async throws {
        let outcome = try await ForeignClient.run(
            Self.suite, ["client", "--can", abilities] + Self.gap + ["--"] + command,
            within: .seconds(120))
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    private struct Mutation {
        let name: String
        /// What finds it; empty: all scenarios.
        let scenario: String
        let abilities: String
        let command: [String]
    }

    private static func subscriber(_ name: String, _ scenario: String) -> Mutation {
        Mutation(name: name, scenario: scenario, abilities: "receive,return", command: subscribe)
    }

    private static func publisher(_ name: String, _ scenario: String) -> Mutation {
        Mutation(name: name, scenario: scenario, abilities: "publish,ends,once", command: publish)
    }

    private static let wrongClients = [
        subscriber("from_now_on", "20-return"), subscriber("one_behind", "23-gap"),
        subscriber("no_inbox", "24-inbox"), subscriber("no_heartbeat", "16-heartbeat"),
        subscriber("no_id", "10-hello"), subscriber("comes_back", "18-disconnect-3507"),
        subscriber("stays_away", "21-disconnect-3000"), subscriber("never_knows_gaps", "23-gap"),
        subscriber("is_patient", "17-silence"), publisher("not_again", "30-once"),
        publisher("new_number", "31-log-away"), publisher("old_number", "33-too-frequent"),
    ]

    /// They wait for most of the time, so they run side by side.
    @Test(
        "each wrong client is found, and a right one behind the same proxy is right", .ends(withinMinutes: 5))
    func wrongClients() async throws {
        let right = [Self.subscriber("nothing", ""), Self.publisher("nothing", "")]
        try await withThrowingTaskGroup { group in
            for mutation in right + Self.wrongClients {
                group.addTask {
                    let outcome = try await Self.judge(mutation)
                    let isRight = mutation.name == "nothing"
                    #expect(
                        outcome.status == (isRight ? 0 : 1) && outcome.output.contains("FAILED") != isRight,
                        "\(mutation.name): \(outcome.output)")
                }
            }
            try await group.waitForAll()
        }
    }

    private static func judge(_ mutation: Mutation) async throws -> ForeignClient.Outcome {
        let suite =
            ["client", "--can", mutation.abilities, "--only", mutation.scenario] + gap + ["--"]
        let proxy = [
            ForeignClient.python.path(), ForeignClient.root.appending(path: Self.proxy).path(), "{server}",
            mutation.name, "--",
        ]
        let command = mutation.command.map { $0 == "{server}" ? "{proxy}" : $0 }
        return try await ForeignClient.run(Self.suite, suite + proxy + command, within: .seconds(120))
    }

    @Test(
        "the client in Python, as the protocol's core shows it, passes the scenarios for clients of its level"
    )
    func smallClient() async throws {
        try await withSmallClient { script in
            let outcome = try await ForeignClient.run(
                Self.suite,
                ["client", "--can", "receive", "--level", "1", "--", "python3", script]
                    + ["{server}", "{user}", "{channel}"], within: .seconds(120))
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test("the client in Python exchanges messages with ours over a real server")
    func conversation() async throws {
        try await withSmallClient { script in
            try await RunningSystem.with(.standalone) { system in
                try await system.withClients("bob") { clients in
                    var received = clients[0].events().makeAsyncIterator()
                    try await clients[0].subscribe(to: "lobby", features: .message)
                    let python = ChildProcess()
                    python.executableURL = ForeignClient.python
                    python.arguments = [
                        script, system.address("edge"), "alice", "lobby", "hello from Python",
                    ]
                    python.standardOutput = Pipe()
                    try python.run()
                    defer { python.terminate() }
                    #expect(await received.nextMessage()?.payload == .text("hello from Python"))
                    try await clients[0].publish("hello from Swift", to: .channel("lobby"))
                    #expect(await system.firstLine(of: python) == "bob → hello from Swift")
                }
            }
        }
    }

    private func withSmallClient(_ body: (String) async throws -> Void) async throws {
        let page = ForeignClient.root.appending(path: "protocol/core.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let code = try #require(text.firstMatch(of: #/\n```python\n(?<code>[^`]*)```/#)).output.code
        let file = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString).py")
        try Data(code.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(file.path())
    }

    @Test(
        "the load generator, which is written in C, logs in and keeps its session",
        .enabled("gcc or libssl-dev is not installed") {
            ["/usr/bin/gcc", "/usr/bin/make", "/usr/include/openssl/ssl.h"].allSatisfy(
                FileManager.default.fileExists(atPath:))
        })
    func loadGenerator() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "load-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let load = ForeignClient.root.appending(path: "Tests/Benchmarks/load").path()
        let build = try await ForeignClient.run(
            URL(filePath: "/usr/bin/make"), ["-s", "-C", load, "BENCH_OUT=\(folder.path())"],
            within: .seconds(120))
        #expect(build.status == 0, "\(build.output)")
        let outcome = try await ForeignClient.run(
            Self.suite,
            ["client", "--can", "login", "--", folder.appending(path: "bin/load").path()]
                + ["--adapter", "heliograph", "--port", "{port}", "--workload", "idle", "--sessions", "1"])
        #expect(outcome.status == 0, "\(outcome.output)")
    }
}
