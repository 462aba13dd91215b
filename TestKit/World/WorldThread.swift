import Foundation
import Synchronization

/// The thread that a world lives on. Clients and tests put their work in from any thread.
final class WorldThread: Sendable {
    enum Work: Sendable {
        /// Something that a client does, or that is done to the world at once.
        case client(@Sendable () -> Void)
        /// Something that takes time; one after the other.
        case world(@Sendable (WorldCore) -> Void)
    }

    private struct State {
        var client: [@Sendable () -> Void] = []
        var world: [@Sendable (WorldCore) -> Void] = []
        var isWaiting = false
        var owner: ObjectIdentifier?
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// Begins the thread.
    func start(_ begin: @escaping @Sendable () -> WorldCore) {
        let thread = Thread { [self] in
            state.withLock { $0.owner = ObjectIdentifier(Thread.current) }
            let core = begin()
            core.live()
        }
        thread.name = "test world"
        thread.start()
    }

    var isCurrent: Bool { state.withLock { $0.owner } == ObjectIdentifier(Thread.current) }

    func put(_ work: Work) {
        let mustWake = state.withLock { state in
            switch work {
            case .client(let task): state.client.append(task)
            case .world(let task): state.world.append(task)
            }
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if mustWake { wake.signal() }
    }

    /// Something that another thread has done is to be looked at.
    func nudge() {
        let mustWake = state.withLock { state in
            defer { state.isWaiting = false }
            return state.isWaiting
        }
        if mustWake { wake.signal() }
    }

    var hasWork: Bool { state.withLock { !$0.client.isEmpty || !$0.world.isEmpty } }

    func takeClientWork() -> [@Sendable () -> Void] {
        state.withLock { state in
            defer { state.client = [] }
            return state.client
        }
    }

    func takeWorldWork() -> (@Sendable (WorldCore) -> Void)? {
        state.withLock { $0.world.isEmpty ? nil : $0.world.removeFirst() }
    }

    /// Waits for work of clients, or of anybody.
    ///
    /// - Returns: whether it was woken in time.
    @discardableResult
    func wait(forClientsOnly: Bool = false, upTo seconds: Double? = nil) -> Bool {
        let isThere = state.withLock { state in
            let isThere = !state.client.isEmpty || !forClientsOnly && !state.world.isEmpty
            state.isWaiting = !isThere
            return isThere
        }
        if isThere { return true }
        let deadline = seconds.map { DispatchTime.now() + $0 } ?? .distantFuture
        if wake.wait(timeout: deadline) == .success { return true }
        return state.withLock { state in
            // Somebody who has just found it waiting signals all the same.
            defer { state.isWaiting = false }
            if !state.isWaiting { wake.wait() }
            return !state.isWaiting
        }
    }
}
