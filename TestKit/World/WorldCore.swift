import Dispatch
import Foundation
import NIOCore
import NIOEmbedded
import RTMClient
import RTMEdgeServer
import RTMModel
import RTMPresenceServer
import RTMServiceKit
import RTMServiceLink
import Synchronization

/// What is in a world, on the world's thread: servers, the network, and how time passes.
///
/// Time passes while packets are on their way, and by `advance`. Whenever an app received something, time
/// stands still until the app has acted.
final class WorldCore {
    let world: VirtualWorld
    let network: SimulatedNetwork
    let refusals = Refusals()
    let loop: WorldLoop
    let watch: AppWatch
    let configuration: Configuration
    private let thread: WorldThread
    private let directory: String
    /// By the host of a client.
    private var users: [Host: String] = [:]
    private var cutUsers: Set<String> = []
    private var delays: [String: TimeAmount] = [:]
    private var edge: EdgeProcess?
    private var messaging: MessagingProcess?
    private var presence: PresenceProcess?
    private var storage: StorageProcess?
    private var lives = 0
    private var isSettling = false
    private var hasEnded = false
    /// Nobody can ask for anything any more.
    private var isReleased = false

    private static let edgeHost = Host("edge")

    init(_ configuration: Configuration, seed: UInt64, latency: Duration, on thread: WorldThread) {
        world = VirtualWorld(seed: seed)
        network = SimulatedNetwork(world)
        network.weather = SimulatedNetwork.Weather(steady: latency)
        self.configuration = configuration
        self.thread = thread
        loop = WorldLoop(thread, world.loop)
        let bell = Bell()
        let bound = NIOLoopBound(bell, eventLoop: world.loop)
        watch = AppWatch(thread) { bound.value.ring?() }
        directory =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("heliograph-\(UUID().uuidString)").path
        bell.ring = { [unowned self] in appInformed() }
    }

    private final class Bell {
        var ring: (() -> Void)?
    }

    // MARK: Servers

    /// Returns when they have found each other.
    func startAll() throws {
        for server in TestWorld.Server.allCases { try start(server) }
        world.pass(.seconds(1))
    }

    func start(_ server: TestWorld.Server) throws {
        lives += 1
        let random = world.random("\(server) \(lives)")
        switch server {
        case .edge where edge == nil: try startEdge(random)
        case .messaging where messaging == nil:
            messaging = MessagingProcess(configuration, in: network, random: random)
        case .presence where presence == nil: startPresence(random)
        case .storage where storage == nil:
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            storage = try StorageProcess(
                configuration, in: directory, messaging: [MessagingProcess.host], network, random: random)
        default: break
        }
    }

    private func startEdge(_ random: RandomStream) throws {
        edge = try EdgeProcess(
            Self.edgeHost, messaging: [MessagingProcess.host], in: network, random: random,
            between: { [unowned self] in [RefusalHandler(refusals, of: users[$0.peerHost] ?? "")] },
            make: { [configuration] in
                try EmbeddedEdge(configuration, named: "edge", $0, in: $1)
            })
    }

    private func startPresence(_ random: RandomStream) {
        var random = random
        presence = PresenceProcess(
            messaging: [MessagingProcess.host], in: network, random: random
        ) { [configuration, world] in
            EmbeddedPresence(
                configuration, messaging: $0, $1, random: &random, on: world.loop, logger: .silent)
        }
    }

    func stop(_ server: TestWorld.Server) {
        switch server {
        case .edge: edge.take()?.kill(silently: false)
        case .messaging: messaging.take()?.kill(silently: false)
        case .presence: presence.take()?.kill(silently: false)
        case .storage: storage.take()?.kill(silently: false)
        }
    }

    // MARK: Clients

    /// Connects a client with the edge. Each client is a device of its own.
    func dial(
        _ host: Host, of user: String, _ end: any ChannelHandler,
        _ failed: @escaping (String, ConnectionFailure?) -> Void
    ) {
        if users.updateValue(user, forKey: host) == nil {
            if cutUsers.contains(user) { cut(user) }
            network.delays[host] = delays[user]
        }
        network.connect(from: host, to: Self.edgeHost, timeout: .seconds(10)) { [world] result in
            do {
                try SocketHandler.attach(end, to: result.get(), on: world.loop)
            } catch {
                failed("the server can't be reached: \(error)", (error as? ConnectFailure)?.ofClient)
            }
        }
    }

    private func hosts(of user: String) -> [Host] {
        users.filter { $0.value == user }.map(\.key).sorted()
    }

    private func ways(of user: String) -> [Way] {
        hosts(of: user).map { Way(from: $0, to: Self.edgeHost) }.flatMap { [$0, $0.back] }
    }

