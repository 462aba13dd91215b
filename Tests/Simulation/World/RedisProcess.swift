import NIOCore
import NIOEmbedded
import RTMRedis
import RTMTestSupport

@testable import RTMMessagingServer
@testable import RTMTestKit

/// The Redis of an installation: a server at the network that answers one command after the other. It can
/// come back with other data than it had.
final class RedisProcess {
    static let host = Host("redis")
    /// How often a copy is made, with which it may come back, and how many there are.
    private static let copyInterval = TimeAmount.milliseconds(50)
    private static let copiesMax = 60

    enum Comeback {
        case withEverything
        case empty
        /// With what it had so many milliseconds ago.
        case older(milliseconds: Int)
    }

    private let network: SimulatedNetwork
    private let random: RandomStream
    private(set) var data: SimulatedRedis
    private var copies: [SimulatedRedis] = []
    /// Of a command, in microseconds.
    var cost = 20...200
    private var busyUntil = NIODeadline.uptimeNanoseconds(0)
    private var life = 0
    private var isRunning = false

    init(in network: SimulatedNetwork, random: RandomStream) {
        self.network = network
        self.random = random
        data = SimulatedRedis(run: "run 0", scripts: JournalScripts.all)
        data.uncutMax = random.pick([0, 3, 100]) ?? 0
        start()
        copy()
    }

    private func copy() {
        network.world.after(Self.copyInterval) {
            if self.isRunning { self.copies.append(self.data) }
            if self.copies.count > Self.copiesMax { self.copies.removeFirst() }
            self.copy()
        }
    }

    func start() {
        guard !isRunning else { return }
        isRunning = true
        busyUntil = network.world.loop.now
        network.listen(Self.host) { [unowned self] in serve($0) }
    }

    /// The process ends.
    ///
    /// - Parameter silently: with its machine.
    func kill(silently: Bool, _ comeback: Comeback) {
        isRunning = false
        life += 1
        network.kill(Self.host, silently: silently)
        switch comeback {
        case .withEverything: break
        case .empty: data.empty()
        case .older(let milliseconds):
            let age = milliseconds / Int(Self.copyInterval.nanoseconds / 1_000_000)
            if let copy = copies.dropLast(age).last ?? copies.first { data = copy }
        }
        copies = []
        data.restart(as: "run \(life)")
    }

    /// For how long what it was asked already keeps it busy.
    var backlog: TimeAmount { max(.zero, busyUntil - network.world.loop.now) }

    /// All data are deleted, and no client is told.
    func flush() { data.empty() }

    /// For so long no command is answered.
    func hang(for time: TimeAmount) { busyUntil = network.world.loop.now + time }

    private func serve(_ socket: Socket) {
        var words = RedisWords()
        socket.open(
            onBytes: { bytes in
                words.feed(bytes)
                while let command = words.next() { self.answer(command, to: socket) }
            }, onEnd: { _ in })
    }

    /// A command that was read is done, also when its client has gone.
    private func answer(_ command: [[UInt8]], to socket: Socket) {
        let loop = network.world.loop
        busyUntil = max(busyUntil, loop.now) + .microseconds(Int64(random.number(in: cost)))
        let life = life
        loop.scheduleTask(deadline: busyUntil) {
            guard life == self.life else { return }
            var bytes = ByteBuffer()
            self.data.answer(command, now: self.network.world.utcMilliseconds).encode(into: &bytes)
            socket.write(bytes) {}
        }
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
        network.connect(
            from: caller, to: RedisProcess.host, timeout: .init(configuration.connectTimeout)
        ) { result in
            do {
                try SocketHandler.attach(handler, to: result.get(), on: network.world.loop)
            } catch {
                failed("\(error)")
            }
        }
    }
}
