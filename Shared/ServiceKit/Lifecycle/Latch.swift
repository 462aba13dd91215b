internal import Synchronization

/// A value that is set once and that many can wait for. The first call that resolves it wins; later ones are
/// ignored.
final class Latch<Value: Sendable>: Sendable {
    private enum State {
        case open(waiting: [Int: CheckedContinuation<Value?, Never>], nextID: Int)
        case resolved(Value)
    }

    private let state = Mutex(State.open(waiting: [:], nextID: 0))

    func resolve(_ value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
            guard case .open(let waiting, _) = state else { return [] }
            state = .resolved(value)
            return Array(waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// The value, or nil if the waiting task was cancelled first.
    func wait() async -> Value? {
        let id = state.withLock { state -> Int in
            guard case .open(let waiting, let id) = state else { return 0 }
            state = .open(waiting: waiting, nextID: id + 1)
            return id
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in add(continuation, id: id) }
        } onCancel: {
            remove(id)?.resume(returning: nil)
        }
    }

    private func add(_ continuation: CheckedContinuation<Value?, Never>, id: Int) {
        // The cancellation handler may have run before this; then nobody else would resume the continuation.
        let isCancelled = Task.isCancelled
        let answer = state.withLock { state -> Value?? in
            switch state {
            case .resolved(let value): return .some(value)
            case .open(var waiting, let nextID):
                if isCancelled { return .some(nil) }
                waiting[id] = continuation
                state = .open(waiting: waiting, nextID: nextID)
                return .none
            }
        }
        if let answer { continuation.resume(returning: answer) }
    }

    private func remove(_ id: Int) -> CheckedContinuation<Value?, Never>? {
        state.withLock { state in
            guard case .open(var waiting, let nextID) = state else { return nil }
            let continuation = waiting.removeValue(forKey: id)
            state = .open(waiting: waiting, nextID: nextID)
            return continuation
        }
    }
}
