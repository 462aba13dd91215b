/// Whether a connection's socket is read. While the gate is closed, what the client sends stays in the
/// sockets, and TCP slows the client down. Pure.
struct ReadGate {
    private(set) var isClosed = false
    /// NIO asked to read while the gate was closed.
    private var isReadDue = false

    /// NIO wants to read. Returns whether it may.
    mutating func mayRead() -> Bool {
        if isClosed { isReadDue = true }
        return !isClosed
    }

    mutating func close() { isClosed = true }

    /// Returns whether a read is due.
    mutating func open() -> Bool {
        defer { self = ReadGate() }
        return isReadDue
    }
}
