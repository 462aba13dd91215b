import NIOCore

/// The deadlines of all connections of a loop, with one timer for all of them.
final class ConnectionDeadlines {
    /// Limit: connections that a turn of the loop looks at, because each of them may have to be closed.
    private static let checksPerTurn = 32
    /// How long the others wait. NIO looks at its sockets meanwhile.
    private static let pause = TimeAmount.microseconds(100)

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
        for connection in wheel.advance(to: now, countMax: Self.checksPerTurn) {
            connection.checkDeadline(now: now)
        }
        // Counted from here: what is due when the turn ends would run before NIO looks at its sockets.
        if let due = wheel.nextDue { arm(max(due, eventLoop.now + Self.pause)) }
    }
}
