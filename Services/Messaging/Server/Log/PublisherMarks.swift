import RTMWire

/// How far each publishing client has got in one log. A message that arrives after a newer one of its client
/// is refused, so nobody sees a client's messages in another order than it published them (M-25).
///
/// A message can be late although its client has gone on: it waits in a connection that lets nothing through
/// for a while, and the client gives the call up, or comes back over another edge and sends the message
/// again. When the late message arrives, its call was answered already, or nobody waits for the answer any
/// more. A link that is silent for so long is given up well before the log's tail has forgotten the newer
/// message, so a client is remembered for as long as its newest message is in the tail.
///
/// Most messages follow one of the same client, and those cost no lookup.
struct PublisherMarks {
    private struct Mark {
        var sequence: UInt64
        /// The offset of the client's newest entry.
        var offset: UInt64
    }

    /// With fewer marks than this there is nothing to gain by forgetting.
    private static let forgetMin = 16

    /// The instance of the client that published last; 0 if nobody has published.
    private var newestInstance: UInt64 = 0
    private var newest = Mark(sequence: 0, offset: 0)
    /// The other clients by their instance. The newest client may be here, too, with an old mark.
    private var others: [UInt64: Mark] = [:]
    /// When there are this many others, the ones that the tail has forgotten are removed. The value is twice
    /// the number that then remains, so each mark is visited about once for each one that is added.
    private var forgetAt = forgetMin

    var count: Int { others.count + (newestInstance == 0 || others[newestInstance] != nil ? 0 : 1) }

    /// Whether these messages follow everything that their client has in the log; if so, they are remembered.
    ///
    /// - Parameters:
    /// - end: the offset that the last of the messages gets.
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
