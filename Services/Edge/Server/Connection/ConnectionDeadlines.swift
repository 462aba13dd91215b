import NIOCore

/// The deadlines of all connections of a loop, with one timer for all of them.
final class ConnectionDeadlines {
    private let eventLoop: any EventLoop
    private var wheel: DeadlineWheel<ConnectionHandler>
    private var timer: (task: Scheduled<Void>, due: NIODeadline)?

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        wheel = DeadlineWheel(start: eventLoop.now)
    }

    /// How many connections there are.
    var count: Int { wheel.count }

    /// The connection is asked at this time, or before, whether its deadline has passed.
    func remind(_ connection: ConnectionHandler, at deadline: NIODeadline) {
        arm(wheel.insert(connection, deadline: deadline))
    }

    func forget(_ connection: ConnectionHandler) { wheel.remove(connection) }

    private func arm(_ due: NIODeadline) {
        if let timer {
            guard due < timer.due else { return }
            timer.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.turn() }
        timer = (task, due)
    }

    private func turn() {
        timer = nil
        let now = eventLoop.now
        for connection in wheel.advance(to: now) { connection.checkDeadline(now: now) }
        if let due = wheel.nextDue { arm(due) }
    }
}
