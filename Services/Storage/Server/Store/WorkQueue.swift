import Dispatch
import Synchronization

/// Work for a thread or a few: put in from anywhere, taken out in order and many at a time.
///
/// A group commit comes from this: while the thread is busy with one group, the next one gathers.
final class WorkQueue<Work: Sendable>: Sendable {
    private struct State {
        var waiting: [Work] = []
        var isClosed = false
    }

    /// Limit: one more is refused.
    let countMax: Int
    private let threads: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter threads: that take work out.
    init(countMax: Int, threads: Int = 1) {
        self.countMax = countMax
        self.threads = threads
    }

    var count: Int { state.withLock { $0.waiting.count } }

    /// False: the queue is full or closed.
    ///
    /// - Parameter mayOverfill: for what must not be lost, such as the end of a session.
    func put(_ work: Work, mayOverfill: Bool = false) -> Bool {
        let (isTaken, wasEmpty) = state.withLock { state in
            guard !state.isClosed, mayOverfill || state.waiting.count < countMax else {
                return (false, false)
            }
            state.waiting.append(work)
            return (true, state.waiting.count == 1)
        }
        if wasEmpty { wake.signal() }
        return isTaken
    }

    /// Waits for work, until the deadline at the latest; empty: that has passed. Nil: the queue is closed and
    /// everything in it was taken.
    func take(countMax: Int, until deadline: DispatchTime) -> [Work]? {
        while true {
            let (group, isClosed) = state.withLock { state in
                let group = Array(state.waiting.prefix(countMax))
                state.waiting.removeFirst(group.count)
                return (group, state.isClosed)
            }
            if !group.isEmpty { return group }
            if isClosed { return nil }
            if wake.wait(timeout: deadline) == .timedOut { return [] }
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        for _ in 0..<threads { wake.signal() }
    }
}
