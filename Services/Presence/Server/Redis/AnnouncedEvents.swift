import RTMModel

/// Up to which event of which source the observer was informed, by channel. Pure.
///
/// A forgotten entry is an hour old, so its events were acknowledged long ago or are still in Redis.
struct AnnouncedEvents {
    private var lastAnnounced = GenerationalCache<ChannelKey, (source: UInt64, sequence: UInt64)>(
        lifetime: 3_600_000)
    private var emptied: Set<ChannelKey> = []

    var count: Int { lastAnnounced.count }

    mutating func rosterSeen(_ channel: ChannelKey, isEmpty: Bool) {
        if isEmpty { emptied.insert(channel) } else { emptied.remove(channel) }
    }

    /// The last event that the observer knows or doesn't need to know.
    mutating func base(_ channel: ChannelKey, _ reply: RosterReply) -> UInt64 {
        guard let lastAnnounced = lastAnnounced[channel], lastAnnounced.source == reply.source else {
            return reply.acknowledged
        }
        return max(lastAnnounced.sequence, reply.acknowledged)
    }

    /// The observer gets these events.
    mutating func announced(_ channel: ChannelKey, _ reply: RosterReply, _ events: RosterReply.Events) {
        let last = max(events.last?.sequence ?? 0, base(channel, reply))
        if reply.isEmpty && events.isEmpty && last <= reply.acknowledged {
            lastAnnounced[channel] = nil
            emptied.remove(channel)
        } else {
            lastAnnounced[channel] = (reply.source, last)
        }
    }

    mutating func acknowledged(_ channel: ChannelKey, of source: UInt64, through sequence: UInt64) {
        guard let known = lastAnnounced[channel], known.source == source else { return }
        if sequence >= known.sequence, emptied.remove(channel) != nil { lastAnnounced[channel] = nil }
    }

    mutating func forgetIdle(now: UInt64) { lastAnnounced.forgetIdle(now: now) }
}
