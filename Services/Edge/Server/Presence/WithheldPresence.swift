/// The subscriptions whose clients were so far behind that events of presence were not sent to them (P-28).
/// Each of them needs a new snapshot. Pure.
///
/// The channels of a session get their snapshots one after the other, each when the client has read what was
/// sent before. So no snapshot is read that a client can't take, and the messages of a channel wait for no
/// snapshot of another one.
struct WithheldPresence {
    private struct Channels {
        /// The indices of the channels, the longest wait first.
        var waiting: [Int]
        /// The channel that is getting its snapshot; nil while the client is awaited.
        var refreshing: Int?
    }

    private var sessions: [SessionKey: Channels] = [:]

    func contains(_ session: SessionKey, at channelIndex: Int) -> Bool {
        sessions[session]?.waiting.contains(channelIndex) ?? false
    }

    /// Events of a channel were not sent to a session.
    ///
    /// - Returns: whether `next` has to follow when the session's client has read what was sent before.
    mutating func add(_ session: SessionKey, at channelIndex: Int) -> Bool {
        guard let channels = sessions[session] else {
            sessions[session] = Channels(waiting: [channelIndex])
            return true
        }
        if !channels.waiting.contains(channelIndex) { sessions[session]?.waiting.append(channelIndex) }
        return false
    }

    /// The channel of which the session gets a snapshot now; nil if there are no more.
    mutating func next(of session: SessionKey) -> Int? {
        guard let next = sessions[session]?.waiting.first else {
            sessions[session] = nil
            return nil
        }
        sessions[session]?.waiting.removeFirst()
        sessions[session]?.refreshing = next
        return next
    }

    /// A session has got a snapshot of a channel, whatever it needed it for.
    ///
    /// - Returns: whether `next` has to follow, as after `add`.
    mutating func refreshed(_ session: SessionKey, at channelIndex: Int) -> Bool {
        guard sessions[session]?.refreshing == channelIndex else { return false }
        sessions[session]?.refreshing = nil
        return true
    }

    /// The session needs no snapshot of a channel that it has left.
    mutating func left(_ session: SessionKey, _ channelIndex: Int) {
        sessions[session]?.waiting.removeAll { $0 == channelIndex }
    }

    mutating func ended(_ session: SessionKey) { sessions[session] = nil }
}
