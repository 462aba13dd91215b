import RTMWire

/// How far each publishing client has got in one log: what it sent earlier and comes later is refused, so
/// that nobody sees a client's messages in another order than it published them (M-25).
///
/// A message can be late although its client has gone on: it waits in a connection that lets nothing through
/// for a while, its client gives the call up, or comes back over another edge and sends it again, and goes
/// on. What comes then was answered already, or nobody waits for it any more. Links that are silent for so
/// long are given up long before the log's tail has forgotten the newer message, so a client is remembered
/// for as long as its newest message is in the tail.
///
/// Most messages follow one of the same client, and then nothing is looked up.
struct PublisherMarks {
    private struct Mark {
        var sequence: UInt64
        /// Of its newest entry.
        var offset: UInt64
    }

    /// Below so many there is nothing to gain by forgetting.
    private static let forgetMin = 16

    /// Who published last; 0 = nobody.
    private var newestInstance: UInt64 = 0
    private var newest = Mark(sequence: 0, offset: 0)
    /// The others by their instance; the newest may be here, too, with an old mark.
    private var others: [UInt64: Mark] = [:]
    /// When the others are as many as this, those that the tail has forgotten are forgotten. As it is twice
    /// what then remains, each is looked at about once for each that comes.
    private var forgetAt = forgetMin

    var count: Int { others.count + (newestInstance == 0 || others[newestInstance] != nil ? 0 : 1) }

    /// Whether these messages follow all that their client has in the log; then they are remembered.
    ///
    /// - Parameters:
    ///   - end: the offset that the last of them gets.
    ///   - tail: the offset of the oldest entry that the log keeps.
    mutating func admits(_ origin: PublishOrigin, count: Int, end: UInt64, tail: UInt64) -> Bool {
        guard origin.instance != 0, origin.sequence != 0 else { return true }
        if origin.instance != newestInstance {
            if let known = others[origin.instance], origin.sequence <= known.sequence { return false }
            setAside(tail: tail)
            newestInstance = origin.instance
        } else if origin.sequence <= newest.sequence {
            return false
        }
        newest = Mark(sequence: origin.sequence &+ UInt64(count) &- 1, offset: end)
        return true
    }

    private mutating func setAside(tail: UInt64) {
        guard newestInstance != 0 else { return }
        others[newestInstance] = newest
        guard others.count >= forgetAt else { return }
        others = others.filter { $0.value.offset >= tail }
        forgetAt = max(Self.forgetMin, 2 * others.count)
    }
}
