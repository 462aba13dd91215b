package import NIOCore
import NIOPosix
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What the listeners of a process have in common.
package struct AcceptPolicy: Sendable {
    package let plan: DescriptorPlan
    /// A listener accepts no connection for a moment, for this reason. Without a reason: for some time it has
    /// not had to pause any more.
    package let report: @Sendable (_ listener: String, _ pause: String?) -> Void

    package init(
        _ plan: DescriptorPlan, report: @escaping @Sendable (_ listener: String, _ pause: String?) -> Void
    ) {
        self.plan = plan
        self.report = report
    }

    package static let unlimited = AcceptPolicy(.unlimited) { _, _ in }
}

/// Keeps a listener from taking the last descriptors of its process. It stops accepting for a moment when
/// there is no descriptor left, because the kernel keeps reporting a connection that can't be accepted, and a
/// loop that tried again would do nothing else.
package final class AcceptGuard: Sendable {
    private static let pause = TimeAmount.milliseconds(500)
    /// How long a crowd of newcomers waits before the next ones are accepted.
    private static let ease = TimeAmount.milliseconds(10)
    /// After such a time without a pause the listener is well again.
    private static let calm = TimeAmount.seconds(10)

    private struct State {
        var listener: (any Channel)?
        var isPaused = false
        /// How often the descriptors have run out.
        var pauses = 0
    }

    private let name: String
    private let caller: DescriptorPlan.Caller
    private let policy: AcceptPolicy
    private let state = Mutex(State())

    /// - Parameter name: what listens, in the words of the configuration.
    package init(_ name: String, for caller: DescriptorPlan.Caller, _ policy: AcceptPolicy) {
        self.name = name
        self.caller = caller
        self.policy = policy
    }

    /// To be called as the initializer of the listening channel, or as soon as it listens.
    package func watch(_ listener: any Channel) -> EventLoopFuture<Void> {
        state.withLock { $0.listener = listener }
        listener.closeFuture.whenComplete { _ in self.state.withLock { $0.listener = nil } }
        return listener.eventLoop.makeCompletedFuture {
            try listener.pipeline.syncOperations.addHandler(
                // Before handlers for which an error is the end of the listener.
                AcceptFailureHandler(self), position: .first)
        }
    }

    /// Whether a connection may stay that has just been accepted. Otherwise it is to be closed, and no others
    /// are accepted for a moment. Call it on the connection's loop.
    package func admits(_ connection: any Channel) -> Bool { admits(connection.descriptor) }

    /// - Parameter descriptor: the connection's descriptor; nil if it is no socket.
    package func admits(_ descriptor: CInt?) -> Bool {
        guard let descriptor, !policy.plan.mayKeep(Int(descriptor), for: caller) else { return true }
        exhausted("the last of its \(policy.plan.limit ?? 0) descriptors are kept for the process itself")
        return false
    }

    /// Accepts no connection for a few milliseconds, so that whoever was accepted before gets on.
    package func easeOff() { _ = stop(for: Self.ease) }

    fileprivate func failed(_ number: CInt) {
        exhausted(
            number == EMFILE
                ? "the process has no descriptor left (LimitNOFILE, ulimit -n)"
                : "the system has no descriptor left (fs.file-max)")
    }

    private func exhausted(_ cause: String) {
        guard let listener = stop(for: Self.pause) else { return }
        let number = state.withLock { state in
            state.pauses += 1
            return state.pauses
        }
        policy.report(name, "no connections are accepted at \(name) for the moment: \(cause)")
        listener.eventLoop.scheduleTask(in: Self.calm) {
            guard self.state.withLock({ $0.pauses == number }) else { return }
            self.policy.report(self.name, nil)
        }
    }

    /// Returns nil if the listener is paused already, or closed.
    private func stop(for time: TimeAmount) -> (any Channel)? {
        let listener = state.withLock { state -> (any Channel)? in
            guard !state.isPaused, let listener = state.listener else { return nil }
            state.isPaused = true
            return listener
        }
        guard let listener else { return nil }
        // A listener that has been closed meanwhile has no options any more, and both futures fail.
        _ = listener.setOption(.autoRead, value: false)
        listener.eventLoop.scheduleTask(in: time) {
            self.state.withLock { $0.isPaused = false }
            _ = listener.setOption(.autoRead, value: true)
        }
        return listener
    }
}

extension Channel {
    /// The descriptor of a socket; nil for other channels.
    ///
    /// `withUnsafeTransportIfAvailable` does the same by a cast that names the type of the transport. The
    /// runtime doesn't remember such casts: each takes more than two microseconds, a fortieth of a login.
    package var descriptor: CInt? {
        (_channelCore as? any NIOTransportAccessibleChannelCore)?.descriptor
    }
}

extension NIOTransportAccessibleChannelCore {
    fileprivate var descriptor: CInt? { try? withUnsafeTransport { $0 as? NIOBSDSocket.Handle } }
}

private final class AcceptFailureHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let acceptGuard: AcceptGuard

    init(_ acceptGuard: AcceptGuard) { self.acceptGuard = acceptGuard }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, error.errnoCode == EMFILE || error.errnoCode == ENFILE else {
            return context.fireErrorCaught(error)
        }
        acceptGuard.failed(error.errnoCode)
    }
}
