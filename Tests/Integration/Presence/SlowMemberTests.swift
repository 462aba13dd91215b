import RTMClient
import RTMTestSupport
import Synchronization
import Testing

/// A member of big channels whose line is slow, while users fill these channels with states on purpose.
@Suite(.serialized, .ends(withinMinutes: 2)) struct SlowMemberTests {
    private static let channels = (1...8).map { "hall \($0)" }
    private static let users = (1...8).map { "mallory \($0)" }

    @Test("P-28: on a slow line a member of eight big channels stays, misses no message, ends with the truth")
    func slowLine() async throws {
        // Each period ends with 2 MiB for everybody.
        let presence = ["--announce-max", "4", "--interval", "500ms", "--debounce", "0s"]
        try await RunningSystem.with(.standalone, presence: presence) { system in
            let proxy = try await FaultProxy.start(to: system.address("edge"), bytesPerSecond: 1_000_000)
            let server = try ServerAddress(proxy.address)
            let anna = try system.client("anna") { $0.servers = [server] }
            let record = SlowRecord(anna)
            let crowd = try Self.users.map { try system.client($0) }
            for client in [anna] + crowd {
                try await client.login()
                for channel in Self.channels {
                    try await client.subscribe(to: channel, features: client === anna ? .default : .message)
                }
            }
            var round = 0
            while round < 30 {
                round += 1
                try await Self.show("round \(round)", by: crowd)
                for channel in Self.channels {
                    try await crowd[0].publish("round \(round)", to: .channel(channel))
                }
                if round > 3, try await Self.isWithheld(system) { break }
            }
            #expect(try await Self.isWithheld(system))
            try await Self.show("at last", by: crowd)
            for channel in Self.channels {
                for await update in anna.roster(of: channel) {
                    let shown = Self.users.map { update.members[$0]?["0"] ?? "" }
                    if shown.allSatisfy({ $0.hasPrefix("at last") }) { break }
                }
                try await eventually("all messages of \(channel)") {
                    record.messages[channel, default: []].count >= round
                }
                #expect(record.messages[channel] == (1...round).map { "round \($0)" })
            }
            #expect(record.losses == 0 && anna.linkState == .connected)
            for client in [anna] + crowd { await client.close() }
            try await proxy.stop()
        }
    }

    /// Each of them changes all of its states, 32 KiB of them, in each channel.
    private static func show(_ text: String, by crowd: [RTMClient]) async throws {
        let value = text + String(repeating: ".", count: 1_000)
        let states = Dictionary(uniqueKeysWithValues: (0..<32).map { ("\($0)", value) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in crowd {
                group.addTask {
                    for channel in channels { try await client.setState(states, in: channel) }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func isWithheld(_ system: RunningSystem) async throws -> Bool {
        let page = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics").body
        return !page.contains("rtm_edge_presence_withheld_total 0\n")
    }
}

/// The messages that a client gets, by channel, and how often it loses its link.
private final class SlowRecord: Sendable {
    private let state = Mutex<(messages: [String: [String]], losses: Int)>(([:], 0))

    /// Records until the client is closed.
    init(_ client: RTMClient) {
        let events = client.events()
        // Unstructured: it ends with the client's events.
        Task { [self] in
            for await event in events {
                switch event {
                case .message(let message):
                    guard case .text(let text) = message.payload else { continue }
                    state.withLock { $0.messages[message.channelName, default: []].append(text) }
                case .linkState(let link) where link.currentState == .disconnected:
                    state.withLock { $0.losses += 1 }
                default: break
                }
            }
        }
    }

    var messages: [String: [String]] { state.withLock { $0.messages } }
    var losses: Int { state.withLock { $0.losses } }
}
