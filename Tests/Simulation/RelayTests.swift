// An edge that is cut off from one messaging node, which another node reaches (decision 0022).

import NIOCore
import RTMClient
import RTMModel
import Testing

@testable import RTMTestKit

@Suite("An edge that is cut off from a messaging node")
struct RelayTests {
    /// A broken way is noticed within the heartbeat deadline, and a publish that was sent before may wait for
    /// its whole timeout.
    private static let recovery = TimeAmount.seconds(12)
    private static let channels = (1...12).map { Place.channel("channel\($0)") }

    @Test(
        "publishes to all shards succeed again within seconds, nobody is told of a gap, and afterwards all links are direct",
        arguments: [1, 2, 3] as [UInt64])
    func cut(seed: UInt64) {
        let world = VirtualWorld(seed: seed)
        let size = Installation.Size(
            edges: 1, users: [1, 1], company: .init(nodes: 2, shards: 2))
        let installation = Installation(world, size)
        let devices = installation.devices.map(\.device)
        world.pass(.seconds(10))
        for device in devices { device.login() }
        world.pass(.seconds(5))
        for channel in Self.channels { devices[1].subscribe(to: channel.name) }
        world.pass(.seconds(5))

        let random = world.random("cut")
        for host in installation.messagingHosts {
            let way = Way(from: installation.edgeHosts[0], to: host)
            // Both ways, or one of them.
            let ways = random.pick([[way, way.back], [way], [way.back]]) ?? [way]
            for way in ways { installation.network.block(way) }
            if random.chance(1, in: 2) { installation.network.cut(way.from, way.to) }
            world.pass(Self.recovery)
            expectPublished(by: devices[0], in: installation, for: 15, "\(ways) are blocked, seed \(seed)")
            #expect(installation.relays > 0, "\(host) leads a shard, seed \(seed)")
            for way in ways { installation.network.unblock(way) }
            expectPublished(by: devices[0], in: installation, for: 10, "\(host) is back, seed \(seed)")
            #expect(installation.relays == 0, "seed \(seed)")
        }
        for entry in installation.journal.entries {
            if case .gap = entry.what { Issue.record("seed \(seed): \(entry)") }
        }
        installation.end()
    }

    /// Publishes to every channel, once a second.
    private func expectPublished(
        by device: Device, in installation: Installation, for seconds: Int, _ comment: Comment
    ) {
        let begin = installation.journal.entries.count
        for second in 0..<seconds {
            for channel in Self.channels { device.publish("\(begin) \(second) \(channel)", to: channel) }
            installation.world.pass(.seconds(1))
        }
        installation.world.pass(.seconds(1))
        var (published, received) = (0, 0)
        for entry in installation.journal.entries[begin...] {
            switch entry.what {
            case .ended(device.id, _, .published): published += 1
            case .ended(device.id, _, let outcome): Issue.record("\(outcome): \(comment)")
            case .message: received += 1
            default: break
            }
        }
        #expect(published == seconds * Self.channels.count, comment)
        #expect(received == seconds * Self.channels.count, comment)
    }
}
