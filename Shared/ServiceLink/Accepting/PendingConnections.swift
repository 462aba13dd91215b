import DequeModule

/// A connection that may not have logged in yet.
package protocol PendingConnection: AnyObject {
    /// Whether the connection is there and no login has been accepted over it.
    var isUnauthenticated: Bool { get }
    /// The client's address.
    var address: String { get }
}

/// The connections of a loop whose clients haven't logged in, the oldest first.
///
/// Silent connections cost an attacker nothing, and each of them may stay until its time to log in is over.
/// If they fill the server, newcomers replace them, so that they keep nobody out: a client that means
/// it logs in within a round trip or two, long before it is the oldest.
///
/// Members that have logged in, or have gone, leave late. There are never more than twice as many members as
/// strangers, beyond the first few.
///
/// Pure.
package struct PendingConnections<Member: PendingConnection> {
    /// Limit: members that are looked at to find one of a certain address.
    package static var searchMax: Int { 64 }
    private static var countMin: Int { 64 }

    // All are members. For a deque of `Member` the compiler would make code that looks the type up each time.
    private var queue: Deque<any PendingConnection> = []
    private var compactAt = Self.countMin

    package init() {}

    package var count: Int { queue.count }

    package mutating func add(_ member: Member) {
        trim()
        if queue.count >= compactAt {
            queue.removeAll { !$0.isUnauthenticated }
            compactAt = max(Self.countMin, 2 * queue.count)
        }
        queue.append(member)
    }

    /// To be called when a member has logged in, or has gone.
    package mutating func trim() {
        while let first = queue.first, !first.isUnauthenticated { queue.removeFirst() }
    }

    /// Takes out the oldest stranger.
    ///
    /// - Parameter address: if it isn't nil, only a connection from there will do.
    package mutating func takeOldest(from address: String? = nil) -> Member? {
        trim()
        guard let address else { return queue.popFirst() as? Member }
        let index = queue.prefix(Self.searchMax).firstIndex { $0.isUnauthenticated && $0.address == address }
        return index.flatMap { queue.remove(at: $0) as? Member }
    }
}
