import Logging
import NIOCore
import RTMRedis
import RTMServiceLink

/// The list of messaging nodes that live, which they keep in Redis, and which shards this node leads because
/// of it. It is confined to one event loop.
final class NodeRegistry {
    private let client: RedisClient
    private let node: String
    private let layout: String
    private let key: String
    private let lease: UInt64
    private let journals: [RedisJournal]
    private let didLearnNodes: ([String]) -> Void
    private var balance: ShardBalance
    private var isRunning = false
    private let logger: Logger
    private var stepDown: GracefulStepDown?

    /// - Parameters:
    ///   - node: the name of this process, which no other process has.
    ///   - journals: by shard.
    ///   - lease: how long a node counts as living after it was registered, in milliseconds.
    ///   - didLearnNodes: receives the names of the nodes that live, each time Redis has answered.
    init(
        _ client: RedisClient, prefix: String, node: String, layout: String, journals: [RedisJournal],
        lease: UInt64, logger: Logger, didLearnNodes: @escaping ([String]) -> Void
    ) {
        self.logger = logger
        self.client = client
        self.node = node
        self.layout = layout
        self.journals = journals
        self.lease = lease
        self.didLearnNodes = didLearnNodes
        key = "{\(prefix)journal}:nodes"
        balance = ShardBalance(of: node, shards: journals.count, pause: 2 * lease)
    }

    func start() {
        isRunning = true
        client.start(delegate: self)
        renew()
    }

    private func renew() {
        guard isRunning else { return }
        register(for: lease)
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(lease / 4))) { [self] in renew() }
    }

    private var eventLoop: any EventLoop { client.eventLoop }
    private var now: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }

    private func register(for lease: UInt64) {
        guard client.isUsable else { return }
        let command = JournalCommands.register(node, at: key, for: lease, layout: layout)
        client.send(command) { [self] outcome in
            // Without an answer the list stays as it was; the journals report what is wrong with Redis.
            guard isRunning, let reply = (try? outcome.get())?.elements?.map({ $0.string ?? "" }) else {
                return
            }
            if reply.first == "nodes" { learned(Array(reply.dropFirst())) }
            if reply.first == "other", reply.count > 1 {
                for journal in journals { journal.refuse(reply[1]) }
            }
        }
    }

    private func learned(_ living: [String]) {
        balance.learned(living, now: now)
        didLearnNodes(living.sorted())
        for (shard, journal) in journals.enumerated() {
            journal.assign(isPreferredLeader: balance.isPreferredLeader(of: shard))
        }
        let led = journals.indices.filter { journals[$0].leadership.keepsLogs }
        if let (shard, successor) = balance.next(led: led, now: now) {
            journals[shard].transferLeadership(to: successor)
        }
    }

    /// Every shard that this node leads goes to another one; then the connection to Redis ends.
    ///
    /// - Parameter time: how long the process may take to end, in milliseconds.
    func shutdown(within time: UInt64, _ done: @escaping () -> Void) {
        isRunning = false
        register(for: 0)
        stepDown = GracefulStepDown(within: time, now: now)
        var left = journals.count
        for (shard, journal) in journals.enumerated() {
            journal.shutdown(successor: balance.successor(of: shard)) { [self] in
                left -= 1
                guard left == 0 else { return }
                stepDown = nil
                client.shutdown()
                done()
            }
        }
        awaitSuccessors()
    }

    private func awaitSuccessors() {
        for journal in journals where !journal.leadership.keepsLogs { journal.end() }
        let leading = journals.indices.filter { journals[$0].leadership.keepsLogs }
        let shards: Logger.Metadata = ["shards": "\(leading)"]
        switch stepDown?.timePassed(keepsShards: !leading.isEmpty, isRedisUsable: client.isUsable, now: now) {
        case .end, nil: return
        case .wait: break
        case .report:
            logger.warning(
                "Redis can't be reached: this node waits for it before it ends, because nobody else has the newest messages",
                metadata: shards)
        case .giveUp:
            logger.error(
                "this node ends although Redis doesn't have everything: what is missing there is lost, and subscribers get a gap",
                metadata: shards)
            for journal in journals { journal.end() }
            return
        }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(50)) { [self] in awaitSuccessors() }
    }
}

extension NodeRegistry: RedisClientDelegate {
    func redisIsUp() {
        register(for: isRunning ? lease : 0)
        for journal in journals { journal.redisIsUp() }
    }

    func redisIsDown(_ cause: String) {
        for journal in journals { journal.redisIsDown(cause) }
    }
}
