import Dispatch
import NIOCore
import NIOEmbedded

/// The event loop of one process, in the time of the world. The process can be stopped for a while, as
/// SIGSTOP does: what becomes due meanwhile is done when it continues. After its death nothing is done.
///
// Safety: all of a world happens on one thread.
final class ProcessLoop: EventLoop, @unchecked Sendable {
    private enum State {
        case running
        case paused([() -> Void])
        case dead
    }

    private let world: EmbeddedEventLoop
    private var state = State.running

    init(_ world: EmbeddedEventLoop) { self.world = world }

    func pause() { if case .running = state { state = .paused([]) } }

    func resume() {
        guard case .paused(let tasks) = state else { return }
        state = .running
        for task in tasks { task() }
    }

    /// What waits for the process to continue is cancelled.
    func die() {
        guard case .paused(let tasks) = state else {
            state = .dead
            return
        }
        state = .dead
        for task in tasks { task() }
    }

    private var isDead: Bool { if case .dead = state { true } else { false } }

    /// - Parameter task: is told whether the process has died.
    private func run(_ task: @escaping (_ isDead: Bool) -> Void) {
        guard case .paused(let tasks) = state else { return task(isDead) }
        state = .paused(tasks + [{ task(self.isDead) }])
    }

    // MARK: EventLoop

    var inEventLoop: Bool { world.inEventLoop }
    var now: NIODeadline { world.now }

    func execute(_ task: @escaping @Sendable () -> Void) {
        world.execute { self.run { isDead in if !isDead { task() } } }
    }

    func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
        scheduleTask(deadline: now, task).futureResult
    }

    @discardableResult
    func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        let promise = makePromise(of: T.self)
        let isolated = promise.assumeIsolated()
        let life = TaskLife()
        let scheduled = world.scheduleTask(deadline: deadline) {
            self.run { isDead in
                guard !isDead, !life.isCancelled else { return promise.fail(EventLoopError.cancelled) }
                isolated.completeWith(Result { try task() })
            }
        }
        scheduled.futureResult.assumeIsolated().whenFailure { promise.fail($0) }
        return Scheduled(promise: promise) {
            life.isCancelled = true
            scheduled.cancel()
        }
    }

    @discardableResult
    func scheduleTask<T>(in time: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        scheduleTask(deadline: now + time, task)
    }

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        die()
        callback(nil)
    }
}

// Safety: all of a world happens on one thread.
private final class TaskLife: @unchecked Sendable {
    var isCancelled = false
}
