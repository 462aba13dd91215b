import RTMClient
import RTMModel
import RTMTestKit
import Testing

/// The patterns of the articles, with real errors and in loops of functions that throw.
@Suite("Errors that apps catch")
struct ErrorPatternTests {
    @Test("S-0a: a pattern takes the errors of its code, and the last catch has the others")
    func typed() async throws {
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        var ends: [String] = []
        for user in ["bob", "alice", ""] {
            do {
                try await alice.publish("only for you", to: .user(user))
                ends.append("published")
            } catch RTMError.code(.channelReceiverOffline) {
                ends.append("offline")
            } catch {
                ends.append("\(error.code)")
            }
        }
        #expect(ends == ["offline", "published", "invalidUserId"])
        await world.end()
    }

    @Test("a pattern also matches where the compiler knows only that something is thrown")
    func untyped() async throws {
        func write(_ client: RTMClient) async throws {
            let lobby = MetadataTarget.channel("lobby")
            try await client.setMetadata(
                [MetadataChange("price", "299")], of: lobby, options: .init(majorRevision: 7))
        }
        let world = try await TestWorld()
        let alice = try await world.client("alice")
        var conflicts = 0
        for _ in 1...2 {
            do {
                try await write(alice)
            } catch RTMError.code(.lockNotExist) {
                Issue.record("another code matched")
            } catch RTMError.code(.storageOutdatedRevision) {
                conflicts += 1
            }
        }
        #expect(conflicts == 2)
        #expect(!(ErrorCode.storageOutdatedRevision ~= CancellationError()))
        await world.end()
    }
}
