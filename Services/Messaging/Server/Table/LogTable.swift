import RTMModel
import RTMServiceKit
import RTMWire

/// The channels of a node with their logs: where each of them lies, how much memory all tails take together,
/// and which channels are forgotten because nobody can miss them.
///
/// A value without I/O.
struct LogTable {
    /// What is known of an app beside its channels.
    private struct AppRecord {
        /// Channels without inboxes.
        var openCount = 0
        /// Of the logs that begin now.
        var epoch: UInt64
        var forgotten: ForgottenLogs
    }

    private let limits: EmbeddedBroker.Limits
    private let firstEpoch: UInt64
    private var nextEpoch: UInt64
    private let names: NameHash
    private var places = ChannelPlaces()
    private var channels = ContiguousArray<BrokerChannel>()
    /// Places that can be used again. A place that is beyond the end, or in use, doesn't count.
    private var free: [Int] = []
    private var apps: [String: Int] = [:]
    private var lastNumber: UInt64 = 0
    private var sweepPlace = 0
    /// How many channels there are beside inboxes, of all apps and of each.
    private(set) var openCount = 0
    private var records: [AppRecord] = []
    private var newChannels: NewChannels
    private(set) var tails: TailBudget

    init(limits: EmbeddedBroker.Limits, firstEpoch: UInt64, names: NameHash) {
        self.limits = limits
        self.names = names
        self.firstEpoch = firstEpoch
        nextEpoch = firstEpoch
        tails = TailBudget(bytesMax: limits.tailBytesMax)
        newChannels = NewChannels(countMax: limits.channelsPerSessionMax, period: max(1, limits.idleMax))
    }

    var count: Int { places.count }

    func place(of channel: ChannelView) -> Int? { place(of: channel, names.number(of: channel)) }

    private func place(of channel: ChannelView, _ number: UInt64) -> Int? {
        places.place(of: number) { channels[$0].key?.isSame(as: channel) ?? false }
    }

    subscript(place: Int) -> BrokerChannel {
        get { channels[place] }
        _modify { yield &channels[place] }
    }

    var forgottenCount: Int { records.reduce(0) { $0 + $1.forgotten.count } }

    /// The timestamp of the newest entry that a channel without a log may have had.
    func newestForgotten(of channel: ChannelView) -> UInt64? {
        guard let forgotten = apps[channel.appID.string].map({ records[$0].forgotten }) else { return nil }
        return forgotten[names.number(of: channel)]?.lastTimestamp ?? forgotten.newestDropped
    }

    /// Whether a log of this process has, or had, this epoch.
    func hasHad(epoch: UInt64) -> Bool { epoch &- firstEpoch < nextEpoch &- firstEpoch }
}

// MARK: - Places

extension LogTable {
    /// Who makes a channel begin.
    enum Occupant {
        /// The owner of an inbox. A login is never refused for want of room.
        case owner
        /// Presence or storage. Clients pay for these events with their rates of calls, and a service that is
        /// refused would only come again.
        case service
        case publisher(_ session: UInt64)
        case anybody
    }

    /// The place of the channel, which begins with an empty log if it is new.
    mutating func occupy(
        _ channel: ChannelView, by occupant: Occupant, now: UInt64
    ) throws(RTMError) -> Int {
        if let place = place(of: channel) { return place }
        // The key decides about the number: it is repaired if the name is no UTF-8.
        return try occupy(channel.key, by: occupant, now: now)
    }

    mutating func occupy(_ key: ChannelKey, by occupant: Occupant, now: UInt64) throws(RTMError) -> Int {
        let (number, place) = key.withView { channel in
            let number = names.number(of: channel)
            return (number, self.place(of: channel, number))
        }
        if let place { return place }
        return try begin(key, number, by: occupant, now: now)
    }

