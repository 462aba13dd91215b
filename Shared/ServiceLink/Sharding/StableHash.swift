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
