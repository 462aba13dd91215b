import NIOCore
package import OrderedCollections
package import RTMModel
package import RTMWire

/// What messaging has sent of an app: entries of all of its channels in a shard, in their order.
struct CollectedFeed: Sendable {
    struct Entry: Sendable {
        let content: PublishedEntry
        /// The ServerFrame, without its length prefix.
        let frame: [UInt8]
    }

    let appID: String
    let shard: UInt32
    /// Where the entries begin; epoch 0 if the feed wasn't read before.
    let after: FeedPosition
    /// Behind the entries.
    let next: FeedPosition
    /// Whether entries before these are lost.
    let gap: Bool
    let entries: [Entry]
}

extension CollectedFeed {
    /// The channels and users that the entries concern, and the members that come and go.
    func keys(_ keys: inout Set<ChannelKey>, _ members: inout Set<EventMember>) {
        keys.insert(.app(appID))
        for entry in entries {
            guard let key = entry.content.key(in: appID) else { continue }
            keys.insert(key)
            guard case .presence(let joined, let left, let timedOut) = entry.content.event else { continue }
            for user in joined + left + timedOut { members.insert(EventMember(channel: key, user: user)) }
        }
    }
}

/// A user in a channel.
package struct EventMember: Sendable, Hashable {
    package let channel: ChannelKey
    package let user: String
}

/// What is known of a channel or user of which there were events.
package struct EventKey: Sendable, Hashable {
    /// The number and the offset of the newest event.
    package var number: UInt64 = 0
    package var offset: UInt64 = 0
    /// How many users are in the channel, as far as the events say. Of a user: 1 while there is a session.
    package var members = 0
    /// Whether the channel is occupied, or the user online, for those who read the events.
    package var isOccupied = false
    /// When the channel counts as vacated, or the user as offline, unless somebody returns; in milliseconds,
    /// on the clock of messaging.
    package var due: UInt64?

    package init(
        number: UInt64 = 0, offset: UInt64 = 0, members: Int = 0, isOccupied: Bool = false, due: UInt64? = nil
    ) {
        self.number = number
        self.offset = offset
        self.members = members
        self.isOccupied = isOccupied
        self.due = due
    }
}

/// An event as it is kept.
package struct StoredEvent: Sendable, Hashable {
    package let offset: UInt64
    package let type: AppEventType
    package let key: ChannelKey
    package let number: UInt64
    package let time: UInt64
    package let body: [UInt8]

    /// What the event counts in the share of its app: its content, and about what its row takes.
    package var bytes: Int { body.count + key.name.utf8.count + StoredMessage.rowBytes }
}

