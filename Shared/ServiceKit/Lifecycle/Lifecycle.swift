package import Logging
internal import Synchronization

/// The shell around `LifecycleStateMachine`: signals and failures come in from any thread, and the runner
/// waits for the stop.
package final class Lifecycle: Sendable {
    private let machine: Mutex<LifecycleStateMachine>
    private let stop = Latch<ContinuousClock.Instant>()
    private let logger: Logger
    private let exitAtOnce: @Sendable (ExitCode) -> Void

    /// - Parameter exitAtOnce: ends the process. It is called on a second signal.
    package init(
        shutdownTimeout: Duration, logger: Logger, exitAtOnce: @escaping @Sendable (ExitCode) -> Void
    ) {
        machine = Mutex(LifecycleStateMachine(shutdownTimeout: shutdownTimeout))
        self.logger = logger
        self.exitAtOnce = exitAtOnce
    }

    package var state: LifecycleStateMachine.State { machine.withLock { $0.state } }

    /// The deadline of the shutdown, once it has begun; nil if the waiting task was cancelled.
    func stopRequested() async -> ContinuousClock.Instant? { await stop.wait() }

    func started() -> Bool { machine.withLock { $0.started() } }

    func drained() -> ExitCode { machine.withLock { $0.drained() } }

    package func signalReceived(_ number: Int32, now: ContinuousClock.Instant = .now) {
        switch machine.withLock({ $0.signalReceived(number, now: now) }) {
        case .drain(let deadline):
            logger.notice("shutting down", metadata: ["signal": .stringConvertible(number)])
            stop.resolve(deadline)
        case .exitAtOnce(let status):
            logger.warning(
                "a second signal ends the process", metadata: ["signal": .stringConvertible(number)])
            exitAtOnce(status)
        case .ignore: break
        }
    }

    func failed(_ error: any Error, now: ContinuousClock.Instant = .now) {
        let failure = ServiceFailure(error)
        let action = machine.withLock { $0.failed(failure.status, now: now) }
        // A task that is cancelled during the shutdown is not worth a log line.
        if action == .note && error is CancellationError { return }
        logger.critical("failed", metadata: ["code": "\(failure.code)", "cause": "\(failure.cause)"])
        if case .drain(let deadline) = action { stop.resolve(deadline) }
    }
}
