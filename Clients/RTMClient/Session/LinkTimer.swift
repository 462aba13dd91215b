import NIOCore

/// The one timer of a link, armed for the nearest of all its deadlines.
///
/// A timer that fires too early does no harm, so that it is only replaced for an earlier deadline.
final class LinkTimer {
    typealias Instant = ContinuousClock.Instant

    private let eventLoop: any EventLoop
    private var armed: (deadline: Instant, task: Scheduled<Void>)?

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Whether the timer fires at this time or before.
    func covers(_ deadline: Instant) -> Bool { armed.map { $0.deadline <= deadline } ?? false }

    /// - Parameters:
    ///   - deadline: `nil` to disarm the timer.
    ///   - fire: called on the event loop.
    func arm(for deadline: Instant?, now: Instant, fire: @escaping () -> Void) {
        guard let deadline else { return disarm() }
        guard !covers(deadline) else { return }
        disarm()
        // Deadlines are finer than nanoseconds: rounded down, the timer would fire before its time.
        let delay = TimeAmount(max(.zero, deadline - now)) + .nanoseconds(1)
        let task = eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.armed = nil
            fire()
        }
        armed = (deadline, task)
    }

    private func disarm() {
        armed?.task.cancel()
        armed = nil
    }
}
