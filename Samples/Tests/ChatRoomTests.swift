import ChatSample
import RTMClient
import RTMTestKit
import Testing

/// How an app tests itself: its own code, real clients, and servers in the process of the test.
@Suite("The chat, over an hour and more")
@MainActor
struct ChatRoomTests {
    private func open(_ user: String, in world: TestWorld) async throws -> ChatRoom {
        let room = try await ChatRoom(world.configuration(of: user), channel: "lobby") {
            try await world.token(for: user, lifetime: .seconds(600))
        }
        await room.open()
        return room
    }

    @Test("a line appears on every screen")
    func lines() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (open("alice", in: world), open("bob", in: world))
        await alice.send("hi")
        await bob.send("hello")
        let sent: [ChatRoom.Line.Content] = [.text("hi", author: "alice"), .text("hello", author: "bob")]
        #expect(
            await world.advance(upTo: .seconds(5)) {
                [alice, bob].allSatisfy { $0.lines.suffix(2).map(\.content) == sent }
            })
        #expect(alice.members == ["alice", "bob"] && bob.members == ["alice", "bob"])
        await world.end()
    }

    @Test("a tunnel of a minute loses nothing, and the screen says that it is offline")
    func tunnel() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (open("alice", in: world), open("bob", in: world))
        await world.cut("bob")
        await world.advance(by: .seconds(30))
        #expect(bob.connection != .connected)
        await alice.send("are you there?")
        await world.mend("bob")
        #expect(
            await world.advance(upTo: .seconds(60)) {
                bob.lines.last?.content == .text("are you there?", author: "alice")
            })
        #expect(bob.connection == .connected)
        #expect(!bob.lines.contains { $0.content == .gap })
        await world.end()
    }

    @Test("what is lost with a server shows as a gap")
    func gap() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (open("alice", in: world), open("bob", in: world))
        await alice.send("before")
        await world.stop(.messaging)
        try await world.start(.messaging)
        #expect(await world.advance(upTo: .seconds(30)) { bob.lines.contains { $0.content == .gap } })
        await world.end()
    }

    @Test("somebody whose network is gone leaves after five minutes")
    func gone() async throws {
        let world = try await TestWorld()
        let (alice, _) = try await (open("alice", in: world), open("bob", in: world))
        await world.cut("bob")
        await world.advance(by: .seconds(290))
        #expect(alice.members == ["alice", "bob"])
        await world.advance(by: .seconds(40))
        #expect(alice.members == ["alice"])
        #expect(alice.lines.last?.content == .left("bob"))
        await world.end()
    }

    @Test("an hour with tokens of ten minutes")
    func hour() async throws {
        var configuration = TestWorld.Configuration()
        configuration.needsTokens = true
        let world = try await TestWorld(configuration)
        let token = try await world.token(for: "alice", lifetime: .seconds(600))
        var alice = try await world.configuration(of: "alice")
        alice.token = token
        let room = try ChatRoom(alice, channel: "lobby") {
            try await world.token(for: "alice", lifetime: .seconds(600))
        }
        await room.open()
        await world.advance(by: .seconds(3_600))
        #expect(room.connection == .connected)
        #expect(room.failure == nil)
        await world.end()
    }

    @Test("a refusal of the server is shown on the screen, and the next line is published")
    func refused() async throws {
        let world = try await TestWorld()
        let alice = try await open("alice", in: world)
        await world.refuse(.publish, of: "alice", with: .channelPublishMessageFailed)
        await alice.send("hi")
        #expect(alice.failure != nil)
        await alice.send("hi")
        #expect(alice.failure == nil)
        await world.end()
    }
}
