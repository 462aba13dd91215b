import RTMModel
package import RTMServiceKit
import RTMWire

// The limits that follow from the configuration.

extension BrokerLimits {
    /// The limits of one shard. A node may have to lead all of them.
    func share(of shard: Int, among shards: Int) -> BrokerLimits {
        var share = self
        (share.shard, share.shards) = (shard, shards)
        share.partitionCount = max(1, partitionCount / shards)
        share.channelsMax = max(1, channelsMax / shards)
        share.channelsPerAppMax = max(1, channelsPerAppMax / shards)
        share.channelsPerSessionMax = max(1, channelsPerSessionMax / shards)
        share.forgottenPerAppMax = forgottenPerAppMax / shards
        share.tailBytesMax = tailBytesMax / shards
        return share
    }

    package init(_ configuration: Configuration) {
        let ageMax = configuration[MessagingKeys.tailAgeMax].milliseconds
        self.init(
            ageMax: ageMax, catchUpEntriesMax: configuration[MessagingKeys.catchUpEntriesMax],
            catchUpBytesMax: configuration[MessagingKeys.catchUpBytesMax], idleMax: ageMax,
            channelsMax: configuration[MessagingKeys.channelsMax],
            channelsPerAppMax: configuration[MessagingKeys.channelsPerAppMax],
            channelsPerSessionMax: configuration[MessagingKeys.channelsPerSessionMax],
            forgottenPerAppMax: configuration[MessagingKeys.channelsPerAppMax],
            tailBytesMax: Self.tailBytesMax(configuration[MessagingKeys.tailTotalBytesMax]))
        feedOutageMax = configuration[MessagingKeys.feedOutageMax].milliseconds
    }

    private static func tailBytesMax(_ configured: Int) -> Int {
        configured > 0 ? configured : min(MachineMemory.bytes / 8, 384 * 1024 * 1024)
    }
}

extension JournalLimits {
    /// - Parameters:
    ///   - retention: how long a batch is kept, in milliseconds.
    ///   - reconnect: how long a node may need to reach a Redis that has returned, in milliseconds.
    init(_ configuration: Configuration, retention: UInt64, reconnect: UInt64) {
        self.init(
            lease: configuration[MessagingKeys.journalLease].milliseconds, retention: retention,
            bytesMax: configuration[MessagingKeys.journalBytesMax],
            backlogMax: configuration[MessagingKeys.journalBacklogMax], reconnect: reconnect)
    }
}
