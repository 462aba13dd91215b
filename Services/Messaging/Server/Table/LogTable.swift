import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire

/// The channels of a node, spread over its partitions, and the tails of its apps: where each channel lies,
/// what is kept of its entries, and which channels are forgotten because nobody can miss them.
///
/// A value without I/O.
struct LogTable {
    let limits: BrokerLimits
    let firstEpoch: UInt64
    private let names: NameHash
    var partitions: ContiguousArray<Partition>
    var apps: AppTable
    /// Where the sweep continues.
    private var nextSlot = ChannelSlot(index: 0, partition: 0)
    private var sweptApp = 0
    private(set) var count = 0
    /// How many channels there are beside inboxes.
    private(set) var openCount = 0
    private var newChannels: NewChannels
    /// Of channels that have got whole states: which one was the newest. Few channels do, so this lies beside
    /// them.
    private(set) var versions: [ChannelSlot: ChannelVersion] = [:]
    /// When this node began to lead. Of channels that it took over it doesn't know when they were left, so
    /// they count as left then.
    var leaderSince: UInt64 = 0
    /// How many entries there had been when nothing was known yet: a journal begins there.
    var knownFrom: UInt64 = 0
    /// Channels of which nothing is known begin behind this time, in milliseconds: no node before has given a
    /// later one.
    var timesBegin: UInt64 = 0

    init(limits: BrokerLimits, firstEpoch: UInt64, names: NameHash) {
        self.limits = limits
        self.names = names
        self.firstEpoch = firstEpoch
        partitions = ContiguousArray(
            (0..<limits.partitionCount).map {
                Partition(epoch: firstEpoch &+ UInt64($0))
            })
        apps = AppTable(limits: limits)
        newChannels = NewChannels(countMax: limits.channelsPerSessionMax, period: max(1, limits.idleMax))
    }

    func slot(of channel: ChannelView) -> ChannelSlot? { slot(of: channel, names.number(of: channel)) }

    private func slot(of channel: ChannelView, _ number: UInt64) -> ChannelSlot? {
        let partition = partition(of: number)
        return partitions[Int(partition)].slot(of: channel, number).map {
            ChannelSlot(index: $0, partition: partition)
        }
    }

    private func partition(of number: UInt64) -> UInt16 {
        UInt16(truncatingIfNeeded: (number >> 32) % UInt64(partitions.count))
    }

    subscript(slot: ChannelSlot) -> BrokerChannel {
        @inline(__always) get { partitions[Int(slot.partition)].channels[Int(slot.index)] }
        @inline(__always) _modify { yield &partitions[Int(slot.partition)].channels[Int(slot.index)] }
    }

    /// The newest position of the channel's partition.
    func partitionHead(of slot: ChannelSlot) -> StreamPosition {
        partitions[Int(slot.partition)].position
    }

    /// The position of the channel's newest entry.
    func position(of slot: ChannelSlot) -> StreamPosition {
        StreamPosition(epoch: partitions[Int(slot.partition)].epoch, offset: self[slot].chain.head)
    }

    /// When the oldest entry of the channel's app was appended.
    func oldestTime(at slot: ChannelSlot) -> UInt64? {
        let partition = Int(slot.partition)
        return apps.oldestTime(of: partitions[partition].channels[Int(slot.index)].app)
    }

    func frames(of entries: AppendedEntries) -> ByteBuffer { apps.frames(of: entries) }

    /// The tail with the channel's entries.
    func tail(of slot: ChannelSlot) -> EntryTail { apps[self[slot].app].tail }

    /// The timestamp of the newest entry that a channel without a slot may have had.
    func newestForgotten(of channel: ChannelView) -> UInt64? {
        guard let app = apps.number(of: channel.appID.string) else { return nil }
        let number = names.number(of: channel)
        let forgotten = apps[app].forgotten
        return forgotten[number]?.lastTimestamp ?? forgotten.dropped(of: partition(of: number))?.timestamp
    }

