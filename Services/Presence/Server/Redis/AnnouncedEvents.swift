import RTMModel

/// Up to which event of which source the observer was told, by channel. Pure.
///
/// A forgotten entry is an hour old, so its events were acknowledged long ago or are still in Redis.
struct AnnouncedEvents {
    private var told = GenerationalCache<ChannelKey, (source: UInt64, sequence: UInt64)>(lifetime: 3_600_000)
    private var emptied: Set<ChannelKey> = []

    var count: Int { told.count }

    mutating func source(of channel: ChannelKey) -> UInt64? { told[channel]?.source }

    mutating func rosterSeen(_ channel: ChannelKey, isEmpty: Bool) {
        if isEmpty { emptied.insert(channel) } else { emptied.remove(channel) }
    }

    /// The last event that the observer knows or doesn't need to know.
    mutating func base(_ channel: ChannelKey, _ reply: RosterReply) -> UInt64 {
        guard let told = told[channel], told.source == reply.source else { return reply.acknowledged }
        return max(told.sequence, reply.acknowledged)
    }

    /// The observer is told these events.
    mutating func tell(_ channel: ChannelKey, _ reply: RosterReply, _ events: RosterReply.Events) {
        let last = max(events.last?.sequence ?? 0, base(channel, reply))
        if reply.isEmpty && events.isEmpty && last <= reply.acknowledged {
            told[channel] = nil
            emptied.remove(channel)
        } else {
            told[channel] = (reply.source, last)
        }
    }

    mutating func acknowledged(_ channel: ChannelKey, through sequence: UInt64) {
        guard let known = told[channel] else { return }
        if sequence >= known.sequence, emptied.remove(channel) != nil { told[channel] = nil }
    }

    mutating func forgetIdle(now: UInt64) { told.forgetIdle(now: now) }
}
