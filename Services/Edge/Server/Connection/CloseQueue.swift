import DequeModule
import NIOCore

/// A connection whose client has closed its end.
protocol ClosingConnection: AnyObject {
    /// Closes our end, too.
    func closeSocket()
}

/// Closes the connections of a loop that their clients have closed. When a crowd leaves at once, NIO would
/// close thousands of them in one turn, while all other clients of the loop wait. So those behind the first
/// wait instead.
final class CloseQueue<Member: ClosingConnection> {
    /// Limit: connections that a turn of the loop closes. To close one takes 20 microseconds.
    static var closesPerTurn: Int { 32 }
    /// How long the others wait. NIO looks at its sockets meanwhile.
    static var pause: TimeAmount { .microseconds(100) }

    private let eventLoop: any EventLoop
    private var waiting: Deque<Member> = []
    private var isScheduled = false

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Closes the connection when the loop has looked at its sockets.
    func add(_ member: Member) {
        waiting.append(member)
        guard !isScheduled else { return }
        isScheduled = true
        eventLoop.assumeIsolated().execute { self.turn() }
    }

    private func turn() {
        for _ in 0..<min(Self.closesPerTurn, waiting.count) { waiting.removeFirst().closeSocket() }
        isScheduled = !waiting.isEmpty
        guard isScheduled else { return }
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.turn() }
    }
}