    /// The position of a channel's newest message, events aside, whether the channel has a slot or not.
    func newestMessage(of channel: ChannelView) -> StreamPosition {
        let number = names.number(of: channel)
        let partition = partition(of: number)
        func position(_ offset: UInt64) -> StreamPosition {
            StreamPosition(epoch: partitions[Int(partition)].epoch, offset: offset)
        }
        if let slot = slot(of: channel, number) { return position(self[slot].chain.newestMessage) }
        guard let app = apps.number(of: channel.appID.string) else {
            return position(apps.unknown[partition]?.head ?? 0)
        }
        let forgotten = apps[app].forgotten
        return position(
            forgotten[number]?.newestMessage ?? forgotten.dropped(of: partition)?.head ?? 0)
    }

    /// What is known of a channel's log, whether the channel has a slot or not.
    struct Extent {
        /// The position of the newest entry that it has, or may have had.
        let head: StreamPosition
        /// The newest offset of the channel's partition.
        let partitionHead: UInt64
        /// The newest entry that the tail may have lost; 0 if there is none.
        let newestLost: UInt64
    }

    func extent(of channel: ChannelView) -> Extent {
        let number = names.number(of: channel)
        let partition = partition(of: number)
        let position = partitions[Int(partition)].position
        func extent(_ head: UInt64, lost: UInt64) -> Extent {
            Extent(
                head: StreamPosition(epoch: position.epoch, offset: head), partitionHead: position.offset,
                newestLost: lost)
        }
        if let slot = slot(of: channel, number) {
            return extent(self[slot].chain.head, lost: self[slot].chain.newestLost)
        }
        let forgotten = apps.number(of: channel.appID.string).map { apps[$0].forgotten }
        let dropped = forgotten.map { $0.dropped(of: partition) } ?? apps.unknown[partition]
        let head = forgotten?[number]?.head ?? dropped?.head ?? 0
        return extent(head, lost: head)
    }

    mutating func setVersion(_ version: ChannelVersion, at slot: ChannelSlot) { versions[slot] = version }

    /// Whether the logs go back as far as those of this epoch, which may be in another shard: shards that
    /// began together have epochs that follow one another.
    func has(epoch: UInt64) -> Bool {
        let begin = firstEpoch &- UInt64(limits.shard * partitions.count)
        return epoch &- begin < UInt64(limits.shards * partitions.count)
    }
}

// MARK: - Slots

extension LogTable {
    /// Who makes a channel begin.
    enum Occupant {
        /// The owner of an inbox. A login is never refused for want of capacity.
        case owner
        /// Presence or storage. Clients pay for these events with their rates of calls, and a service that is
        /// refused would only come again.
        case service
        case publisher(_ session: UInt64)
        case anybody
    }

    /// The slot of the channel, which begins without entries if it is new.
    mutating func occupy(
        _ channel: ChannelView, by occupant: Occupant, now: UInt64
    ) throws(RTMError) -> ChannelSlot {
        if let slot = slot(of: channel) { return slot }
        // The key decides about the number: it is repaired if the name is no UTF-8.
        return try occupy(channel.key, by: occupant, now: now)
    }

    mutating func occupy(
        _ key: ChannelKey, by occupant: Occupant, now: UInt64
    ) throws(RTMError) -> ChannelSlot {
        let (number, slot) = key.withView { channel in
            let number = names.number(of: channel)
            return (number, self.slot(of: channel, number))
        }
        if let slot { return slot }
        return try begin(key, number, by: occupant, now: now)
    }

    private mutating func begin(
        _ key: ChannelKey, _ number: UInt64, by occupant: Occupant, now: UInt64
    ) throws(RTMError) -> ChannelSlot {
        let app = apps.occupy(key.appID)
        try checkCapacity(for: occupant, of: app, now: now)
        count += 1
        if key.type != .user {
            openCount += 1
            apps[app].openCount += 1
        }
        let partition = partition(of: number)
        let channel = BrokerChannel(key, of: app, chain(for: number, in: partition, of: app, now: now))
        let index = partitions[Int(partition)].insert(channel, number)
        return ChannelSlot(index: index, partition: partition)
    }

