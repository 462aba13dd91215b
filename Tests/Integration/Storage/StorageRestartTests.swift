import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// Services die while metadata are written. Every acknowledged write is there and was announced, and none
/// twice.
@Suite(.serialized, .ends(withinMinutes: 4)) struct StorageRestartTests {
    @Test(
        "kill -9 while metadata are written: each change is told once, or is in the snapshot after a gap",
        arguments: ["storage", "messaging"])
    func killed(_ service: String) async throws {
        try await RunningSystem.with(.fourProcesses, edge: ["--rates-channel-metadata", "0"]) { system in
            try await system.withClients("anna", "ben") { clients in
                let (anna, ben) = (clients[0], clients[1])
                let lobby = MetadataTarget.channel("lobby")
                var events = ben.events().makeAsyncIterator()
                try await ben.subscribe(to: "lobby", features: [.metadata])
                var acknowledged: [Int64] = []
                for round in 0..<3 {
                    async let restarted: Void = system.restart(service)
                    for number in 0..<60 {
                        let revision = try? await anna.setMetadata(["n": "\(round) \(number)"], of: lobby)
                        if let revision { acknowledged.append(revision) }
                    }
                    try await restarted
                }
                var last: Int64?
                try await eventually("everything is there again") {
                    last = try? await anna.setMetadata(["n": "last"], of: lobby)
                    return last != nil
                }
                var reported: [MetadataEvent] = []
                while reported.last?.metadata.majorRevision != last, let event = await events.nextStorage() {
                    reported.append(event)
                }
                check(reported, acknowledged + [try #require(last)], mayHaveGaps: service == "messaging")
            }
        }
    }

    private func check(_ reported: [MetadataEvent], _ acknowledged: [Int64], mayHaveGaps: Bool) {
        let revisions = reported.map(\.metadata.majorRevision)
        #expect(revisions == revisions.sorted(), "\(revisions)")
        let updates = reported.filter { $0.kind == .update }.map(\.metadata.majorRevision)
        #expect(Set(updates).count == updates.count, "an update twice: \(updates)")
        let missing = Set(acknowledged).subtracting(updates)
        let snapshots = reported.dropFirst().filter { $0.kind == .snapshot }
        if mayHaveGaps {
            let newest = snapshots.last?.metadata.majorRevision ?? 0
            #expect(missing.allSatisfy { $0 <= newest }, "\(missing) and nothing later")
        } else {
            #expect(missing.isEmpty && snapshots.isEmpty, "\(missing)")
        }
        #expect(acknowledged == acknowledged.sorted() && Set(acknowledged).count == acknowledged.count)
    }
}
