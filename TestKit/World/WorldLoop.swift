import Dispatch
import NIOCore
import NIOEmbedded

/// The event loop of the clients of a world. It runs in the world's time on the world's thread. Clients may
/// call `execute` from any thread, and what schedules only on that one.
final class WorldLoop: EventLoop {
    private let thread: WorldThread
    private let loop: NIOLoopBound<EmbeddedEventLoop>

    init(_ thread: WorldThread, _ loop: EmbeddedEventLoop) {
        self.thread = thread
        self.loop = NIOLoopBound(loop, eventLoop: loop)
    }

    var inEventLoop: Bool { thread.isCurrent }
    var now: NIODeadline { loop.value.now }

    func execute(_ task: @escaping @Sendable () -> Void) {
        if inEventLoop { loop.value.execute(task) } else { thread.put(.client(task)) }
    }

    func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
        scheduleTask(deadline: now, task).futureResult
    }

    @discardableResult
    func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        precondition(inEventLoop)
        return loop.value.scheduleTask(deadline: deadline, task)
    }

    @discardableResult
    func scheduleTask<T>(in time: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        scheduleTask(deadline: now + time, task)
    }

    /// It ends with its world.
    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { callback(nil) }
    }
}
