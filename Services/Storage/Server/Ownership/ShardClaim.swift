import Synchronization

/// Whether this node wants a shard. The thread that watches the owners says so, and the shard's writer takes
/// the shard or gives it up accordingly, between two groups.
package final class ShardClaim: Sendable {
    private struct State {
        var isWanted = false
        var wake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    package var isWanted: Bool { state.withLock { $0.isWanted } }

    package func set(_ isWanted: Bool) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            defer { state.isWanted = isWanted }
            return state.isWanted == isWanted ? nil : state.wake
        }
        wake?()
    }

    /// - Parameter wake: called from another thread when the claim changes.
    func onChange(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}
