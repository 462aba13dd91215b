internal import Dispatch
internal import Foundation
internal import Synchronization

/// Writes the log on a thread of its own. Whoever logs never waits for whoever reads the log: a full pipe of
/// a container's log driver, or one Ctrl-S in a terminal, would otherwise stop every event loop at its next
/// line.
final class LogOutput: Sendable {
    /// The log of this process, and what it writes to standard output while it serves.
    static let process = LogOutput { $0.write($1) }

    /// Limit: bytes of lines that wait to be written, some 20,000 lines.
    static let bytesMax = 4 << 20

    private struct State {
        var queue: LogQueue
        var isStarted = false
        /// Whether the thread has taken lines that it hasn't written yet.
        var isWriting = false
        /// Whether somebody waits until nothing is left.
        var isAwaited = false
        var writeGap: @Sendable (Int) -> Void = { _ in }
    }

    private let state: Mutex<State>
    private let work = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    private let write: @Sendable (StandardStream, String) -> Void

    /// - Parameter write: may take as long as it likes.
    init(bytesMax: Int = LogOutput.bytesMax, write: @escaping @Sendable (StandardStream, String) -> Void) {
        state = Mutex(State(queue: LogQueue(bytesMax: bytesMax)))
        self.write = write
    }

    /// How many lines were dropped since the start.
    var droppedCount: Int { state.withLock { $0.queue.droppedCount } }

    /// Sets how the log says that lines are missing. It is called on the thread that writes.
    func onGap(_ write: @escaping @Sendable (_ lines: Int) -> Void) { state.withLock { $0.writeGap = write } }

    func add(_ text: String, to stream: StandardStream) {
        let isFirst = state.withLock { state in
            state.queue.add(text, to: stream)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if isFirst { start() }
        work.signal()
    }

    /// Waits until everything is written, for the end of the process, and at most as long as the limit: then
    /// nobody reads.
    func finish(within limit: DispatchTimeInterval = .seconds(1)) {
        let isDone = state.withLock { state in
            state.isAwaited = !state.queue.isEmpty || state.isWriting
            return !state.isAwaited
        }
        if !isDone { _ = done.wait(timeout: .now() + limit) }
    }

    private func start() {
        let thread = Thread { [self] in
            while true {
                work.wait()
                writeWhatWaits()
            }
        }
        thread.name = "log"
        thread.start()
    }

    private func writeWhatWaits() {
        while true {
            let (elements, writeGap) = state.withLock { state in
                let elements = state.queue.take()
                state.isWriting = !elements.isEmpty
                if elements.isEmpty && state.isAwaited {
                    state.isAwaited = false
                    done.signal()
                }
                return (elements, state.writeGap)
            }
            guard !elements.isEmpty else { return }
            for element in elements {
                switch element {
                case .line(let text, let stream): write(stream, text)
                case .gap(let lines): writeGap(lines)
                }
                state.withLock { $0.queue.written(element) }
            }
        }
    }
}
