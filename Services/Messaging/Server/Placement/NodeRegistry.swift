import NIOCore
import RTMRedis

/// The list of messaging nodes that live, which they keep in Redis, and what follows for the shards of this
/// node. It is confined to one event loop.
final class NodeRegistry {
    private let client: RedisClient
    private let node: String
    private let layout: String
    private let key: String
    private let lease: UInt64
    private let journals: [RedisJournal]
    private let tell: ([String]) -> Void
    private var balance: ShardBalance
    private var isRunning = false

    /// - Parameters:
    ///   - node: the name of this process, which no other process has.
    ///   - journals: by shard.
    ///   - lease: how long a node counts as living after its last word, in milliseconds.
    ///   - tell: is given the names of the nodes that live, each time that Redis has told them.
    init(
        _ client: RedisClient, prefix: String, node: String, layout: String, journals: [RedisJournal],
        lease: UInt64, tell: @escaping ([String]) -> Void
    ) {
        self.client = client
        self.node = node
        self.layout = layout
        self.journals = journals
        self.lease = lease
        self.tell = tell
        key = "{\(prefix)journal}:nodes"
        balance = ShardBalance(of: node, shards: journals.count, pause: 2 * lease)
    }

    func start() {
        isRunning = true
        client.start(delegate: self)
        goOn()
    }

    private func goOn() {
        guard isRunning else { return }
        register(for: lease)
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(lease / 4))) { [self] in goOn() }
    }

    private var eventLoop: any EventLoop { client.eventLoop }
    private var now: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }

    private func register(for lease: UInt64) {
        guard client.isUsable else { return }
        let command = JournalCommands.register(node, at: key, for: lease, layout: layout)
        client.send(command) { [self] outcome in
            // Without an answer the list stays as it was; the journals say what is wrong with Redis.
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
        tell(living.sorted())
        for (shard, journal) in journals.enumerated() {
            journal.place(isWanted: balance.isWanted(shard))
        }
        let led = journals.indices.filter { journals[$0].isLeading }
        if let (shard, heir) = balance.next(led: led, now: now) { journals[shard].handOver(to: heir) }
    }

    /// Every shard that this node leads goes to another one; then the connection to Redis ends.
    func shutdown(_ done: @escaping () -> Void) {
        isRunning = false
        register(for: 0)
        var left = journals.count
        for (shard, journal) in journals.enumerated() {
            journal.shutdown(heir: balance.heir(of: shard)) { [self] in
                left -= 1
                guard left == 0 else { return }
                client.shutdown()
                done()
            }
        }
    }
}

extension NodeRegistry: RedisClientDelegate {
    func redisIsUp() {
        register(for: lease)
        for journal in journals { journal.redisIsUp() }
    }

    func redisIsDown(_ cause: String) {
        for journal in journals { journal.redisIsDown(cause) }
    }
}
