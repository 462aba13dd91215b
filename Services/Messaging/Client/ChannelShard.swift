package import RTMModel
package import RTMServiceLink
package import RTMWire

extension ShardedService {
    static let messaging = ShardedService(
        name: "messaging", leader: MessagingMethod.leader, outdated: MessagingMethod.outdated,
        nodes: MessagingMethod.nodes)
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
