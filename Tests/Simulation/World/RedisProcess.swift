import NIOCore
import NIOEmbedded
import RTMRedis
import RTMRedisTestSupport
import RTMTestSupport

@testable import RTMMessagingServer
@testable import RTMTestKit

/// The Redis of an installation: a master and a replica at the network, which answer one command after the
/// other, and a sentinel that names the master. The master can come back with other data than it had, and the
/// sentinel can choose the other server: the replica, or a former master that isn't a replica yet.
final class RedisProcess {
    static let sentinel = Host("sentinel")
    static let hosts = [Host("redis1"), Host("redis2")]
    static let master = "main"
    /// How often a copy is made, with which it may come back, and how many there are.
    private static let copyInterval = TimeAmount.milliseconds(50)
    private static let copiesMax = 60

    enum Comeback {
        case withEverything
        case empty
        /// With what it had so many milliseconds ago.
        case older(milliseconds: Int)
    }

    private struct Server {
        var data: SimulatedRedis
        var busyUntil = NIODeadline.uptimeNanoseconds(0)
        /// Grows with each end of the process.
        var life = 0
        var isRunning = false
    }

    private let network: SimulatedNetwork
    private let random: RandomStream
    private var servers: [Server]
    private var masterIndex = 0
    private var configEpoch: UInt64 = 0
    /// Whether the other server follows the master. One that was the master takes writes until somebody makes
    /// it a replica.
    private var isReplicated = true
    /// Of the master.
    private var copies: [SimulatedRedis] = []
    /// Of a command, in microseconds.
    var cost = 20...200

    init(in network: SimulatedNetwork, random: RandomStream) {
        self.network = network
        self.random = random
        let uncutMax = random.pick([0, 3, 100]) ?? 0
        servers = Self.hosts.map { host in
            var data = SimulatedRedis(run: "\(host)", scripts: JournalScripts.all)
            data.uncutMax = uncutMax
            return Server(data: data)
        }
        for index in servers.indices { start(index) }
        network.listen(Self.sentinel) { [unowned self] socket in serve(socket) { self.answerAsSentinel($0) } }
        copy()
    }

    var data: SimulatedRedis { servers[masterIndex].data }
    var host: Host { Self.hosts[masterIndex] }

    private func copy() {
        network.world.after(Self.copyInterval) {
            if self.servers[self.masterIndex].isRunning { self.copies.append(self.data) }
            if self.copies.count > Self.copiesMax { self.copies.removeFirst() }
            self.copy()
        }
    }

    /// The data of the master so many milliseconds ago.
    private func copy(from milliseconds: Int) -> SimulatedRedis {
        let age = milliseconds / Int(Self.copyInterval.nanoseconds / 1_000_000)
        return copies.dropLast(age).last ?? copies.first ?? data
    }

    /// The master runs.
    func start() { start(masterIndex) }

    private func start(_ index: Int) {
        guard !servers[index].isRunning else { return }
        servers[index].isRunning = true
        servers[index].busyUntil = network.world.loop.now
        network.listen(Self.hosts[index]) { [unowned self] socket in
            serve(socket) { self.answer($0, at: index, to: socket) }
        }
    }

    /// The process of the master ends.
    ///
    /// - Parameter silently: with its machine.
    func kill(silently: Bool, _ comeback: Comeback) {
        end(masterIndex, silently: silently)
        switch comeback {
        case .withEverything: break
        case .empty: servers[masterIndex].data.empty()
        case .older(let milliseconds): servers[masterIndex].data = copy(from: milliseconds)
        }
        copies = []
        servers[masterIndex].data.restart(as: "\(host), run \(servers[masterIndex].life)")
    }

    private func end(_ index: Int, silently: Bool) {
        servers[index].isRunning = false
        servers[index].life += 1
        network.kill(Self.hosts[index], silently: silently)
    }

    /// The sentinel makes the other server the master.
    ///
    /// - Parameters:
    ///   - lag: how many milliseconds a replica is behind the master.
    ///   - time: after that the server that was the master is a replica.
    func chooseOther(lag: Int, replicatedAfter time: TimeAmount) {
        let other = 1 - masterIndex
        if isReplicated { servers[other].data.takeOver(from: copy(from: lag)) }
        (masterIndex, copies, isReplicated) = (other, [], false)
        configEpoch += 1
        start()
        let epoch = configEpoch
        network.world.after(time) { [self] in
            guard epoch == configEpoch else { return }
            // Whoever is still connected there would only be refused.
            end(1 - masterIndex, silently: false)
            start(1 - masterIndex)
            isReplicated = true
        }
    }

    /// For how long what it was asked already keeps it busy.
    var backlog: TimeAmount { max(.zero, servers[masterIndex].busyUntil - network.world.loop.now) }

    /// All data are deleted, and no client is told.
    func flush() { servers[masterIndex].data.empty() }

    /// For so long no command is answered. What was sent meanwhile is done afterwards.
    func hang(for time: TimeAmount) {
        // Another reason to hang may last longer. Commands are done in the order in which they came.
        servers[masterIndex].busyUntil = max(servers[masterIndex].busyUntil, network.world.loop.now + time)
    }

    private func serve(_ socket: Socket, _ answer: @escaping ([[UInt8]]) -> RedisReply?) {
        var words = RedisWords()
        socket.open(
            onBytes: { bytes in
                words.feed(bytes)
                while let command = words.next() {
                    guard let reply = answer(command) else { continue }
                    var bytes = ByteBuffer()
                    reply.encode(into: &bytes)
                    socket.write(bytes) {}
                }
            }, onEnd: { _ in })
    }

    private func answerAsSentinel(_ command: [[UInt8]]) -> RedisReply {
        guard command.count == 3 else { return .text("PONG") }
        let words = ["ip", "\(host)", "port", "1", "config-epoch", "\(configEpoch)"]
        return .array(words.map { .text($0) })
    }

    /// A command that was read is done, also when its client has gone.
    private func answer(_ command: [[UInt8]], at index: Int, to socket: Socket) -> RedisReply? {
        let loop = network.world.loop
        servers[index].busyUntil =
            max(servers[index].busyUntil, loop.now) + .microseconds(Int64(random.number(in: cost)))
        let life = servers[index].life
        loop.scheduleTask(deadline: servers[index].busyUntil) {
            guard life == self.servers[index].life else { return }
            var bytes = ByteBuffer()
            self.servers[index].data.answer(command, now: self.network.world.utcMilliseconds)
                .encode(into: &bytes)
            socket.write(bytes) {}
        }
        return nil
    }
}

/// Opens connections to the Redis of an installation.
struct SimulatedRedisDialer: RedisDialing {
    private let network: NIOLoopBound<SimulatedNetwork>
    private let caller: Host

    init(_ network: SimulatedNetwork, from caller: Host) {
        self.network = NIOLoopBound(network, eventLoop: network.world.loop)
        self.caller = caller
    }

    func dial(
        _ endpoint: RedisEndpoint, _ configuration: RedisConfiguration,
        for handler: any ChannelInboundHandler,
        on eventLoop: any EventLoop, failed: @escaping (_ cause: String) -> Void
    ) {
        let network = network.value
        guard case .tcp(let host, _) = endpoint else { return failed("no address") }
        network.connect(
            from: caller, to: Host(host), timeout: .init(configuration.connectTimeout)
        ) { result in
            do {
                try SocketHandler.attach(handler, to: result.get(), on: network.world.loop)
            } catch {
                failed("\(error)")
            }
        }
    }
}
