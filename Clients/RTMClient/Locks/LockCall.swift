import RTMModel
import RTMProtocol

/// A call of the app that may change who holds a lock.
struct LockCall {
    let key: LockKey
    let body: ClientBody
    /// An acquisition ends with the fencing token, any other call with 0.
    let completion: Completion<UInt64>
    /// Whether the acquisition has stood in line before and lost its place.
    var isRenewed = false

    var operation: Operation { completion.operation }
    var acquires: Bool { operation == .acquireLock }

    /// Whether the acquisition waits in line for as long as it takes (K-4).
    var waits: Bool {
        if case .acquireLock(let request) = body { return request.retry }
        return false
    }

    /// How long to wait until the acquisition stands in line again, or `nil` if the error ends it. The server
    /// has lost the line, or can't be asked for the moment (K-6).
    func pauseAfter(_ error: RTMError) -> Duration? {
        guard waits, let pause = error.retryAfter else { return nil }
        switch error.code {
        case .lockOperationTimeout: return pause
        // There are too many acquisitions at once. The app kept the limit; it is the return of the link
        // that exceeds it.
        case .lockNotAvailable, .lockOperationFailed: return isRenewed ? pause : nil
        default: return nil
        }
    }
}
