import RTMModel

/// The snapshots of big channels that a loop is getting from presence, each in parts and for all sessions
/// that wait for one. Pure.
///
/// A session appears in the snapshots that begin after its join. So a session that comes while a snapshot is
/// being read waits for the next one, together with all others. However many come at once, the snapshots of a
/// channel are read one after the other, and the sessions that share a snapshot share its bytes.
struct RosterReads<Reader> {
    /// Limit: snapshots read at the same time.
    static var atOnceMax: Int { 2 }

    private var waiting: [ChannelKey: [Reader]] = [:]
    /// The channels that a session waits for, the longest wait first.
    private var order: [ChannelKey] = []
    private var reads: [ChannelKey: (readers: [Reader], pages: [AskedPage])] = [:]

    mutating func wait(_ reader: Reader, for channel: ChannelKey) {
        if waiting[channel] == nil { order.append(channel) }
        waiting[channel, default: []].append(reader)
    }

    /// The channel whose snapshot has to be asked for now, from the beginning.
    mutating func begin() -> ChannelKey? {
        guard reads.count < Self.atOnceMax, let index = order.firstIndex(where: { reads[$0] == nil }) else {
            return nil
        }
        let channel = order.remove(at: index)
        reads[channel] = (waiting.removeValue(forKey: channel) ?? [], [])
        return channel
    }

    mutating func received(_ part: AskedPage, of channel: ChannelKey) { reads[channel]?.pages.append(part) }

    /// All parts have come, or no more will.
    mutating func end(_ channel: ChannelKey) -> (readers: [Reader], pages: [AskedPage]) {
        reads.removeValue(forKey: channel) ?? ([], [])
    }
}
