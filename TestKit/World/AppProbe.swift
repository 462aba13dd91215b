import Synchronization

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
