/// How much of what the clients of a loop have published is on its way to messaging, and whose sockets have
/// to be left unread until messaging has taken more of it. Pure.
///
/// All sessions of a loop share one link to messaging. A session that publishes faster than messaging takes
/// would fill it for all. So what each session has under way is counted, and who has too much of it
/// isn't read any more: TCP then slows that client down. While little is under way in all, one session may
/// have much of it; when the link fills, those who have most of it stop first.
struct PublishWindow {
    /// What a request costs beside its messages: its names, and its entry among the open requests.
    static let requestBytes = 512

    /// Limit: what one session may have under way.
    var sessionBytesMax = 1 << 20
    /// Limit: what all sessions may have under way before those with more than `shareBytesMax` stop.
    var loopBytesMax = 8 << 20
    /// No session with less than this stops, unless twice the loop's limit is under way.
    var shareBytesMax = 64 << 10

    /// One session's share of it.
    struct Share {
        fileprivate(set) var bytes = 0
        fileprivate(set) var isHeld = false
    }

    private(set) var bytes = 0
    private var held: Set<SessionKey> = []

    /// A request of the session is on its way. Returns whether its socket must be left unread from now on.
    mutating func sent(_ count: Int, by session: SessionKey, _ share: inout Share) -> Bool {
        bytes += count
        share.bytes += count
        guard !share.isHeld, isTooMuch(share) else { return false }
        share.isHeld = true
        held.insert(session)
        return true
    }

    private func isTooMuch(_ share: Share) -> Bool {
        share.bytes > sessionBytesMax || bytes > loopBytesMax && share.bytes > shareBytesMax
            || bytes > 2 * loopBytesMax
    }

    /// The request has its answer, or can't get one any more. Returns the sessions that may be read again, if
    /// `release` says so of each.
    mutating func answered(_ count: Int, of session: SessionKey, _ share: inout Share) -> [SessionKey] {
        let wasFull = bytes > loopBytesMax / 2
        bytes -= count
        share.bytes -= count
        if wasFull, bytes <= loopBytesMax / 2 { return Array(held) }
        return share.isHeld ? [session] : []
    }

    /// Whether a session that was held may be read again. It isn't held any more then.
    mutating func release(_ session: SessionKey, _ share: inout Share) -> Bool {
        guard share.isHeld, share.bytes <= sessionBytesMax / 2, bytes <= loopBytesMax / 2 else {
            return false
        }
        share.isHeld = false
        held.remove(session)
        return true
    }

    mutating func ended(_ session: SessionKey) { held.remove(session) }
}