/// The events of apps as one group of writes sees them: it makes events of what messaging sends, counts them,
/// and derives that channels are occupied and vacated and users are offline (W-43). Pure: the time comes with
/// the entries.
package struct EventLogs: Sendable {
    /// How long a channel has to be empty, and a user without a session, before it is announced.
    static let hold: UInt64 = 5_000

    package struct FeedKey: Sendable, Hashable {
        package let appID: String
        package let shard: UInt32

        package init(appID: String, shard: UInt32) {
            (self.appID, self.shard) = (appID, shard)
        }
    }

    package struct FeedMark: Sendable, Hashable {
        package let position: FeedPosition
        /// When it was reached, in milliseconds (UTC).
        package let time: UInt64

        package init(position: FeedPosition, time: UInt64) {
            (self.position, self.time) = (position, time)
        }
    }

    /// What is to be kept, in one transaction.
    package struct Changes: Sendable {
        package var events: [StoredEvent] = []
        package var keys: OrderedSet<ChannelKey> = []
        package var members: OrderedDictionary<EventMember, Bool> = [:]
        package var feeds: OrderedDictionary<FeedKey, FeedMark> = [:]

        package var isEmpty: Bool { events.isEmpty && keys.isEmpty && feeds.isEmpty && members.isEmpty }
    }

    /// The offset of each app's newest event.
    private var newest: [String: UInt64]
    private(set) var keys: [ChannelKey: EventKey]
    private var members: Set<EventMember>
    private let feeds: [FeedKey: FeedMark]
    private(set) var changes = Changes()

    init(
        newest: [String: UInt64] = [:], keys: [ChannelKey: EventKey] = [:], members: Set<EventMember> = [],
        feeds: [FeedKey: FeedMark] = [:]
    ) {
        self.newest = newest
        self.keys = keys
        self.members = members
        self.feeds = feeds
    }

    /// Takes what messaging has sent.
    ///
    /// - Parameter now: the time in milliseconds (UTC).
    ///
    /// - Returns: false if the entries don't follow those that are kept. Then nothing is taken.
    mutating func collect(_ feed: CollectedFeed, now: UInt64) -> Bool {
        let key = FeedKey(appID: feed.appID, shard: feed.shard)
        let before = changes.feeds[key] ?? feeds[key]
        guard (before?.position.epoch ?? 0) == feed.after.epoch,
            before.map({ $0.position.isSameEntry(as: feed.after) }) ?? true
        else { return false }
        if feed.gap { lose(feed, since: before?.time ?? 0, now: now) }
        for entry in feed.entries { take(entry, of: feed.appID) }
        changes.feeds[key] = FeedMark(position: feed.next, time: now)
        return true
    }

    private mutating func lose(_ feed: CollectedFeed, since: UInt64, now: UInt64) {
        let isAnew = feed.after.epoch != feed.next.epoch
        let gap = EventGap(
            reason: isAnew
                ? "messaging has begun with new logs, and what it had before is lost"
                : "messaging has lost or dropped entries before storage could collect them",
            shard: feed.shard, sinceMilliseconds: since)
        emit(.gap, .app(feed.appID), at: now, gap.serialized)
    }

    private mutating func take(_ entry: CollectedFeed.Entry, of app: String) {
        let content = entry.content
        guard let key = content.key(in: app) else { return }
        let time = content.timestampMilliseconds
        settle(key, upTo: time)
        switch content.event {
        case .message: emit(.message, key, at: time, entry.frame)
        case .metadata: emit(.metadata, key, at: time, entry.frame)
        case .lock: emit(.lock, key, at: time, entry.frame)
        case .presence(let joined, let left, let timedOut):
            join(joined, key, at: time, entry.frame)
            leave(left, key, at: time, key.type == .user ? .logout : .channelLeft, entry.frame)
            leave(timedOut, key, at: time, key.type == .user ? .timeout : .channelLeft, entry.frame)
        }
    }

    private mutating func join(_ users: [String], _ key: ChannelKey, at time: UInt64, _ frame: [UInt8]) {
        guard !users.isEmpty else { return }
        var state = keys[key] ?? EventKey()
        for user in users where members.insert(EventMember(channel: key, user: user)).inserted {
            state.members += 1
            changes.members[EventMember(channel: key, user: user)] = true
        }
        let isNew = !state.isOccupied
        // Whoever returns in time makes that nobody had left.
        (state.isOccupied, state.due) = (true, nil)
        set(state, key)
        if key.type == .user { return emit(.login, key, at: time, []) }
        if isNew { emit(.channelOccupied, key, at: time, []) }
        emit(.channelJoined, key, at: time, frame)
    }

    private mutating func leave(
        _ users: [String], _ key: ChannelKey, at time: UInt64, _ type: AppEventType, _ frame: [UInt8]
    ) {
        guard !users.isEmpty else { return }
        emit(type, key, at: time, key.type == .user ? [] : frame)
        var state = keys[key] ?? EventKey()
        for user in users where members.remove(EventMember(channel: key, user: user)) != nil {
            state.members -= 1
            changes.members[EventMember(channel: key, user: user)] = false
        }
        if state.members <= 0, state.isOccupied, state.due == nil { state.due = time + Self.hold }
        set(state, key)
    }

    /// Announces what has been held back for long enough.
    ///
    /// - Parameter time: everything that happened until then has been taken.
    mutating func settle(_ key: ChannelKey, upTo time: UInt64) {
        guard var state = keys[key], let due = state.due, due <= time else { return }
        (state.isOccupied, state.due) = (false, nil)
        set(state, key)
        emit(key.type == .user ? .userOffline : .channelVacated, key, at: due, [])
    }

    private mutating func set(_ state: EventKey, _ key: ChannelKey) {
        keys[key] = state
        changes.keys.append(key)
    }

    private mutating func emit(_ type: AppEventType, _ key: ChannelKey, at time: UInt64, _ body: [UInt8]) {
        let offset = newest[key.appID, default: 0] + 1
        newest[key.appID] = offset
        var state = keys[key] ?? EventKey()
        state.number += 1
        state.offset = offset
        set(state, key)
        changes.events.append(
            StoredEvent(
                offset: offset, type: type, key: key, number: state.number, time: time, body: body))
    }
}

extension ChannelKey {
    /// What concerns the app as a whole.
    static func app(_ id: String) -> ChannelKey { ChannelKey(appID: id, type: .none, name: "") }
}

extension FeedPosition {
    /// Whether both are behind the same entry. A place at which nothing new has come is seen later and later.
    fileprivate func isSameEntry(as other: FeedPosition) -> Bool {
        epoch == other.epoch && partition == other.partition && offset == other.offset
    }
}

extension PublishedEntry {
    /// The channel or user that the event is about; nil for what is no event.
    func key(in app: String) -> ChannelKey? {
        switch channelType {
        case .message, .stream, .topic: ChannelKey(appID: app, type: channelType, name: channel)
        // The log of a user's metadata and the inbox are both about the user.
        case .none, .user: ChannelKey(appID: app, type: .user, name: channel)
        case .topics: nil
        }
    }
}

extension EventGap {
    var serialized: [UInt8] {
        var buffer = ByteBuffer()
        encode(into: &buffer, length: encodedLength)
        return Array(buffer.readableBytesView)
    }
}
