import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// A program that publishes through an outbox is killed again and again.
@Suite(.serialized) struct OutboxTests {
    private static let kills = 5
    private static let given = 400

    @Test(
        "A publisher is killed five times, once together with its edge: each message arrives once, in order",
        .ends(withinMinutes: 3))
    func killed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "outbox")
        try await RunningSystem.with(.fourProcesses) { system in
            let publishing = system.address("edge")
            // Alice's app has given messages to her outbox, and has ended.
            let alice = try system.client("alice")
            let outbox = try await alice.openOutbox(at: file, messagesMax: 2 * Self.given)
            for number in 0..<Self.given { try await outbox.publish("\(number)", to: .channel("lobby")) }
            await alice.close()
            // Bob uses an edge of his own, which survives.
            try await system.launchEdge()
            let bob = try system.client("bob")
            try await bob.login()
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby", features: .message)

            var texts: [String] = []
            func receive(until count: Int) async throws {
                while texts.count < count {
                    guard case .text(let text) = try #require(await received.nextMessage()).payload else {
                        continue
                    }
                    texts.append(text)
                }
            }
            func publisher(_ round: Int) throws -> ChildProcess {
                try system.command([
                    "publish", "lobby", "run \(round)", "--outbox", file.path, "--user", "alice", "--server",
                    publishing,
                ])
            }
            for round in 0..<Self.kills {
                let process = try publisher(round)
                // What the killed one was given is on the disk, or nobody could say whether it will arrive.
                try await eventually("the message is taken") {
                    try String(contentsOf: file, encoding: .utf8).contains("\"run \(round)\"")
                }
                try await receive(until: min(texts.count + 20, Self.given + round + 1))
                kill(process.processIdentifier, SIGKILL)
                _ = try await system.end(process)
                if round == 2 {
                    try await system.process("rtm-edge", first: true).kill9()
                    try await system.launchEdge(listen: publishing)
                }
            }
            let end = try await system.end(publisher(Self.kills))
            #expect(end.status == 0 && end.output == ["ok"], "\(end.errors)")
            let expected = (0..<Self.given).map { "\($0)" } + (0...Self.kills).map { "run \($0)" }
            try await receive(until: expected.count)
            #expect(texts == expected)
            await bob.close()
        }
    }

    @Test("a guest has no outbox: no later command would have the same name")
    func guest() async throws {
        try await RunningSystem.with(.standalone) { system in
            let file = system.directory.appending(path: "guest.outbox")
            let end = try await system.end(
                system.command([
                    "publish", "lobby", "hi", "--outbox", file.path, "--server", system.address("edge"),
                ]))
            #expect(end.status == 1 && "\(end.errors)".contains("--user"), "\(end)")
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }
}
