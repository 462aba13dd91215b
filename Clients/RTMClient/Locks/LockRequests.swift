import RTMModel
import RTMProtocol

/// A call of the app that may change who owns a lock.
struct LockCallRequest: Request {
    let locks: OwnLocks
    let call: LockCall

    var operation: Operation { call.operation }

    func answered(_ body: ServerBody) -> Bool {
        switch body {
        case .lockAcquired(let answer) where call.acquires: locks.acquired(call, token: answer.fencingToken)
        case .done where !call.acquires: locks.done(call)
        default: return false
        }
        return true
    }

    func refused(_ error: RTMError) { locks.refused(call, error) }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        guard locks.givenUp(call, error) else { return nil }
        return { body in if case .lockAcquired = body { locks.acquiredLate(call.key) } }
    }

    func lost(_ reason: String) { locks.lost(call, reason) }
}

/// The client's own acquisition after a reconnect, which keeps a lock that it owned (K-12).
struct ClaimRequest: Request {
    let locks: OwnLocks
    let claim: LockLedger.Claim

    var operation: Operation { .acquireLock }

    func answered(_ body: ServerBody) -> Bool {
        guard case .lockAcquired(let answer) = body else { return false }
        locks.confirmed(claim, token: answer.fencingToken)
        return true
    }

    func refused(_ error: RTMError) { locks.refused(claim, error) }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        locks.undecided(claim)
        return nil
    }

    /// The next connection claims the lock again.
    func lost(_ reason: String) {}
}

/// Gives up a lock that this client doesn't want any more, whether it owned the lock or only waited for it.
struct WithdrawRequest: Request {
    let locks: OwnLocks
    let key: LockKey
    let completion: Completion<Void>?

    var operation: Operation { .releaseLock }

    func answered(_ body: ServerBody) -> Bool {
        guard case .done = body else { return false }
        locks.withdrawn(key)
        completion?.succeed()
        return true
    }

    func refused(_ error: RTMError) {
        if error.isNotHeld { locks.withdrawn(key) }
        completion?.succeed()
    }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        completion?.succeed()
        return nil
    }

    func lost(_ reason: String) { completion?.succeed() }
}

/// A call of the app that may change who owns a lock.
struct LockCall {
    let key: LockKey
    let body: ClientBody
    /// An acquisition ends with the fencing token, any other call with 0.
    let completion: Completion<UInt64>
    /// Whether the acquisition was in the server's queue before, and was removed from it.
    var isRenewed = false

    var operation: Operation { completion.operation }
    var acquires: Bool { operation == .acquireLock }

    /// Whether the acquisition waits in the server's queue for as long as it takes (K-4).
    var waits: Bool {
        if case .acquireLock(let request) = body { return request.retry }
        return false
    }

    /// How long to wait until the acquisition is sent again, or `nil` if the error ends it. The server has
    /// lost the queue, or isn't available for the moment (K-6).
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
