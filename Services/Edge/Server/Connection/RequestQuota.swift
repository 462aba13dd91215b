import NIOCore

/// How many requests of one client are dealt with in a turn of the loop. A read may bring thousands, and
/// everybody else on the loop would wait for the last of them. So after some of them the rest waits until the
/// loop has looked at its other sockets.
///
/// Publishes that are accepted don't count. They go on in runs, and rates and the `PublishWindow` bound them.
/// Pure: it is told the time.
struct RequestTurn {
    /// Limit: requests of one connection in a turn of the loop. 64 that are refused take a tenth of a
    /// millisecond.
    static let requestsMax: UInt16 = 64
    /// How long the rest waits. NIO looks at its sockets meanwhile.
    static let pause = TimeAmount.microseconds(100)

    private var instant = NIODeadline.uptimeNanoseconds(0)
    private var count: UInt16 = 0
    /// The rest waits.
    private(set) var isPaused = false

    /// The connection has had its share of this turn.
    var isOver: Bool { count >= Self.requestsMax }

    /// The connection is read, for the first time in a turn or once more.
    ///
    /// - Parameter now: the time of the turn.
    mutating func begin(now: NIODeadline) {
        guard instant != now else { return }
        instant = now
        count = 0
    }

    /// A request was answered, refused or passed on.
    mutating func dealt() { count += 1 }

    mutating func pause() { isPaused = true }

    /// The pause is over, and a new turn begins.
    mutating func goOn() { self = RequestTurn() }
}
