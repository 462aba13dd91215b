import AgoraRtmKit
import RTMClient
import RTMModel
import RTMTestKit
import RTMTestSupport
import Synchronization
import Testing

@Suite("Test worlds")
struct TestWorldTests {
    @Test("two clients talk, and no time is needed for that but the network's")
    func talk() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        let received = ReceivedBytes(bob)
        try await bob.subscribe(to: "lobby")
        try await alice.publish("hi", to: .channel("lobby"))
        try await alice.publish("only for you", to: .user("bob"))
        #expect(await world.advance(upTo: .seconds(1)) { received.texts == ["hi", "only for you"] })
        #expect(await world.elapsed < .seconds(1))
        await world.end()
    }

    @Test("the compatible API lives there, too")
    func compatible() async throws {
        let world = try await TestWorld()
        let config = AgoraRtmClientConfig(appId: world.appID, userId: "dave")
        let place = AgoraRtmPrivateConfig()
        place.serviceType = [.message]
        place.accessPointHosts = ["\(world.server)"]
        config.privateConfig = place
        let kit = try AgoraRtmClientKit(config, delegate: nil)
        #expect(await kit.login(world.appID).1 == nil)
        let alice = try await world.client("alice")
        let received = ReceivedBytes(alice)
        try await alice.subscribe(to: "lobby")
        #expect(await kit.publish(channelName: "lobby", message: "hi", option: nil).1 == nil)
        #expect(await world.advance(upTo: .seconds(1)) { received.texts == ["hi"] })
        await world.cut("dave")
        let (_, error) = await kit.publish(channelName: "lobby", message: "lost", option: nil)
        #expect(error != nil)
        kit.destroy()
        await world.end()
    }

    @Test("an app with another app id is refused at once, in both libraries, with what to write instead")
    func otherApp() async throws {
        let world = try await TestWorld()
        var configuration = try await world.configuration(of: "carol")
        configuration.appID = "myapp"
        let sentence =
            "the client of \"carol\" has the app id \"myapp\", and this TestWorld serves \"test\" alone: "
            + "make the client with world.appID"
        let refusal = #expect(throws: RTMError.self) { try RTMClient(configuration) }
        #expect(refusal?.code == .invalidAppId)
        #expect(refusal?.reason == sentence)
        let config = AgoraRtmClientConfig(appId: "myapp", userId: "carol")
        let place = AgoraRtmPrivateConfig()
        place.serviceType = [.message]
        place.accessPointHosts = ["\(world.server)"]
        config.privateConfig = place
        let info = #expect(throws: AgoraRtmErrorInfo.self) { try AgoraRtmClientKit(config, delegate: nil) }
        #expect(info?.errorCode == .invalidAppId)
        #expect(info?.reason == sentence)
        await world.end()
    }

    @Test("metadata, locks, history and presence are there, and stay there while storage starts anew")
    func allServices() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        try await alice.subscribe(to: "lobby", features: [.message, .presence, .metadata, .lock])
        try await bob.subscribe(to: "lobby", features: [.message, .presence])
        try await alice.setMetadata(["topic": "Swift"], of: .channel("lobby"))
        try await alice.setLock("stage", in: "lobby")
        try await alice.publish("kept", to: .channel("lobby"), storeInHistory: true)
        await world.stop(.storage)
        try await world.start(.storage)
        #expect(
            await world.advance(upTo: .seconds(10)) {
                (try? await bob.metadata(of: .channel("lobby")))?["topic"] == "Swift"
            })
        #expect(try await bob.acquireLock("stage", in: "lobby") > 0)
        let users = try await alice.whoNow(in: "lobby")
        #expect(users.users.map(\.userID).sorted() == ["alice", "bob"])
        await world.end()
    }

    @Test("T10, S-17: a network that is away for long, and comes back")
    func cut() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        await world.cut("alice")
        await world.advance(by: .seconds(16))
        #expect(alice.linkState != .connected)
        #expect(await world.advance(upTo: .seconds(125)) { alice.linkState == .suspended })
        await world.mend("alice")
        #expect(await world.advance(upTo: .seconds(45)) { alice.linkState == .connected })
        await world.end()
    }

    @Test("a broken connection comes back and nothing is missing")
    func disconnect() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        let received = ReceivedBytes(bob)
        try await bob.subscribe(to: "lobby")
        await world.disconnect("bob")
        for number in 1...5 { try await alice.publish("\(number)", to: .channel("lobby")) }
        #expect(await world.advance(upTo: .seconds(10)) { received.texts.count == 5 })
        #expect(received.texts == ["1", "2", "3", "4", "5"])
        #expect(received.gaps.isEmpty)
        await world.end()
    }

    @Test("messaging that is lost is a gap")
    func lostServer() async throws {
        let world = try await TestWorld()
        let (alice, bob) = try await (world.client("alice"), world.client("bob"))
        let received = ReceivedBytes(bob)
        try await bob.subscribe(to: "lobby")
        try await alice.publish("before", to: .channel("lobby"))
        await world.stop(.messaging)
        try await world.start(.messaging)
        #expect(await world.advance(upTo: .seconds(10)) { received.gaps.contains("lobby") })
        try await alice.publish("after", to: .channel("lobby"))
        #expect(await world.advance(upTo: .seconds(10)) { received.texts == ["before", "after"] })
        await world.end()
    }

    @Test("S-50: a token that nobody renews expires, after its time")
    func expiry() async throws {
        var configuration = TestWorld.Configuration()
        configuration.needsTokens = true
        let world = try await TestWorld(configuration)
        let token = try await world.token(for: "alice", lifetime: .seconds(3_600))
        let alice = try await RTMClient(world.configuration(of: "alice"))
        let received = ReceivedBytes(alice)
        try await alice.login(token: token)
        await world.advance(by: .seconds(3_500))
        #expect(received.warnings == 0)
        await world.advance(by: .seconds(75))
        #expect(received.warnings == 1)
        await world.advance(by: .seconds(60))
        #expect(alice.linkState == .failed)
        await world.end()
    }

    @Test("an app that renews its token when it is warned is in time")
    func renewal() async throws {
        var configuration = TestWorld.Configuration()
        configuration.needsTokens = true
        let world = try await TestWorld(configuration)
        let alice = try await RTMClient(world.configuration(of: "alice"))
        let events = alice.events()
        async let renewals: Int = {
            var count = 0
            for await event in events {
                guard case .tokenWillExpire = event else { continue }
                count += 1
                try await alice.renewToken(world.token(for: "alice", lifetime: .seconds(600)))
                if count == 3 { break }
            }
            return count
        }()
        try await alice.login(token: world.token(for: "alice", lifetime: .seconds(600)))
        await world.advance(by: .seconds(1_800))
        #expect(alice.linkState == .connected)
        #expect(try await renewals == 3)
        await world.end()
    }

    @Test("a refused call fails as the test says, and the next one doesn't")
    func refuse() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        await world.refuse(.subscribe, of: "alice", with: .channelSubscribePermissionDenied)
        await #expect(throws: RTMError.self) { try await alice.subscribe(to: "lobby") }
        try await alice.subscribe(to: "lobby")
        await world.end()
    }

    @Test("a delayed network makes calls slow, and too slow ones fail")
    func delay() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        await world.delay("alice", by: .seconds(2))
        let before = await world.elapsed
        try await alice.subscribe(to: "lobby")
        #expect(await world.elapsed - before >= .seconds(4))
        await world.end()
    }

    @Test("a call that nothing answers ends after its time, although nobody lets time pass")
    func unanswered() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        await world.cut("alice")
        do {
            try await alice.subscribe(to: "lobby")
            Issue.record("nobody can have answered")
        } catch {
            #expect(error.code == .channelSubscribeTimeout || error.code == .notConnected)
        }
        await world.end()
    }

    @Test("a full inbox is a gap for its user")
    func fill() async throws {
        var configuration = TestWorld.Configuration()
        configuration.keys["messaging.catchUp.entriesMax"] = "50"
        let world = try await TestWorld(configuration)
        let alice = try await world.client("alice")
        let received = ReceivedBytes(alice)
        await world.cut("alice")
        try await world.fillInbox(of: "alice", with: 60)
        await world.disconnect("alice")
        await world.mend("alice")
        #expect(await world.advance(upTo: .seconds(30)) { received.gaps == ["alice"] })
        await world.end()
    }

    @Test("calls after the end of a world fail, and the world ends when its clients are gone")
    func end() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        await world.end()
        await #expect(throws: RTMError.self) { try await alice.publish("hi", to: .channel("lobby")) }
    }

    @Test("the configuration of the servers can be chosen")
    func keys() async throws {
        var configuration = TestWorld.Configuration()
        configuration.keys["edge.subscriptions.max"] = "1"
        let world = try await TestWorld(configuration)
        let alice = try await world.client("alice")
        try await alice.subscribe(to: "one")
        await #expect(throws: RTMError.self) { try await alice.subscribe(to: "two") }
        await world.end()
        configuration.keys["edge.nothing"] = "1"
        await #expect(throws: (any Error).self) { try await TestWorld(configuration) }
    }

    @Test("an hour of an idle world with two clients takes little time")
    func hour() async throws {
        let world = try await TestWorld()
        let clients = try await (world.client("alice"), world.client("bob"))
        let begin = ContinuousClock.now
        await world.advance(by: .seconds(3_600))
        let taken = ContinuousClock.now - begin
        #expect(clients.0.linkState == .connected && clients.1.linkState == .connected)
        // A second on an idle machine, half a minute on a very busy one; without virtual time it is an hour.
        #expect(taken < .seconds(300 * timeScale), "\(taken)")
        await world.end()
    }
}

/// What a client receives.
private final class ReceivedBytes: Sendable {
    private let events = Mutex<[RTMEvent]>([])

    init(_ client: RTMClient) {
        let sequence = client.events()
        // Unstructured: it ends with the client's events.
        Task { [weak self] in
            for await event in sequence { self?.events.withLock { $0.append(event) } }
        }
    }

    private var all: [RTMEvent] { events.withLock { $0 } }

    var texts: [String] {
        all.compactMap { event in
            guard case .message(let message) = event, case .text(let text) = message.payload else {
                return nil
            }
            return text
        }
    }

    var gaps: [String] {
        all.compactMap { event in
            guard case .gap(let gap) = event else { return nil }
            return gap.channelName
        }
    }

    var warnings: Int { all.count { if case .tokenWillExpire = $0 { true } else { false } } }
}
