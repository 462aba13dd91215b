import Dispatch
import Synchronization

/// Work for one or more threads: any thread puts it in, and it is taken out in order and in groups.
///
/// A group commit comes from this: while the thread is busy with one group, the next one gathers.
final class WorkQueue<Work: Sendable>: Sendable {
    private struct State {
        var waiting: [Work] = []
        var isClosed = false
        /// Whether `take` is to return at once.
        var isInterrupted = false
    }

    /// Limit: waiting work. More is refused.
    let countMax: Int
    private let threads: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let notify: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - threads: how many threads take work out.
    ///   - notify: called when there is work again, for those who don't wait in `take`.
    init(countMax: Int, threads: Int = 1, notify: (@Sendable () -> Void)? = nil) {
        self.countMax = countMax
        self.threads = threads
        self.notify = notify
    }

    var count: Int { state.withLock { $0.waiting.count } }

    /// Returns false if the queue is full or closed.
    ///
    /// - Parameter mayOverfill: whether the limit is ignored, for work that must not be lost, such as the end
    ///   of a session.
    func put(_ work: Work, mayOverfill: Bool = false) -> Bool {
        let (isTaken, wasEmpty) = state.withLock { state in
            guard !state.isClosed, mayOverfill || state.waiting.count < countMax else {
                return (false, false)
            }
            state.waiting.append(work)
            return (true, state.waiting.count == 1)
        }
        if wasEmpty {
            wake.signal()
            notify?()
        }
        return isTaken
    }

    /// Lets `take` return once, with what work there is.
    func interrupt() {
        state.withLock { $0.isInterrupted = true }
        wake.signal()
    }

    /// Waits for work until the deadline. Returns an empty group when the deadline has passed or the wait was
    /// interrupted, and nil when the queue is closed and all its work was taken.
    func take(countMax: Int, until deadline: DispatchTime) -> [Work]? {
        while true {
            let (group, isClosed, isInterrupted) = state.withLock { state in
                let group = Array(state.waiting.prefix(countMax))
                state.waiting.removeFirst(group.count)
                defer { state.isInterrupted = false }
                return (group, state.isClosed, state.isInterrupted)
            }
            if !group.isEmpty { return group }
            if isClosed { return nil }
            if isInterrupted { return [] }
            if wake.wait(timeout: deadline) == .timedOut { return [] }
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        for _ in 0..<threads { wake.signal() }
    }
}
