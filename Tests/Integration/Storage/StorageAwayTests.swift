import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// Storage is away for a while. A client that subscribes or comes back meanwhile still gets what storage
/// keeps.
@Suite(.serialized, .ends(withinMinutes: 4)) struct StorageAwayTests {
    /// Each loop of an edge has links of its own, and this client's loop may connect later than the other
    /// one.
    private func write(
        _ items: KeyValuePairs<String, String>, to target: MetadataTarget, by client: RTMClient
    ) async throws {
        try await eventually("storage takes a write") {
            await code { _ = try await client.setMetadata(items, of: target) } == nil
        }
    }

    @Test("D-41, K-13: who subscribes while storage is away has the snapshots as soon as it is back")
    func subscribed() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            try await system.withClients("anna", "ben") { clients in
                let (anna, ben) = (clients[0], clients[1])
                let lobby = MetadataTarget.channel("lobby")
                // A system is ready before all loops of its edge have reached storage.
                try await write(["topic": "a"], to: lobby, by: anna)
                let revision = try await anna.metadata(of: lobby).majorRevision
                try await anna.setLock("manage", in: "lobby")
                try await system.process("rtm-storage").kill9()
                try await eventually("the edge knows that storage is away") {
                    await code { _ = try await anna.metadata(of: lobby) } == .storageNotAvailable
                }
                var events = ben.events().makeAsyncIterator()
                let subscription = try await ben.subscribe(to: "lobby", features: [.metadata, .lock])
                #expect(subscription.unavailableFeatures == [.metadata, .lock])
                try await system.launchStorage()
                var metadata: MetadataEvent?
                var locks: LockEvent?
                while metadata == nil || locks == nil, let event = await events.next() {
                    if case .metadata(let event) = event { metadata = event }
                    if case .lock(let event) = event { locks = event }
                }
                #expect(metadata?.kind == .snapshot && metadata?.metadata["topic"] == "a")
                #expect(metadata?.metadata.majorRevision == revision)
                #expect(locks?.kind == .snapshot && locks?.locks.map(\.name) == ["manage"])
                try await write(["topic": "b"], to: lobby, by: anna)
                let update = await events.nextStorage()
                #expect(update?.kind == .update && update?.metadata["topic"] == "b")
            }
        }
    }

    @Test("S-19, D-44, 2.1.12: who follows a user, and comes back while storage is away, still follows him")
    func followed() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let proxy = try await FaultProxy.start(to: system.address("edge"))
            let server = try ServerAddress(proxy.address)
            let (anna, ben) = (try system.client("anna") { $0.servers = [server] }, try system.client("ben"))
            for client in [anna, ben] { try await client.login() }
            var events = anna.events().makeAsyncIterator()
            try await anna.subscribeUserMetadata("ben")
            #expect(await events.nextStorage()?.kind == .snapshot)
            try await system.process("rtm-storage").kill9()
            try await eventually("the edge knows that storage is away") {
                await code { _ = try await ben.metadata(of: .ownUser) } == .storageNotAvailable
            }
            proxy.spoil(.reset)
            #expect(await events.nextLinkState(.connected)?.unrestoredUsers == [])
            try await system.launchStorage()
            #expect(await events.nextStorage()?.kind == .snapshot)
            try await write(["status": "back"], to: .ownUser, by: ben)
            #expect(await events.nextStorage()?.metadata["status"] == "back")
            try await anna.unsubscribeUserMetadata("ben")
            for client in [anna, ben] { await client.close() }
            try await proxy.stop()
        }
    }
}
