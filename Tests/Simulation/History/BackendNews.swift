/// What backends, receivers and gateways did and saw. Events and positions are named by their offsets.
enum BackendNews {
    /// A gateway has become the owner of a webhook's reader.
    case claimed(String, String, term: UInt64, UInt64)
    /// A gateway asks storage to keep a position, and dead letters with it.
    case keeps(Keep, UInt64, [UInt64])
    /// Whether it was kept; nil if storage didn't answer.
    case kept(Keep, Bool?)
    /// A receiver has taken the events of one request.
    case received(String, [EventLine])
    case refused(String, [EventLine], String)
    /// A receiver got what is no request of a webhook.
    case unreadable(String, String)
    /// A backend has read a page of events behind an event; nil stands for the beginning.
    case polled(Int, after: String?, [EventLine], next: String)
    /// An operator asks for a webhook to be moved.
    case moves(Int, String, UInt64)
    /// Whether it was; nil if nobody answered.
    case moved(Int, Bool?)
    /// Where a webhook is, as an operator who asked at that time sees it.
    case listed(ReaderLine, askedAt: Duration)
    /// All dead letters of a webhook.
    case letters(String, [LetterLine])
    /// A message is to be accepted only directly behind this place of its channel.
    case conditional(String, epoch: UInt64, offset: UInt64)
    /// Where a message is that was published over HTTP.
    case accepted(String, epoch: UInt64, offset: UInt64)
}

/// A call that keeps a position.
struct Keep: Hashable {
    let gateway: String
    let webhook: String
    let term: UInt64
    /// Its place among those of the gateway.
    let number: Int
}

struct ReaderLine {
    let webhook: String
    let term: UInt64
    let position: UInt64
    /// The newest event of the app.
    let newest: UInt64
}

struct LetterLine {
    let event: EventLine
    /// In milliseconds (UTC).
    let time: UInt64
}
