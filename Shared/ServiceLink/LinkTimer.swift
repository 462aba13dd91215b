import NIOCore

protocol LinkTimerOwner: AnyObject {
    func timerFired()
}

/// One scheduled task per link for whatever is due next. It may fire early: then its owner finds nothing due
/// and arms it again, which is cheaper than to cancel and schedule at every frame.
final class LinkTimer {
    private let eventLoop: any EventLoop
    private weak var owner: (any LinkTimerOwner)?
    private var scheduled: (task: Scheduled<Void>, deadline: NIODeadline)?

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func setOwner(_ owner: any LinkTimerOwner) { self.owner = owner }

    /// Fires at the deadline at the latest.
    func arm(_ deadline: NIODeadline?) {
        guard let deadline else { return }
        if let scheduled {
            guard deadline < scheduled.deadline else { return }
            scheduled.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            guard let self else { return }
            self.scheduled = nil
            self.owner?.timerFired()
        }
        scheduled = (task, deadline)
    }

    func cancel() {
        scheduled?.task.cancel()
        scheduled = nil
    }
}
