import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMPublishHook
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// All loops of an edge, each on its own event loop.
struct EdgeNode: Service {
    let name = "edge loops"
    let group: MultiThreadedEventLoopGroup
    private let loops: [ObjectIdentifier: NIOLoopBound<EdgeLoop>]

    /// Makes a loop on every event loop of the group.
    static func make(
        on group: MultiThreadedEventLoopGroup,
        _ make: @escaping @Sendable (_ number: Int, any EventLoop) -> EdgeLoop
    ) async throws -> EdgeNode {
        var loops: [ObjectIdentifier: NIOLoopBound<EdgeLoop>] = [:]
        for (number, eventLoop) in group.makeIterator().enumerated() {
            loops[ObjectIdentifier(eventLoop)] = try await eventLoop.submit {
                NIOLoopBound(make(number, eventLoop), eventLoop: eventLoop)
            }.get()
        }
        return EdgeNode(group: group, loops: loops)
    }

    private init(group: MultiThreadedEventLoopGroup, loops: [ObjectIdentifier: NIOLoopBound<EdgeLoop>]) {
        self.group = group
        self.loops = loops
    }

    /// The edge's loop on the event loop that the caller is on.
    func loop(of eventLoop: any EventLoop) -> EdgeLoop {
        guard let loop = loops[ObjectIdentifier(eventLoop)] else {
            preconditionFailure("a connection was accepted on an event loop without an edge loop")
        }
        return loop.value
    }

    var count: Int { loops.count }

    /// Runs the body in a turn of one of the loops; nil if that has ended.
    func on<Result: Sendable>(
        _ number: Int, _ body: @escaping @Sendable (EdgeLoop) -> Result
    ) async -> Result? {
        guard let eventLoop = Array(group.makeIterator()).dropFirst(number).first else { return nil }
        return try? await eventLoop.submit { body(loop(of: eventLoop)) }.get()
    }

    /// Takes over the apps and hooks of a new configuration.
    func take(_ applications: [Application], _ hooks: [String: PublishHook]) {
        for eventLoop in group.makeIterator() {
            eventLoop.execute { loop(of: eventLoop).take(applications, hooks) }
        }
    }

    func start() async throws {
        for eventLoop in group.makeIterator() {
            try await eventLoop.submit { loop(of: eventLoop).start() }.get()
        }
    }

    /// Sends all sessions away, at a pace that other edges can take, and then closes the links.
    func shutdown(deadline: ContinuousClock.Instant) async {
        for eventLoop in group.makeIterator() {
            let drained = eventLoop.makePromise(of: Void.self)
            eventLoop.execute { loop(of: eventLoop).drain(drained) }
            try? await drained.futureResult.get()
        }
        // The loops wait for their clients together: one client that doesn't close holds up its loop.
        let closes = group.makeIterator().map { eventLoop in
            let closed = eventLoop.makePromise(of: Void.self)
            eventLoop.execute { loop(of: eventLoop).awaitCloses(closed) }
            return closed.futureResult
        }
        for closed in closes { try? await closed.get() }
    }
}
