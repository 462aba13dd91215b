import RTMModel
import RTMProtocol

/// A call of the app that may change who holds a lock.
struct LockCall {
    let key: LockKey
    let body: ClientBody
    /// Acquiring answers with the fencing token, the others with nothing, for which 0 stands.
    let completion: Completion<UInt64>
    /// It has stood in line before, and lost its place.
    var isRenewed = false

    var operation: Operation { completion.operation }
    var acquires: Bool { operation == .acquireLock }

    /// K-4: it waits in line for as long as it takes.
    var waits: Bool {
        if case .acquireLock(let request) = body { return request.retry }
        return false
    }

    /// K-6: how long to wait until it stands in line anew; nil if the error ends it. The server has lost the
    /// line, or can't be asked for the moment.
    func pauseAfter(_ error: RTMError) -> Duration? {
        guard waits, let pause = error.retryAfter else { return nil }
        switch error.code {
        case .lockOperationTimeout: return pause
        // Too many at once: the app asked within the limit, it is the return that doesn't.
        case .lockNotAvailable, .lockOperationFailed: return isRenewed ? pause : nil
        default: return nil
        }
    }
}
