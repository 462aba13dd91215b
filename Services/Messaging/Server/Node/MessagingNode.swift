import RTMServiceKit
package import RTMServiceLink

/// A messaging node: what it has of each shard. All of it lives on one event loop.
package final class MessagingNode {
    package let shards: [MessagingShard]
    private let metrics: MessagingMetrics
    private let clock: () -> UInt64
    private var peak = MemoryPeak()

    /// - Parameter clock: the time in milliseconds (UTC).
    package init(_ shards: [MessagingShard], metrics: MessagingMetrics, clock: @escaping () -> UInt64) {
        self.shards = shards
        self.metrics = metrics
        self.clock = clock
    }

    /// The handler of a caller's link.
    package func handler(of link: AcceptedServiceLink) -> any ServiceLinkHandler { shards[link.shard] }

    /// Gives up old entries and forgets channels. The log sweep calls it at a regular interval.
    ///
    /// - Returns: whether so much was freed that it should go back to the system.
    package func sweep(_ count: Int) -> Bool {
        for shard in shards { shard.sweep(max(1, count / shards.count)) }
        let now = clock()
        let brokers = shards.lazy.map(\.broker)
        metrics.channels.set(brokers.map(\.channelCount).reduce(0, +))
        metrics.openChannels.set(brokers.map(\.openChannelCount).reduce(0, +))
        metrics.forgotten.set(brokers.map(\.forgottenCount).reduce(0, +))
        metrics.tailBytes.set(brokers.map(\.tailBytes).reduce(0, +))
        metrics.tailWindow.set(Int((brokers.map { $0.tailWindow(now: now) }.min() ?? 0) / 1_000))
        return peak.shouldRelease(held: brokers.map(\.bytesHeld).reduce(0, +), now: now)
    }
}
