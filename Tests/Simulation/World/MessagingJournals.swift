import Logging
import NIOCore
import RTMRedis
import RTMServiceKit
import RTMWire

@testable import RTMMessagingServer
@testable import RTMServiceLink
@testable import RTMTestKit

/// What a messaging node has in Redis, put together as a process puts it together.
final class MessagingJournals {
    /// What the world should know of a node.
    enum News {
        /// It has become the leader of a shard, whose first partition has this epoch.
        case becameLeader(shard: Int, epoch: UInt64)
        case log(String)
    }

    let loop: ProcessLoop
    let registry: NodeRegistry
    private let client: RedisClient
    private let shards: [MessagingShard]

    init(
        of messaging: MessagingNode, at host: Host, _ company: MessagingNodeProcess.Company,
        on loop: ProcessLoop, in network: SimulatedNetwork, random: RandomStream,
        received: @escaping (News) -> Void
    ) {
        self.loop = loop
        let shards = messaging.shards
        self.shards = shards
        let bound = NIOLoopBound(random, eventLoop: network.world.loop)
        let node = "\(host):\(SimulatedNetwork.port)/" + String(random.next() >> 32, radix: 16)
        let news = NIOLoopBound(received, eventLoop: network.world.loop)
        let logger = Logger(label: "\(host)") { label in
            TextLogHandler(label: label, now: { "" }) { news.value(.log(String($0.dropLast()))) }
        }
        let sentinel = RedisEndpoint.tcp(host: RedisProcess.sentinel.description, port: 1)
        var redis = RedisConfiguration(.sentinel([sentinel], master: RedisProcess.master))
        redis.dialer = SimulatedRedisDialer(network, from: host)
        redis.random = { bound.value.share() }
        redis.commandTimeout = company.commandTimeout
        client = RedisClient(redis, scripts: JournalScripts.all, on: loop, logger: logger)
        let layout = "\(shards.count) shards of \(shards[0].limits.partitionCount) partitions"
        let limits = JournalLimits(
            lease: company.lease, retention: shards[0].limits.ageMax, bytesMax: 1 << 29, backlogMax: 1 << 23,
            reconnect: redis.reconnectMax.milliseconds)
        let probes = ReadinessRegistry(
            logger: Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() })
        let metrics = JournalMetrics(MetricsRegistry(), shards: shards.count)
        let confirmation = JournalConfirmation(.journal, lease: company.lease, shards: shards.count)
        let client = client
        let journals = shards.enumerated().map { number, shard in
            RedisJournal(
                client, names: JournalNames(prefix: "", of: shard.limits, node: node, layout: layout),
                limits: limits, confirmation: confirmation, probe: probes.probe("journal \(number)"),
                metrics: metrics, logger: logger,
                random: { bound.value.next() | 1 })
        }
        registry = NodeRegistry(
            client, prefix: "", node: node, layout: layout, journals: journals, lease: company.lease,
            logger: logger, didLearnNodes: { messaging.learned($0) })
        let endOfTurn = EndOfTurn.shared(on: loop)
        for (shard, journal) in zip(shards, journals) {
            shard.journal = ShardJournal(redis: journal, endOfTurn: endOfTurn)
            journal.start(delegate: WatchedShard(shard, received))
        }
        registry.start()
    }

    /// The process is gone. What is let go here says nothing to anybody.
    func end() {
        loop.die()
        client.shutdown()
        for shard in shards { shard.journal = nil }
    }
}

/// A shard, of which the world learns that it leads.
private final class WatchedShard: JournalDelegate {
    private let shard: MessagingShard
    private let received: (MessagingJournals.News) -> Void

    init(_ shard: MessagingShard, _ received: @escaping (MessagingJournals.News) -> Void) {
        self.shard = shard
        self.received = received
    }

    func didBecomeLeader(_ term: JournalTerm, isAnew: Bool) {
        received(.becameLeader(shard: shard.limits.shard, epoch: term.epoch))
        shard.didBecomeLeader(term, isAnew: isAnew)
    }

    func didReinstate(_ term: JournalTerm) { shard.didReinstate(term) }
    func didBeginRecovery(_ term: JournalTerm) { shard.didBeginRecovery(term) }
    func didDiscardRecovery() { shard.didDiscardRecovery() }
    func didReadBatch(_ batch: UnsafeRawBufferPointer) throws(JournalFault) {
        try shard.didReadBatch(batch)
    }
    var hasReadHeads: Bool { shard.hasReadHeads }
    func takeRecords() -> ByteBuffer { shard.takeRecords() }
    func didWriteBatches(through number: UInt64) { shard.didWriteBatches(through: number) }
    func makeCheckpointPage(isFirst: Bool) -> (bytes: ByteBuffer, isLast: Bool) {
        shard.makeCheckpointPage(isFirst: isFirst)
    }
    func didBeginAwaitingSuccessor(_ reason: String) { shard.didBeginAwaitingSuccessor(reason) }
    func didResumeServing() { shard.didResumeServing() }
    func didStepDown(_ reason: String, closesLinks: Bool) {
        shard.didStepDown(reason, closesLinks: closesLinks)
    }
}
