import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// The project's client library, its command line, and a foreign client, over WebSocket.
@Suite(.serialized) struct WebSocketClientTests {
    @Test(
        "Over WebSocket, in the clear and with TLS, and over TCP, users reach each other; large messages pass whole"
    )
    func talk() async throws {
        try await withTLS { system, certificate in
            let clear = try ServerAddress("ws://\(system.address("edge.webSocket"))")
            let secure = try ServerAddress("wss://\(system.address("edge.webSocket.tls"))/rtm")
            let alice = try system.client("alice") { $0.servers = [clear] }
            let bob = try system.client("bob") {
                $0.servers = [secure]
                $0.tls = .enabled(caFile: certificate)
            }
            let carol = try system.client("carol")
            for client in [alice, bob, carol] { try await client.login() }
            var received = [alice, bob, carol].map {
                $0.events(buffering: .dropOldest(capacity: 10_000)).makeAsyncIterator()
            }
            for client in [alice, bob, carol] { try await client.subscribe(to: "lobby", features: .message) }
            let large = String(repeating: "a", count: Limits.messageBytesMax)
            // This is more at once than fits into one message of a WebSocket, in either direction.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { _ = try await alice.publish(large, to: .channel("lobby")) }
                }
                try await group.waitForAll()
            }
            for number in 0..<500 { _ = try await bob.publish("\(number)", to: .channel("lobby")) }
            for listener in 1...2 {
                for _ in 0..<20 { #expect(await received[listener].nextMessage()?.payload == .text(large)) }
            }
            for listener in [0, 2] {
                for number in 0..<500 {
                    #expect(await received[listener].nextMessage()?.payload == .text("\(number)"))
                }
            }
            try await carol.publish("only for you", to: .user("bob"))
            #expect(await received[1].nextMessage()?.payload == .text("only for you"))
            #expect(try await alice.ping() > .zero)
            try await alice.logout()
            for client in [alice, bob, carol] { await client.close() }
        }
    }

    @Test(
        "An edge is killed: a client over WebSocket comes back and receives what was published meanwhile (S-19, M-25)"
    )
    func reconnect() async throws {
        try await RunningSystem.with(.fourProcesses, edge: ["--web-socket-listen", "127.0.0.1:0"]) { system in
            let (tcp, webSocket) = (system.address("edge"), system.address("edge.webSocket"))
            let address = try ServerAddress("ws://\(webSocket)")
            let bob = try system.client("bob") { $0.servers = [address] }
            try await bob.login()
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby", features: .message)
            try await system.launchEdge()
            try await system.withClients("alice") { clients in
                try await clients[0].publish("before", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("before"))
                try await system.process("rtm-edge", first: true).kill9()
                for number in 0..<100 { try await clients[0].publish("\(number)", to: .channel("lobby")) }
                try await system.launchEdge(["--web-socket-listen", webSocket], listen: tcp)
                for number in 0..<100 { #expect(await received.nextMessage()?.payload == .text("\(number)")) }
            }
            await bob.close()
        }
    }

    @Test("The command line takes ws:// wherever it takes a server")
    func commandLine() async throws {
        try await withTLS { system, certificate in
            let clear = "ws://\(system.address("edge.webSocket"))"
            let secure = "wss://\(system.address("edge.webSocket.tls"))/rtm"
            for arguments in [
                ["ping", "--server", clear], ["publish", "lobby", "hi", "--server", clear],
                ["ping", "--server", secure, "--ca", certificate],
                ["publish", "lobby", "hi", "--server", secure, "--ca", certificate],
            ] {
                let (status, output) = try await Self.rtm(arguments)
                #expect(status == 0, "rtm \(arguments): \(output)")
            }
            let mistakes = [
                (clear + "/elsewhere", "404 Not Found: only a WebSocket is served here, at /rtm"),
                (system.address("edge.webSocket"), "the server speaks HTTP"),
                ("ws://\(system.address("edge"))", "the server speaks no HTTP"),
            ]
            for (server, sentence) in mistakes {
                let (status, output) = try await Self.rtm(["ping", "--server", server])
                #expect(status == 1 && output.contains(sentence), "\(server): \(output)")
            }
            // Whether the answer of the plain server or its end arrives first is chance.
            let plain = "wss://\(system.address("edge.webSocket"))"
            let (status, output) = try await Self.rtm(["ping", "--server", plain])
            #expect(status == 1, "\(output)")
            #expect(
                output.contains("the server speaks no TLS at this port")
                    || output.contains("the other side ended the handshake, as one without TLS may do"),
                "\(output)")
        }
    }

    private static func rtm(_ arguments: [String]) async throws -> ForeignClient.Outcome {
        try await ForeignClient.run(ServiceProcess.executables.appending(path: "rtm"), arguments)
    }

    @Test("A client made of PyPI's websockets and protobuf logs in and exchanges messages with ours")
    func python() async throws {
        try await withTLS { system, certificate in
            let clear = "ws://\(system.address("edge.webSocket"))/rtm"
            let secure = "wss://\(system.address("edge.webSocket.tls"))/rtm"
            for arguments in [[clear], [secure, certificate]] {
                try await converse(system, arguments)
            }
        }
    }

    @Test("The same client talks compressed where the operator allows it, and ours beside it don't notice")
    func compressed() async throws {
        let flags = ["--edge-web-socket-listen", "127.0.0.1:0", "--edge-web-socket-compression"]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            try await converse(system, ["ws://\(system.address("edge.webSocket"))/rtm", "--compressed"])
            let metrics = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics")
                .body
            func value(_ name: String) -> Int? {
                metrics.split(separator: "\n").first { $0.hasPrefix(name + " ") }
                    .flatMap { Int($0.dropFirst(name.count + 1)) }
            }
            let input = try #require(value("rtm_edge_web_socket_compression_input_bytes_total"))
            let output = try #require(value("rtm_edge_web_socket_compression_output_bytes_total"))
            #expect(input >= 100_000 && output > 0 && output < input / 10, "\(output) of \(input)")
        }
    }

    /// The other half of Tests/Python/websocket_client.py, whose head describes the exchange.
    private func converse(_ system: RunningSystem, _ arguments: [String]) async throws {
        try await system.withClients("alice") { clients in
            let alice = clients[0]
            var received = alice.events().makeAsyncIterator()
            try await alice.subscribe(to: "lobby", features: .message)
            async let outcome = {
                let outcome = try await ForeignClient.run("Tests/Python/websocket_client.py", arguments)
                // After this no more events come.
                if outcome.status != 0 { await alice.close() }
                return outcome
            }()
            do {
                let first = await received.nextMessage()
                #expect(first?.payload == .text("hello from Python") && first?.publisher == "python")
                for number in 0..<100 { try await alice.publish("number \(number)", to: .channel("lobby")) }
                let large = String(repeating: "x", count: 25_000)
                for _ in 0..<4 { try await alice.publish(large, to: .channel("lobby")) }
                let second = await received.nextMessage()
                #expect(second?.payload == .text("got 104") && second?.channelType == .user)
                try await alice.publish("goodbye", to: .user("python"))
            } catch {
                Issue.record("the conversation broke off: \(error)")
            }
            let (status, output) = try await outcome
            #expect(status == 0, "\(output)")
        }
    }

    private func withTLS(_ body: (RunningSystem, String) async throws -> Void) async throws {
        try await TestCertificate.with { files in
            let flags = [
                "--edge-web-socket-listen", "127.0.0.1:0", "--edge-web-socket-tls-listen", "127.0.0.1:0",
                "--edge-tls-certificate", files.certificate, "--edge-tls-key", files.key,
            ]
            try await RunningSystem.with(.standalone, edge: flags) { try await body($0, files.certificate) }
        }
    }
}