    func cut(_ user: String) {
        cutUsers.insert(user)
        for way in ways(of: user) { network.block(way) }
    }

    func mend(_ user: String) {
        cutUsers.remove(user)
        for way in ways(of: user) { network.unblock(way) }
    }

    func disconnect(_ user: String) { for host in hosts(of: user) { network.cut(host, Self.edgeHost) } }

    func delay(_ user: String, by time: TimeAmount) {
        delays[user] = time == .zero ? nil : time
        for host in hosts(of: user) { network.delays[host] = delays[user] }
    }

    // MARK: Time

    /// A call that stays open for so long while nothing happens lets time pass; in seconds of the real time.
    private static let stall = 0.02
    /// So long an app's tasks may wait for a thread, and so long readers of events may take at least, in
    /// seconds of the real time.
    private static let waitLimit = (threads: 30.0, readers: 0.5)
    /// On a machine that is busy, a reader's turn comes late. So many times everything that waits for a
    /// thread gets one before a reader is no longer waited for.
    private static let readerTurns = 3

    /// What the thread does until the world and all its clients are released.
    func live() {
        while !isReleased || watch.livingClients > 0 {
            let isWoken = thread.wait(upTo: watch.openCalls > 0 && !hasEnded ? Self.stall : nil)
            takeClientWork()
            flow()
            while let work = thread.takeWorldWork() {
                work(self)
                flow()
            }
            if !isWoken { drift() }
        }
        world.pass(.seconds(60))
        network.end()
        world.end()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func advance(by time: TimeAmount) {
        appInformed()
        world.pass(time)
        appInformed()
        world.loop.run()
    }

    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        watch.closeAll()
        flow()
        for server in TestWorld.Server.allCases.reversed() { stop(server) }
    }

    func release() {
        end()
        isReleased = true
    }

    private func takeClientWork() {
        for task in thread.takeClientWork() { world.loop.execute(task) }
    }

    /// Lets everything happen that doesn't wait for a timer.
    private func flow() {
        world.loop.run()
        // What nobody waits for arrives soon, or with the time that passes later.
        var rest = 20
        while network.packetsUnderWay > 0, rest > 0 {
            if watch.openCalls == 0 { rest -= 1 }
            world.pass(.milliseconds(1))
            if thread.hasWork { break }
        }
        if thread.hasWork { takeClientWork() }
        world.loop.run()
    }

    /// The app waits for a call that waits for a timer: a second passes, at most.
    private func drift() {
        for _ in 0..<100 where watch.openCalls > 0 && !thread.hasWork { world.pass(.milliseconds(10)) }
    }

    // MARK: Apps

    /// An app received something. Nothing more happens before it has acted.
    private func appInformed() {
        guard !isSettling else { return }
        isSettling = true
        world.loop.execute { self.settle() }
    }

    private func settle() {
        isSettling = false
        var probe = AppProbe(thread)
        var turns = 0
        var end = DispatchTime.now() + Self.waitLimit.threads
        var readersEnd = DispatchTime.distantFuture
        repeat {
            thread.wait(forClientsOnly: true, upTo: probe.isDone ? 0.001 : 0.05)
            let work = thread.takeClientWork()
            guard work.isEmpty else {
                for task in work { world.loop.execute(task) }
                return appInformed()
            }
            guard probe.isDone || turns > 0 else { continue }
            guard watch.isAppBusy else { return }
            guard probe.isDone else { continue }
            if turns == 0 { readersEnd = .now() + Self.waitLimit.readers }
            turns += 1
            if turns >= Self.readerTurns, DispatchTime.now() >= readersEnd { break }
            probe = AppProbe(thread)
            end = .now() + Self.waitLimit.threads
        } while DispatchTime.now() < end
        watch.giveUp()
    }
}

extension SimulatedNetwork.Weather {
    /// Every packet takes the same time.
    init(steady latency: Duration) {
        let microseconds = Int(latency / .microseconds(1))
        self.init(delay: microseconds...microseconds, lossPerMille: 0, cutOneIn: 0, grain: 1)
    }
}

/// Goes through the threads that tasks run on, and through the main queue, behind everything that waits
/// there. When it has come through, tasks that had something to do have done it.
final class AppProbe: Sendable {
    private static let rounds = 8

    private let hasArrived = Atomic<Bool>(false)

    var isDone: Bool { hasArrived.load(ordering: .acquiring) }

    init(_ thread: WorldThread) {
        // Unstructured: who waits for it is no task.
        Task.detached { [self] in
            for _ in 0..<Self.rounds { await Task.yield() }
            await MainActor.run {}
            for _ in 0..<Self.rounds { await Task.yield() }
            hasArrived.store(true, ordering: .releasing)
            thread.nudge()
        }
    }
}
