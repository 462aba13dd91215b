import Foundation
import NIOCore

/// Where a client reads the time. The timers are those of its event loop. A simulation gives both the same
/// virtual time.
struct LinkClock: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// What the wall clock shows, in milliseconds since 1970.
    var utcMilliseconds: @Sendable () -> Int64

    static let system = LinkClock(
        now: { .now }, utcMilliseconds: { Int64(Date().timeIntervalSince1970 * 1000) })
}

/// The clock of a session: the local one, and what is known of the server's.
final class SessionClock {
    private let local: LinkClock
    /// What the server's clock showed at an instant, if it is known.
    private var server: (milliseconds: UInt64, at: ContinuousClock.Instant)?

    init(_ local: LinkClock) { self.local = local }

    var now: ContinuousClock.Instant { local.now() }

    /// Milliseconds since 1970 by the server's clock where it is known, otherwise by the local one. Once it
    /// is known, setting the local clock doesn't change it.
    var milliseconds: UInt64 {
        guard let server else { return UInt64(max(0, local.utcMilliseconds())) }
        return server.milliseconds + UInt64(max(0, Int((now - server.at) / .milliseconds(1))))
    }

    /// The server's clock shows this time now. 0 is no time, and changes nothing.
    func serverClockShows(_ milliseconds: UInt64) {
        guard milliseconds > 0 else { return }
        server = (min(milliseconds, UInt64(Int64.max)), now)
    }
}

/// The one timer of a link, armed for the nearest of all its deadlines.
///
/// A timer that fires too early does no harm, so it is only replaced for an earlier deadline.
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
