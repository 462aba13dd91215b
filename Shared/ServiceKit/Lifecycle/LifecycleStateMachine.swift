/// The life of a service process: starting → ready → draining → stopped. Pure; the shell is `Lifecycle`.
///
/// The first SIGTERM or SIGINT, or a failure, begins the drain; a second signal ends the process at once,
/// because whoever sends it has lost patience. A failure that comes while draining changes nothing any
/// more.
package struct LifecycleStateMachine: Sendable {
    package enum State: Sendable, Hashable {
        /// Services are being started. Followed by `ready`, or by `draining` if one fails or a signal comes
        /// first.
        case starting
        /// Everything was started. Whether traffic is welcome is up to the readiness probes as well.
        case ready
        /// No new work; services shut down in reverse order until the deadline, then the process ends with
        /// the status.
        case draining(until: ContinuousClock.Instant, then: ExitCode)
        /// The end: only `exit` follows.
        case stopped(ExitCode)
    }

    private(set) var state = State.starting
    private let shutdownTimeout: Duration

    package init(shutdownTimeout: Duration) { self.shutdownTimeout = shutdownTimeout }

    /// Every service is started. True: announce it; false: the process is on its way out already.
    package mutating func started() -> Bool {
        guard case .starting = state else { return false }
        state = .ready
        return true
    }

    package enum SignalAction: Sendable, Hashable {
        /// The shell begins the shutdown of the services.
        case drain(until: ContinuousClock.Instant)
        /// The shell ends the process without another step.
        case exitAtOnce(ExitCode)
    }

    package mutating func signalReceived(_ number: Int32, now: ContinuousClock.Instant) -> SignalAction {
        switch state {
        case .starting, .ready:
            let deadline = now + shutdownTimeout
            state = .draining(until: deadline, then: .ok)
            return .drain(until: deadline)
        case .draining, .stopped: return .exitAtOnce(.signal(number))
        }
    }

    package enum FailureAction: Sendable, Hashable {
        /// The shell logs the failure and begins the shutdown of the services.
        case drain(until: ContinuousClock.Instant)
        /// The shell logs the failure; the shutdown goes on.
        case note
    }

    package mutating func failed(_ status: ExitCode, now: ContinuousClock.Instant) -> FailureAction {
        switch state {
        case .starting, .ready:
            let deadline = now + shutdownTimeout
            state = .draining(until: deadline, then: status)
            return .drain(until: deadline)
        case .draining, .stopped: return .note
        }
    }

    /// All services are shut down, or the deadline passed. Returns what the process exits with.
    package mutating func drained() -> ExitCode {
        switch state {
        case .starting, .ready: preconditionFailure("nothing was drained in the state \(state)")
        case .draining(_, let status):
            state = .stopped(status)
            return status
        case .stopped(let status): return status
        }
    }
}

extension LifecycleStateMachine.State {
    /// As `/ready` shows it.
    var name: String {
        switch self {
        case .starting: "starting"
        case .ready: "ready"
        case .draining: "draining"
        case .stopped: "stopped"
        }
    }
}
