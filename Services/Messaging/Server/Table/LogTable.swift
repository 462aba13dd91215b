import RTMModel

/// The channels of a node with their logs: where each of them lies, how much memory all tails take together,
/// and which channels are forgotten because nobody can miss them.
///
/// A value without I/O.
struct LogTable {
    private let limits: EmbeddedBroker.Limits
    private let firstEpoch: UInt64
    private var nextEpoch: UInt64
    private var places: [ChannelKey: Int] = [:]
    private var channels: [BrokerChannel] = []
    /// Places that can be used again. A place that is beyond the end, or in use, doesn't count.
    private var free: [Int] = []
    private var apps: [String: Int] = [:]
    private var lastNumber: UInt64 = 0
    private var sweepPlace = 0
    /// The timestamp of the newest entry of all logs that were forgotten.
    private(set) var newestForgotten: UInt64?
    private(set) var tails: TailBudget

    init(limits: EmbeddedBroker.Limits, firstEpoch: UInt64) {
        self.limits = limits
        self.firstEpoch = firstEpoch
        nextEpoch = firstEpoch
        tails = TailBudget(bytesMax: limits.tailBytesMax)
    }

    var count: Int { places.count }

    func place(of key: ChannelKey) -> Int? { places[key] }

    subscript(place: Int) -> BrokerChannel {
        _read { yield channels[place] }
        _modify { yield &channels[place] }
    }

    /// Whether a log of this process has, or had, this epoch.
    func hasHad(epoch: UInt64) -> Bool { epoch &- firstEpoch < nextEpoch &- firstEpoch }
}

// MARK: - Places

extension LogTable {
    /// The place of the channel, which begins with an empty log if it is new.
    mutating func occupy(_ key: ChannelKey, now: UInt64) throws(RTMError) -> Int {
        if let place = places[key] { return place }
        guard places.count < limits.channelsMax else {
            throw RTMError(
                .channelInstanceExceedLimitation,
                "this node holds \(limits.channelsMax) channels, which is its limit",
                limit: .init(name: "channels per node", value: UInt64(limits.channelsMax)))
        }
        lastNumber += 1
        let log = ChannelLog(epoch: nextEpoch, now: now, forgotten: newestForgotten)
        nextEpoch &+= 1
        let channel = BrokerChannel(key, of: app(key.appID), number: lastNumber, log)
        let place = freePlace() ?? channels.count
        if place < channels.count { channels[place] = channel } else { channels.append(channel) }
        places[key] = place
        return place
    }

    private mutating func app(_ id: String) -> Int {
        if let app = apps[id] { return app }
        let app = tails.addApp()
        apps[id] = app
        return app
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
        if channel.log.head > 0 {
            newestForgotten = max(newestForgotten ?? 0, channel.log.lastTimestamp)
        }
        tails.add(-channel.log.bytesHeld, to: channel.app)
        channels[place] = BrokerChannel(
            nil, of: channel.app, number: 0, ChannelLog(epoch: 0, now: 0))
        places[key] = nil
        free.append(place)
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
        channels = channels.map { $0 }
        free = free.filter { $0 < channels.count }
        places = Dictionary(uniqueKeysWithValues: places.map { ($0.key, $0.value) })
    }

    /// A table with room for this many channels isn't worth shrinking.
    private static let capacityMin = 16_384
}

// MARK: - Tails

extension LogTable {
    /// Lets entries be appended to a log. Afterwards everything goes that the log, or the node, can't keep.
    mutating func append<Result>(
        at place: Int, now: UInt64, _ body: (inout ChannelLog) -> Result
    ) -> Result {
        let before = channels[place].log.bytesHeld
        let result = body(&channels[place].log)
        channels[place].log.trim(to: limits.retention, now: now)
        settle(place, before: before)
        while tails.isExceeded, giveUpOldest() {}
        return result
    }

    /// The log's tail held so many bytes before it changed.
    private mutating func settle(_ place: Int, before: Int) {
        let app = channels[place].app
        let after = channels[place].log.bytesHeld
        tails.add(after - before, to: app)
        if after > 0, !channels[place].isQueued { enqueue(place, of: app) }
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
            let before = channels[sweepPlace].log.bytesHeld
            channels[sweepPlace].log.trim(to: limits.retention, now: now)
            settle(sweepPlace, before: before)
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
