import RTMClient
import RTMTestKit

/// The program of Metadata.md.
func metadataArticle(_ world: TestWorld, _ print: @escaping Printing) async throws {
    let alice = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "alice"))
    let bob = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "bob"))
    for client in [alice, bob] { try await client.login() }
    let auction = MetadataTarget.channel("auction")
    try await alice.setMetadata(["item": "a lamp", "bid": "100"], of: auction)
    let seen = try await alice.metadata(of: auction)
    print(seen["bid"] ?? "no bid", "at revision", seen.majorRevision)

    try await bob.setMetadata(["bid": "110"], of: auction)
    do throws(RTMError) {
        let unchanged = MetadataWriteOptions(majorRevision: seen.majorRevision)
        try await alice.setMetadata(["bid": "105"], of: auction, options: unchanged)
    } catch RTMError.code(.storageOutdatedRevision) {
        print("somebody was faster")
    } catch {
        throw error
    }

    func raise(_ client: RTMClient) async throws -> Int64 {
        try await client.editMetadata(of: auction) { now in
            [MetadataChange("bid", String((Int(now["bid"] ?? "") ?? 0) + 10))]
        }
    }
    async let one = raise(alice)
    async let other = raise(bob)
    _ = try await (one, other)
    print(try await alice.metadata(of: auction)["bid"] ?? "no bid")

    let claim = MetadataChange("winner", "bob", revision: 0)
    let signed = MetadataWriteOptions(recordsTimestamp: true, recordsAuthor: true)
    try await bob.setMetadata([claim], of: auction, options: signed)
    if let winner = try await alice.metadata(of: auction).item(for: "winner") {
        print(winner.value, "by", winner.author ?? "somebody", winner.updatedAt != nil)
    }

    let events = bob.events()
    try await bob.subscribe(to: "auction", features: [.message, .metadata])
    try await alice.updateMetadata(["bid": "200"], of: auction)
    for await case .metadata(let event) in events {
        guard event.metadata["bid"] == "200" else { continue }
        print("the bid is", event.metadata["bid"] ?? "gone")
        break
    }
}