    private mutating func begin(
        _ key: ChannelKey, _ number: UInt64, by occupant: Occupant, now: UInt64
    ) throws(RTMError) -> Int {
        let app = app(key.appID)
        try checkRoom(for: occupant, of: app, now: now)
        lastNumber += 1
        if key.type != .user {
            openCount += 1
            records[app].openCount += 1
        }
        let log = log(for: number, of: app, now: now)
        let channel = BrokerChannel(key, of: app, number: lastNumber, log)
        let place = freePlace() ?? channels.count
        if place < channels.count { channels[place] = channel } else { channels.appendSparingly(channel) }
        places.insert(place, number)
        return place
    }

    private mutating func checkRoom(for occupant: Occupant, of app: Int, now: UInt64) throws(RTMError) {
        switch occupant {
        case .owner, .service: return
        case .anybody, .publisher: break
        }
        guard records[app].openCount < limits.channelsPerAppMax else {
            throw .channels("per app", limits.channelsPerAppMax, retryAfter: Self.retryAfter)
        }
        guard openCount < limits.channelsMax else {
            throw .channels("per node", limits.channelsMax, retryAfter: Self.retryAfter)
        }
        guard case .publisher(let session) = occupant, session != 0 else { return }
        if let wait = newChannels.begin(session, now: now) {
            throw .channels("begun by a session", newChannels.countMax, retryAfter: wait)
        }
    }

    private mutating func app(_ id: String) -> Int {
        if let app = apps[id] { return app }
        let app = tails.addApp()
        records.append(
            AppRecord(epoch: nextEpoch, forgotten: ForgottenLogs(countMax: limits.forgottenPerAppMax)))
        nextEpoch &+= 1
        apps[id] = app
        return app
    }

    /// A log that never had an entry needs nothing to go on: it is as it was.
    private mutating func log(for channel: UInt64, of app: Int, now: UInt64) -> ChannelLog {
        if let remains = records[app].forgotten.take(channel) {
            return ChannelLog(resuming: remains, now: now)
        }
        let record = records[app]
        return ChannelLog(epoch: record.epoch, now: now, forgotten: record.forgotten.newestDropped)
    }

    private mutating func remember(_ log: ChannelLog, _ channel: UInt64, of app: Int) {
        guard records[app].forgotten.insert(log.remains, of: channel) else { return }
        records[app].epoch = nextEpoch
        nextEpoch &+= 1
    }

    private mutating func freePlace() -> Int? {
        while let place = free.popLast() {
            if place < channels.count, channels[place].key == nil { return place }
        }
        return nil
    }

    private mutating func vacate(_ place: Int) {
        guard let key = channels[place].key else { return }
        let channel = channels[place]
        let number = number(of: place)
        for other in places.remove(place, number) { places.insert(other, self.number(of: other)) }
        if channel.log.head > 0 { remember(channel.log, number, of: channel.app) }
        if key.type != .user {
            openCount -= 1
            records[channel.app].openCount -= 1
        }
        tails.add(-channel.log.bytesHeld, to: channel.app)
        channels[place] = BrokerChannel(
            nil, of: channel.app, number: 0, ChannelLog(epoch: 0, now: 0))
        free.append(place)
    }

    private func number(of place: Int) -> UInt64 {
        channels[place].key?.withView { names.number(of: $0) } ?? 0
    }

    /// Gives back the memory of places that are free at the end, `count` at most, and of tables that are
    /// nearly empty.
    private mutating func shrink(_ count: Int) {
        var rest = count
        while rest > 0, let last = channels.last, last.key == nil {
            channels.removeLast()
            rest -= 1
        }
        guard channels.capacity > Self.capacityMin, channels.count < channels.capacity / 4 else { return }
        channels = ContiguousArray(channels.map { $0 })
        free = free.filter { $0 < channels.count }
        places.shrink()
    }

    /// When there may be room again: the sweep forgets channels all the time.
    private static let retryAfter = Duration.seconds(10)

    /// A table with room for this many channels isn't worth shrinking.
    private static let capacityMin = 16_384
}

// MARK: - Tails

