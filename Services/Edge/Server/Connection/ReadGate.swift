/// Whether a connection's socket is read. While the gate is closed, what the client sends stays in the
/// sockets, and TCP slows the client down. Pure.
struct ReadGate {
    /// Why a gate is closed. It opens when no reason is left.
    struct Reasons: OptionSet {
        let rawValue: UInt8

        /// Messaging hasn't taken yet what the client has published.
        static let publishes = Reasons(rawValue: 1)
        /// The client's requests have filled a turn of the loop.
        static let requests = Reasons(rawValue: 2)
        /// Too many calls wait until the client has read the answers to those before.
        static let answers = Reasons(rawValue: 4)
        static let all: Reasons = [.publishes, .requests, .answers]
    }

    private var reasons: Reasons = []
    /// NIO asked to read while the gate was closed.
    private var isReadDue = false

    var isClosed: Bool { !reasons.isEmpty }

    /// NIO wants to read. Returns whether it may.
    mutating func mayRead() -> Bool {
        if isClosed { isReadDue = true }
        return !isClosed
    }

    mutating func close(_ reason: Reasons) { reasons.insert(reason) }

    /// Returns whether a read is due.
    mutating func open(_ reasons: Reasons) -> Bool {
        self.reasons.subtract(reasons)
        guard !isClosed else { return false }
        defer { isReadDue = false }
        return isReadDue
    }
}
