/// The life of a service process: starting → running → draining → stopped. Pure; the shell is `Lifecycle`.
///
/// The first SIGTERM or SIGINT, or a failure, begins the drain. A second signal ends the process at once,
/// because the operator who sends it doesn't want to wait. The same signal within a second is the same
/// request: many supervisors signal a process and then its whole group. A failure during the drain changes
/// nothing.
package struct LifecycleStateMachine: Sendable {
    package enum State: Sendable, Hashable {
        /// Services are being started. Followed by `running`, or by `draining` if one fails or a signal comes
        /// first.
        case starting
        /// Everything was started. Whether traffic is welcome depends on the readiness probes as well.
        case running
        /// No new work is accepted. Services shut down in reverse order until the deadline, then the process
        /// ends with the status.
        case draining(until: ContinuousClock.Instant, then: ExitCode)
        /// The end: only `exit` follows.
        case stopped(ExitCode)
    }

    /// A signal that comes again sooner than this means what it meant before.
    static let repeatTime = Duration.seconds(1)

    private(set) var state = State.starting
    private let shutdownTimeout: Duration
    private var firstSignal: (number: Int32, at: ContinuousClock.Instant)?

    package init(shutdownTimeout: Duration) { self.shutdownTimeout = shutdownTimeout }

    /// Every service is started. Returns true if this is to be announced, and false if the process is already
    /// on its way out.
    package mutating func started() -> Bool {
        guard case .starting = state else { return false }
        state = .running
        return true
    }

    package enum SignalAction: Sendable, Hashable {
        /// The shell begins the shutdown of the services.
        case drain(until: ContinuousClock.Instant)
        /// The shell ends the process without another step.
        case exitAtOnce(ExitCode)
        /// The signal has come twice.
        case ignore
    }

    package mutating func signalReceived(_ number: Int32, now: ContinuousClock.Instant) -> SignalAction {
        switch state {
        case .starting, .running:
            let deadline = now + shutdownTimeout
            state = .draining(until: deadline, then: .ok)
            firstSignal = (number, now)
            return .drain(until: deadline)
        case .draining, .stopped:
            if let firstSignal, firstSignal.number == number, now < firstSignal.at + Self.repeatTime {
                return .ignore
            }
            return .exitAtOnce(.signal(number))
        }
    }

    package enum FailureAction: Sendable, Hashable {
        /// The shell logs the failure and begins the shutdown of the services.
        case drain(until: ContinuousClock.Instant)
        /// The shell logs the failure; the shutdown continues.
        case note
    }

    package mutating func failed(_ status: ExitCode, now: ContinuousClock.Instant) -> FailureAction {
        switch state {
        case .starting, .running:
            let deadline = now + shutdownTimeout
            state = .draining(until: deadline, then: status)
            return .drain(until: deadline)
        case .draining, .stopped: return .note
        }
    }

    /// All services are shut down, or the deadline has passed. Returns the exit code of the process.
    package mutating func drained() -> ExitCode {
        switch state {
        case .starting, .running: preconditionFailure("nothing was drained in the state \(state)")
        case .draining(_, let status):
            state = .stopped(status)
            return status
        case .stopped(let status): return status
        }
    }
}

extension LifecycleStateMachine.State {
    /// Whether the process is on its way out.
    var isEnding: Bool {
        switch self {
        case .starting, .running: false
        case .draining, .stopped: true
        }
    }

    /// The state's name as `/ready` shows it.
    var name: String {
        switch self {
        case .starting: "starting"
        case .running: "running"
        case .draining: "draining"
        case .stopped: "stopped"
        }
    }
}