extension LogTable {
    /// Lets entries be appended to a log. Afterwards everything goes that the log, or the node, can't keep.
    mutating func append<Result>(
        at place: Int, now: UInt64, _ body: (inout ChannelLog) -> Result
    ) -> Result {
        let retention = limits.retention
        let result = change(place) { log in
            defer { log.trim(to: retention, now: now) }
            return body(&log)
        }
        while tails.isExceeded, giveUpOldest() {}
        return result
    }

    /// Changes a log, and keeps account of what its tail holds.
    private mutating func change<Result>(_ place: Int, _ body: (inout ChannelLog) -> Result) -> Result {
        let (result, change) = channels[place].changeLog(body)
        tails.add(change.growth, to: change.app)
        if change.isNewInQueue { enqueue(place, of: change.app) }
        return result
    }

    private mutating func enqueue(_ place: Int, of app: Int) {
        guard let timestamp = channels[place].log.oldestTimestamp else { return }
        channels[place].isQueued = true
        tails.enqueue(.init(timestamp: timestamp, place: place, channel: channels[place].number), of: app)
    }

    /// The tail with the oldest entry gives up what is older than the oldest of all others.
    ///
    /// - Returns: whether there is another one to look at.
    private mutating func giveUpOldest() -> Bool {
        guard let (app, oldest) = tails.dequeue() else { return false }
        guard isInQueue(oldest) else { return true }
        let (place, excess) = (oldest.place, tails.bytes - tails.bytesMax)
        if channels[place].log.oldestTimestamp == oldest.timestamp {
            let before = channels[place].log.bytesHeld
            let newest = channels[place].log.giveUp(until: max(oldest.timestamp, tails.next(of: app))) {
                before - $0 < excess
            }
            tails.add(channels[place].log.bytesHeld - before, to: app)
            if let newest { tails.gaveUp(newest, of: app) }
        }
        enqueueAgain(place, of: app)
        return true
    }

    private func isInQueue(_ oldest: TailBudget.Oldest) -> Bool {
        oldest.place < channels.count && channels[oldest.place].number == oldest.channel
    }

    private mutating func enqueueAgain(_ place: Int, of app: Int) {
        channels[place].isQueued = false
        enqueue(place, of: app)
    }
}

// MARK: - Forgetting

extension LogTable {
    /// Looks at the next `count` logs. It trims their tails by age and forgets the logs that nobody can miss.
    mutating func sweep(_ count: Int, now: UInt64) {
        for _ in 0..<min(count, channels.count) {
            sweepPlace = sweepPlace + 1 < channels.count ? sweepPlace + 1 : 0
            guard channels[sweepPlace].key != nil else { continue }
            let retention = limits.retention
            change(sweepPlace) { $0.trim(to: retention, now: now) }
            if isForgettable(sweepPlace, now) { vacate(sweepPlace) }
        }
        renewQueue(count, now: now)
        shrink(count)
    }

    private func isForgettable(_ place: Int, _ now: UInt64) -> Bool {
        let channel = channels[place]
        guard channel.interests.isEmpty, channel.log.tailCount == 0 else { return false }
        return max(channel.log.lastTimestamp, channel.leftAt) + limits.idleMax < now
    }

    /// Takes tails whose entries have gone by themselves out of the queue, or puts them where they belong
    /// now.
    private mutating func renewQueue(_ count: Int, now: UInt64) {
        let ageMax = limits.retention.ageMax
        guard now > ageMax else { return }
        for _ in 0..<count {
            guard let (app, oldest) = tails.dequeue(olderThan: now - ageMax) else { return }
            if isInQueue(oldest) { enqueueAgain(oldest.place, of: app) }
        }
    }
}

extension RTMError {
    fileprivate static func channels(_ which: String, _ countMax: Int, retryAfter: Duration) -> RTMError {
        RTMError(
            .channelInstanceExceedLimitation,
            "there are \(countMax) channels \(which), which is the limit; nothing but time makes room",
            retryAfter: retryAfter, limit: .init(name: "channels \(which)", value: UInt64(countMax)))
    }
}
