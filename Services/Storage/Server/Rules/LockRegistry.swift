import HeapModule
import RTMModel

/// The lock tables that have to be in memory: those with owners or waiters. The others lie in the store and
/// are loaded when somebody asks for them.
///
/// Tables change while a transaction is open, and it may fail. Until `committed` the registry remembers each
/// changed table as it was, and `rolledBack` restores it.
struct LockRegistry {
    private struct Deadline: Comparable {
        let time: UInt64
        let channel: ChannelKey

        static func < (left: Deadline, right: Deadline) -> Bool { left.time < right.time }
    }

    private var tables: [ChannelKey: LockTable] = [:]
    /// The changed tables as they were; nil for a table that was loaded since.
    private var before: [ChannelKey: LockTable?] = [:]
    /// By session: the channels in which it owns a lock or waits for one, or did so until another session of
    /// its user came.
    private var channelsOfSession: [SessionID: Set<ChannelKey>] = [:]
    private var sessionsOfLink: [UInt64: Set<SessionID>] = [:]
    /// The sessions and links that are forgotten when the present transaction is committed.
    private var forgotten: (sessions: [LockTable.SessionPlace], links: [UInt64]) = ([], [])
    /// Sessions that may have no lock in the channel any more; they are checked when the present transaction
    /// is committed.
    private var leaving: [(place: LockTable.SessionPlace, channel: ChannelKey)] = []
    /// Every deadline that a table has had. Outdated ones are recognised when their time comes.
    private var deadlines = Heap<Deadline>()

    var tableCount: Int { tables.count }

    /// Nil for a table that is only in the store.
    subscript(channel: ChannelKey) -> LockTable? { tables[channel] }

    /// Sets the table as it is within the present transaction.
    mutating func set(_ table: LockTable, of channel: ChannelKey) {
        if before.index(forKey: channel) == nil { before.updateValue(tables[channel], forKey: channel) }
        tables[channel] = table
        watch(channel, table)
    }

    private mutating func watch(_ channel: ChannelKey, _ table: LockTable) {
        guard let time = table.nextDeadline else { return }
        deadlines.insert(Deadline(time: time, channel: channel))
    }

    mutating func committed() {
        for (place, channel) in leaving where tables[channel]?.concerns(place.session) != true {
            forgetNow(place, in: channel)
        }
        leaving.removeAll(keepingCapacity: true)
        for channel in before.keys where tables[channel]?.isIdle == true { tables[channel] = nil }
        before.removeAll(keepingCapacity: true)
        for place in forgotten.sessions {
            channelsOfSession[place.session] = nil
            sessionsOfLink[place.link]?.remove(place.session)
        }
        for link in forgotten.links { forgetNow(link: link) }
        forgotten = ([], [])
    }

    mutating func rolledBack() {
        for (channel, table) in before {
            tables[channel] = table
            if let table { watch(channel, table) }
        }
        before.removeAll(keepingCapacity: true)
        leaving.removeAll(keepingCapacity: true)
        forgotten = ([], [])
    }

    // MARK: Sessions

    /// How many sessions own locks or wait for some.
    var sessionCount: Int { channelsOfSession.count }

    /// Remembers that the session has used a lock of the channel, so that its end concerns the channel.
    mutating func note(_ place: LockTable.SessionPlace, in channel: ChannelKey) {
        channelsOfSession[place.session, default: []].insert(channel)
        sessionsOfLink[place.link, default: []].insert(place.session)
    }

    func channels(of session: SessionID) -> Set<ChannelKey> { channelsOfSession[session] ?? [] }

    func channels(of link: UInt64) -> Set<ChannelKey> {
        (sessionsOfLink[link] ?? []).reduce(into: []) { $0.formUnion(channels(of: $1)) }
    }

    /// Forgets the session in this channel, unless it turns out to own or wait for another lock there.
    mutating func mayForget(_ place: LockTable.SessionPlace, in channel: ChannelKey) {
        leaving.append((place, channel))
    }

    private mutating func forgetNow(_ place: LockTable.SessionPlace, in channel: ChannelKey) {
        channelsOfSession[place.session]?.remove(channel)
        guard channelsOfSession[place.session]?.isEmpty == true else { return }
        channelsOfSession[place.session] = nil
        sessionsOfLink[place.link]?.remove(place.session)
    }

    mutating func forget(_ place: LockTable.SessionPlace) { forgotten.sessions.append(place) }

    mutating func forget(link: UInt64) { forgotten.links.append(link) }

    private mutating func forgetNow(link: UInt64) {
        for session in sessionsOfLink.removeValue(forKey: link) ?? [] {
            // A session that has come back over another link belongs to that link now.
            let isElsewhere = sessionsOfLink.values.contains { $0.contains(session) }
            if !isElsewhere { channelsOfSession[session] = nil }
        }
    }

    // MARK: Time

    /// The earliest time at which `due` may find something.
    var nextDeadline: UInt64? { deadlines.min?.time }

    /// Visits the channels again at that time, because what was due could not be done.
    mutating func retry(_ channels: Set<ChannelKey>, at time: UInt64) {
        for channel in channels { deadlines.insert(Deadline(time: time, channel: channel)) }
    }

    /// The channels with a ttl that may have ended.
    mutating func due(now: UInt64) -> Set<ChannelKey> {
        var channels: Set<ChannelKey> = []
        while let next = deadlines.min, next.time <= now {
            deadlines.removeMin()
            channels.insert(next.channel)
        }
        return channels
    }
}
