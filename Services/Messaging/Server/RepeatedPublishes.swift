import RTMWire

/// Which messages of a log were appended from a second sending, because the first had not come (M-25).
///
/// The first may only be late: it waits in a connection between an edge and messaging that lets nothing
/// through for a while, and the client, which came back over another edge, was faster. When it comes after
/// all it must not be appended, too. Nobody waits for its answer any more.
struct RepeatedPublishes {
    /// How long a first sending can be under way: a link that is silent for longer has been given up.
    private static let lateMax: UInt64 = 60_000

    private struct Repeat {
        var sequence: UInt64
        var at: UInt64
    }

    /// By instance of the client: the newest one.
    private var newest: [UInt64: Repeat] = [:]

    mutating func appended(_ origin: PublishOrigin, now: UInt64) {
        guard origin.againAfter != nil else { return }
        newest = newest.filter { $0.value.at + Self.lateMax > now }
        newest[origin.instance] = Repeat(
            sequence: max(origin.sequence, newest[origin.instance]?.sequence ?? 0), at: now)
    }

    /// A first sending of what the client has given up, or has sent again since. Nearly always there is
    /// nothing to look for.
    func isLate(_ origin: PublishOrigin) -> Bool {
        guard !newest.isEmpty, origin.againAfter == nil, origin.sequence != 0 else { return false }
        return newest[origin.instance].map { origin.sequence <= $0.sequence } ?? false
    }
}
