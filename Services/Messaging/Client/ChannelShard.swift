package import RTMModel
package import RTMServiceLink
package import RTMWire

extension ShardedService {
    static let messaging = ShardedService(name: "messaging", outdated: MessagingMethod.outdated)
}

extension ShardRouter {
    package func connections(to channel: ChannelKey) -> ShardConnections {
        all.count == 1 ? all[0] : all[channel.shard(among: all.count)]
    }

    package func connections(to channel: ChannelView) -> ShardConnections {
        all.count == 1 ? all[0] : all[channel.shard(among: all.count)]
    }

    package func isUp(_ channel: ChannelKey) -> Bool { connections(to: channel).isUp }
}

extension ChannelView {
    /// The number of the shard that keeps the channel. Callers in all processes find the same one, so the way
    /// to it never changes.
    package func shard(among count: Int) -> Int {
        guard count > 1 else { return 0 }
        var hash = StableHash()
        hash.add(UInt8(truncatingIfNeeded: type.rawValue))
        for byte in appID.bytes { hash.add(byte) }
        // No name has this byte, so the end of the app's name can't be mistaken for the channel's beginning.
        hash.add(0xFF)
        for byte in name.bytes { hash.add(byte) }
        return Int(hash.mixed().multipliedFullWidth(by: UInt64(count)).high)
    }
}

extension ChannelKey {
    package func shard(among count: Int) -> Int {
        count > 1 ? withView { $0.shard(among: count) } : 0
    }
}

/// A hash that has the same value in all processes, for decisions that they have to agree on without a
/// message: the shard of a channel, and the leader of a shard. It is FNV-1a, mixed by the finalizer of
/// SplitMix64, because the upper bits decide.
package struct StableHash {
    private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

    /// - Parameter number: distinguishes hashes of the same bytes.
    package func mixed(with number: UInt64 = 0) -> UInt64 {
        var mixed = hash &+ number &* 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
