/// What a broker keeps, and how much of it.
package struct BrokerLimits: Sendable {
    /// How many partitions an installation has.
    package var partitionCount: Int
    /// Which shard of the installation it is, of how many.
    package var shard = 0
    package var shards = 1
    /// How long an entry is kept if there is memory for it, in milliseconds.
    package var ageMax: UInt64
    /// For how long entries that storage hasn't collected are kept beyond that while it is away, in
    /// milliseconds.
    package var feedOutageMax: UInt64 = 3_600_000
    /// How many entries of a channel, and how many bytes of their frames, a reader gets who comes back.
    package var catchUpEntriesMax: Int
    package var catchUpBytesMax: Int
    /// How long a channel without entries and without interest is remembered in full; in milliseconds.
    package var idleMax: UInt64
    /// How many channels the node, an app, and a session within `idleMax` may have. Inboxes don't count.
    package var channelsMax: Int
    package var channelsPerAppMax: Int
    package var channelsPerSessionMax: Int
    /// How many forgotten channels of an app are remembered by their numbers.
    package var forgottenPerAppMax: Int
    /// How much memory the tails of all apps may take together, in bytes.
    package var tailBytesMax: Int
    /// How many bytes of frames a segment of a tail has, roughly.
    package var segmentBytes: Int

    /// The epoch of this shard's first partition, where all shards begin together.
    ///
    /// - Parameter first: the epoch of the first partition of the first shard.
    func firstEpoch(from first: UInt64) -> UInt64 { first + UInt64(shard * partitionCount) }

    package init(
        partitionCount: Int = 256, ageMax: UInt64, catchUpEntriesMax: Int, catchUpBytesMax: Int,
        idleMax: UInt64, channelsMax: Int, channelsPerAppMax: Int = .max,
        channelsPerSessionMax: Int = 1_000_000, forgottenPerAppMax: Int = 250_000,
        tailBytesMax: Int = .max, segmentBytes: Int = 60 * 1024
    ) {
        self.partitionCount = partitionCount
        self.ageMax = ageMax
        self.catchUpEntriesMax = catchUpEntriesMax
        self.catchUpBytesMax = catchUpBytesMax
        self.idleMax = idleMax
        self.channelsMax = channelsMax
        self.channelsPerAppMax = channelsPerAppMax
        self.channelsPerSessionMax = channelsPerSessionMax
        self.forgottenPerAppMax = forgottenPerAppMax
        self.tailBytesMax = tailBytesMax
        self.segmentBytes = segmentBytes
    }
}
