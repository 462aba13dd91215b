import Foundation
import RTMClient
import RTMTestKit
import Synchronization
import Testing

/// Stands in the programs of the articles for the function of that name.
typealias Printing = @Sendable (Any...) -> Void

/// The programs of RTMClient's articles, which Tests/Documentation compares with what the articles show.
@Suite("The articles' programs run", .timeLimit(.minutes(5)))
struct ArticleTests {
    private final class Transcript: Sendable {
        private let state = Mutex<(lines: [String], isOver: Bool)>(([], false))

        var lines: [String] { state.withLock { $0.lines } }
        var isOver: Bool { state.withLock { $0.isOver } }

        func add(_ items: [Any]) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            state.withLock { $0.lines.append(line) }
        }

        func end() { state.withLock { $0.isOver = true } }
    }

    /// - Returns: what the program has printed.
    private func run(
        _ program: @escaping @Sendable (TestWorld, @escaping Printing) async throws -> Void
    ) async throws -> [String] {
        let world = try await TestWorld()
        let transcript = Transcript()
        let running = Task {
            defer { transcript.end() }
            try await program(world) { transcript.add($0) }
        }
        // A program that pauses does so in time that isn't the world's, so no time of the world is enough.
        while !transcript.isOver { _ = await world.advance(upTo: .seconds(1)) { transcript.isOver } }
        try await running.value
        await world.end()
        return transcript.lines
    }

    @Test("Presence.md")
    func presence() async throws {
        let lines = try await run(presenceArticle)
        #expect(lines.prefix(2) == [#"alice ["mood": "curious"]"#, "bob [:]"])
        #expect(lines.contains("alice has left"))
        #expect(lines.suffix(3) == ["1 online", "bob", #"["lobby"]"#])
    }

    @Test("Metadata.md")
    func metadata() async throws {
        #expect(
            try await run(metadataArticle) == [
                "100 at revision 1", "somebody was faster", "130", "bob by bob true", "the bid is 200",
            ])
    }

    @Test("Locks.md")
    func locks() async throws {
        #expect(
            try await run(locksArticle) == [
                "alice speaks", #"it is taken by ["alice"]"#, "true", "alice speaks no more",
            ])
    }

    @Test("History.md")
    func history() async throws {
        #expect(
            try await run(historyArticle) == [
                #"["three", "two"]"#, #"["one"]"#, "alice three", "alice two", "e2 to e4", "four",
            ])
    }

    @Test("SwiftUI.md: the model, which needs no screen")
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    @MainActor
    func swiftUI() async throws {
        let world = try await TestWorld()
        let room = try Room(try await world.configuration(of: "alice"))
        let appearing = Task { await room.run() }
        #expect(await world.advance(upTo: .seconds(10)) { room.people == ["alice"] && room.isOnline })
        let bob = try await world.client("bob")
        try await bob.subscribe(to: "lobby")
        try await bob.publish("hi", to: .channel("lobby"))
        #expect(
            await world.advance(upTo: .seconds(10)) {
                room.lines == ["bob: hi"] && room.people == ["alice", "bob"]
            })
        await room.send("hello")
        #expect(room.lines.last == "me: hello" && room.problem == nil)
        await world.cut("alice")
        #expect(await world.advance(upTo: .seconds(60)) { !room.isOnline })
        await world.mend("alice")
        #expect(await world.advance(upTo: .seconds(60)) { room.isOnline })
        // The view goes away, and comes back.
        appearing.cancel()
        await appearing.value
        let again = Task { await room.run() }
        #expect(
            await world.advance(upTo: .seconds(10)) {
                _ = try? await bob.publish("again", to: .channel("lobby"))
                return room.lines.last == "bob: again"
            })
        #expect(room.problem == nil)
        again.cancel()
        await again.value
        await world.end()
    }
}
