/// How far each publishing client has got in one log. A message that arrives after a newer one of its client
/// is refused, so nobody sees a client's messages in another order than it published them, or twice (M-25).
///
/// A message can be late although its client has published others since: it waits in a connection that lets
/// nothing through for a while, and the client gives the call up, or comes back over another edge and sends
/// the message again. When the late message arrives, its call was answered already, or nobody waits for the
/// answer any more. A link that is silent for 15 seconds is given up, so nothing is later than that. A client
/// is remembered for `lateMax`, and for as long as its newest message is in the tail.
///
/// Most messages follow one of the same client, and those cost no lookup.
struct PublisherMarks {
    struct Mark {
        fileprivate(set) var sequence: UInt64
        /// When the client's newest entry came.
        fileprivate var timestamp: UInt64
        /// Where that entry is.
        fileprivate(set) var place = EntryPlace.none
    }

    /// How much later than its successor a message may arrive, in milliseconds.
    static let lateMax: UInt64 = 60_000

    /// With fewer marks than this there is nothing to gain by forgetting.
    private static let forgetMin = 16

    /// The client that published last; 0 if nobody has published.
    private var newestClient: UInt64 = 0
    private var newest = Mark(sequence: 0, timestamp: 0)
    /// The other clients. The newest client may be here, too, with an old mark.
    private var others: [UInt64: Mark] = [:]
    /// When there are this many others, the ones that can't be late any more are removed. The value is twice
    /// the number that then remains, so each mark is visited about once for each one that is added.
    private var forgetAt = forgetMin

    var count: Int { others.count + (newestClient == 0 || others[newestClient] != nil ? 0 : 1) }

    /// What is known of the newest message of a client; nil if none of its messages is in the tail, or can
    /// be late.
    subscript(client: UInt64) -> Mark? { client == newestClient ? newest : others[client] }

    /// Whether these messages follow everything that their client has in the log; if so, they are remembered.
    ///
    /// - Parameter oldest: the earliest time at which an entry came that the tail keeps.
    mutating func admits(_ origin: EntryOrigin, count: Int, oldest: UInt64, now: UInt64) -> Bool {
        guard origin.client != 0 else { return true }
        if origin.client != newestClient {
            if let known = others[origin.client], origin.sequence <= known.sequence { return false }
            setAside(oldest: oldest, now: now)
            newestClient = origin.client
        } else if origin.sequence <= newest.sequence {
            return false
        }
        newest = Mark(
            sequence: origin.sequence &+ UInt64(count) &- 1, timestamp: max(now, newest.timestamp))
        return true
    }

    /// Remembers where the newest of the messages is that were admitted last.
    mutating func notePlace(_ place: EntryPlace) { newest.place = place }

    private mutating func setAside(oldest: UInt64, now: UInt64) {
        guard newestClient != 0 else { return }
        others[newestClient] = newest
        guard others.count >= forgetAt else { return }
        others = others.filter { $0.value.timestamp >= oldest || $0.value.timestamp + Self.lateMax >= now }
        forgetAt = max(Self.forgetMin, 2 * others.count)
    }
}
