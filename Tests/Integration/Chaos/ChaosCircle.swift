import Foundation
import RTMClient
import RTMTestSupport

/// Clients of a system under stress who talk among themselves: in message channels, in a topic of a stream
/// channel, and to one another.
struct ChaosCircle: Sendable {
    /// With which the members of a circle encrypt.
    static func key() throws -> EncryptionKey {
        try EncryptionKey("chaos", salt: Data(repeating: 0x5c, count: 32))
    }

    let clients: [any ChaosClient]
    /// Its connection is a good one.
    let witness: any ChaosClient
    private let channels: [String]
    /// "ROOM/TOPIC". The compatible API is in none here.
    private let topic: String

    init(_ clients: [any ChaosClient], witness: RTMClient, channels: [String], topic: String) {
        self.clients = clients
        self.witness = ChaosRTMClient(witness)
        self.channels = channels
        self.topic = topic
    }

    var places: [String] { channels + [topic] }

    private var talkers: [any ChaosClient] { clients.filter { $0 is ChaosRTMClient } + [witness] }

    func start() async throws {
        for (number, client) in clients.enumerated() {
            try await client.start(
                channels: subscribed(by: number) + (client is ChaosRTMClient ? [topic] : []))
        }
        try await witness.start(channels: places)
        for client in talkers { try await client.receive(talkers.map(\.user)) }
    }

    /// All but one.
    private func subscribed(by number: Int) -> [String] {
        channels.indices.filter { $0 != number % channels.count }.map { channels[$0] }
    }

    /// Where the client publishes next.
    func place(for client: any ChaosClient, _ random: inout SeededGenerator) -> String {
        let user = clients.randomElement(using: &random)?.user ?? ""
        if random.chance(1, in: 5), user != client.user { return "@\(user)" }
        if client is ChaosRTMClient, random.chance(1, in: 4) { return topic }
        return channels.randomElement(using: &random) ?? topic
    }
}
