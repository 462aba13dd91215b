import RTMCryptography
package import RTMModel

extension ChannelKey {
    /// What storage keeps of an app as a whole, such as its events and bans, lies where this channel would
    /// lie. No user has an empty name, so it is nobody's metadata.
    package static func app(_ id: String) -> ChannelKey { ChannelKey(appID: id, type: .none, name: "") }

    /// The number of the shard in which storage keeps metadata, locks and history of the channel. SQL
    /// computes it, too, so it comes from a hash that PostgreSQL has: the first three bytes of SHA-256 over
    /// the type, the app, a byte that no text has, and the name, modulo the number of shards.
    package func storageShard(among count: Int) -> Int {
        guard count > 1 else { return 0 }
        let text = [UInt8(truncatingIfNeeded: type.rawValue)] + Array(appID.utf8) + [0xFF] + Array(name.utf8)
        return MessageDigest.make(of: text).prefix(3).reduce(0) { $0 << 8 | Int($1) } % count
    }
}