    private mutating func checkCapacity(for occupant: Occupant, of app: Int, now: UInt64) throws(RTMError) {
        switch occupant {
        case .owner, .service: return
        case .anybody, .publisher: break
        }
        guard apps[app].openCount < limits.channelsPerAppMax else {
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

    private mutating func chain(
        for channel: UInt64, in partition: UInt16, of app: Int, now: UInt64
    ) -> ChannelChain {
        if let remains = apps[app].forgotten.take(channel) {
            return ChannelChain(resuming: remains, now: now)
        }
        return ChannelChain(
            head: partitions[Int(partition)].head, forgotten: apps[app].forgotten.dropped(of: partition),
            now: max(now, timesBegin))
    }

    private mutating func vacate(_ slot: ChannelSlot) {
        let channel = self[slot]
        guard let key = channel.key else { return }
        // A channel that never had an entry has to be remembered, too, if the partition may have lost entries
        // of channels that aren't remembered: otherwise it would count as one of those when it is used again.
        let unknown = apps[channel.app].forgotten.dropped(of: slot.partition)?.head ?? 0
        if channel.chain.hasHadEntries || unknown > channel.chain.unknownUntil {
            apps[channel.app].forgotten.insert(
                channel.chain.remains(in: slot.partition), of: key.withView { names.number(of: $0) })
        }
        versions[slot] = nil
        count -= 1
        if key.type != .user {
            openCount -= 1
            apps[channel.app].openCount -= 1
        }
        partitions[Int(slot.partition)].remove(slot.index) { $0.withView { names.number(of: $0) } }
    }

    /// When a new channel may be admitted again: the sweep forgets channels all the time.
    private static let retryAfter = Duration.seconds(10)
}

// MARK: - Tails

extension LogTable {
    /// Drops the oldest entries that the node can't keep. To be called before a request appends, so that what
    /// it appends stays until every subscriber has received it.
    mutating func dropOldestEntries() {
        while apps.isExceeded, let records = apps.giveUp() { markLost(records) }
    }

    /// Appends entries to a channel, as `EntryTail.append` does.
    mutating func append(
        _ entries: NewEntries,
        encode: (_ offset: UInt64, _ time: LogTime, _ frames: inout ByteBuffer) -> Void
    ) -> AppendedEntries {
        let (partition, index) = (Int(entries.channel.partition), Int(entries.channel.index))
        let app = partitions[partition].channels[index].app
        var head = partitions[partition].head
        let appended = apps.append(
            entries, of: app, to: &partitions[partition].channels[index].chain, head: &head, encode: encode)
        partitions[partition].head = head
        return appended
    }

    mutating func markLost(_ records: ContiguousArray<EntryRecord>) {
        for record in records { self[record.channel].chain.gaveUp(record) }
        guard let last = records.last else { return }
        let app = self[last.channel].app
        (apps[app].given, apps[app].lostSequence) = (EntryIdentity(last), sequence)
    }
}

// MARK: - Forgetting

extension LogTable {
    /// Drops what is too old, and looks at the next `count` slots: channels that nobody can miss are
    /// forgotten.
    ///
    /// - Parameters:
    ///   - isSettled: whether owners who haven't come back by now aren't awaited any more.
    ///   - seen: gets the channels of which the tail doesn't say everything, and those whose owners aren't
    ///     awaited any more.
    mutating func sweep(
        _ count: Int, now: UInt64, isSettled: Bool, seen: (BrokerChannel, ChannelVersion?) -> Void
    ) {
        giveUpOld(segmentsMax: 1 + count / Self.slotsPerSegment, now: now)
        for _ in 0..<min(count, slotCount) {
            let slot = visit(now, seen)
            guard isSettled, let slot, self[slot].ownership?.isAwaited == true else { continue }
            self[slot].ownership?.isAwaited = false
            seen(self[slot], versions[slot])
        }
    }

    /// With one more for the end of each partition.
    private var slotCount: Int { partitions.reduce(partitions.count) { $0 + $1.channels.count } }

    /// Segments that are given up for each so many slots that a sweep looks at, so that no turn is long.
    private static let slotsPerSegment = 32

    /// A tail that is written seldom has to end its segments, or entries would stay for much longer than they
    /// should. So a segment has the entries of at most this part of their age.
    static let segmentsPerAge: UInt64 = 16

    private mutating func giveUpOld(segmentsMax: Int, now: UInt64) {
        var left = segmentsMax
        for step in apps.indices {
            let app = (sweptApp + step) % apps.indices.count
            giveUpOld(app, &left, now: now)
            guard left > 0 else {
                sweptApp = app
                return
            }
        }
    }

    private mutating func giveUpOld(_ app: Int, _ left: inout Int, now: UInt64) {
        let ageMax = limits.ageMax
        if let since = apps[app].tail.openSince, since + ageMax / Self.segmentsPerAge < now {
            apps.changeTail(of: app) { $0.close() }
        }
        while left > 0, let end = apps[app].tail.firstSegmentEnd, end + ageMax < now,
            !isAwaited(app, now: now),
            let records = apps.changeTail(of: app, { $0.removeFirst() })
        {
            markLost(records)
            left -= 1
        }
        if apps[app].tail.oldestTime == nil { apps.changeTail(of: app) { $0.release() } }
    }

    /// Whether the segment of an app that goes first has entries that storage hasn't collected. While storage
    /// is away they are kept for longer, as long as there is memory.
    private func isAwaited(_ app: Int, now: UInt64) -> Bool {
        guard let fed = apps[app].fed, fed.at + limits.feedOutageMax > now else { return false }
        return !apps[app].tail.isFirstSegmentBefore(fed.place)
    }

    /// Looks at the next slot, or at the end of a partition.
    ///
    /// - Returns: the slot if a channel is there.
    private mutating func visit(
        _ now: UInt64, _ seen: (BrokerChannel, ChannelVersion?) -> Void
    ) -> ChannelSlot? {
        let slot = nextSlot
        if slot.index < partitions[Int(slot.partition)].channels.count {
            nextSlot = ChannelSlot(index: slot.index + 1, partition: slot.partition)
            if self[slot].key != nil { sweep(slot, now: now, seen) }
            return self[slot].key == nil ? nil : slot
        }
        partitions[Int(slot.partition)].shrink()
        let next = (Int(slot.partition) + 1) % partitions.count
        nextSlot = ChannelSlot(index: 0, partition: UInt16(next))
        return nil
    }

    /// The milliseconds between two records of one channel.
    static let recordInterval: UInt64 = 30_000

    private mutating func sweep(
        _ slot: ChannelSlot, now: UInt64, _ seen: (BrokerChannel, ChannelVersion?) -> Void
    ) {
        let channel = self[slot]
        let isSilent = !tail(of: slot).holds(channel.chain.newest)
        if isSilent { self[slot].chain.forgetPublishers(now: now) }
        guard isSilent, channel.interests.isEmpty,
            max(channel.chain.lastTimestamp, channel.leftAt, leaderSince) + limits.idleMax < now
        else {
            // Entries don't say who holds an inbox, or which state is the newest.
            let version = versions[slot]
            guard isSilent || channel.ownership != nil || version != nil,
                channel.recordedAt + Self.recordInterval < now
            else { return }
            self[slot].recordedAt = now
            return seen(channel, version)
        }
        vacate(slot)
    }
}

extension RTMError {
    fileprivate static func channels(_ which: String, _ countMax: Int, retryAfter: Duration) -> RTMError {
        RTMError(
            .channelInstanceExceedLimitation,
            "there are \(countMax) channels \(which), which is the limit: "
                + "a channel without entries and subscribers is forgotten after a while",
            retryAfter: retryAfter, limit: .init(name: "channels \(which)", value: UInt64(countMax)))
    }
}
