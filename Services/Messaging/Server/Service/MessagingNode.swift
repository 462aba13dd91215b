package import RTMServiceKit
import RTMServiceLink
import RTMWire

/// A messaging node: a `MessagingShard` for each shard, some of which it leads. All of it lives on one event
/// loop.
package final class MessagingNode: ShardedNode {
    package let shards: [MessagingShard]
    private let metrics: MessagingMetrics
    private let clock: () -> UInt64
    private var peak = MemoryPeak()
    /// The names of the nodes of the installation; empty if there is no journal.
    private var names: [String] = []
    private let page: AdminPage?
    private var pageDue: UInt64 = 0

    /// - Parameters:
    ///   - clock: the time in milliseconds (UTC).
    ///   - page: shows the status of the shards; updated once a second.
    package init(
        _ shards: [MessagingShard], metrics: MessagingMetrics, page: AdminPage? = nil,
        clock: @escaping () -> UInt64
    ) {
        self.shards = shards
        self.metrics = metrics
        self.page = page
        self.clock = clock
    }

    /// Nodes came and went.
    func learned(_ names: [String]) {
        guard names != self.names else { return }
        self.names = names
        announce(names.compactMap(NodeName.address))
    }

    /// Where a node of the installation is reached, for callers that are relayed to it.
    ///
    /// - Parameter address: as it was announced to the callers.
    func address(of address: String) -> ServiceLinkAddress? {
        names.lazy.compactMap(NodeName.address).map { .tcp(host: $0.host, port: Int($0.port)) }
            .first { "\($0)" == address }
    }

    private func showPage(_ now: UInt64) {
        guard let page, now >= pageDue else { return }
        pageDue = now + 1_000
        page.show(ShardsPage(nodes: names, shards: shards.map(\.status)).json)
    }

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
        showPage(now)
        return peak.shouldRelease(held: brokers.map(\.bytesHeld).reduce(0, +), now: now)
    }
}
