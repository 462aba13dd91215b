import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

/// Links come and go, channels are published to, attached, read, swept and forgotten, and the clock jumps in
/// both directions. A naive model beside the broker keeps every entry and judges each answer.
struct BrokerHistory {
    struct Events {
        var deliveries = 0
        var replays = 0
        var gaps = 0
        /// Gaps behind which entries of another epoch follow.
        var beginnings = 0
        var refusals = 0
        var pages = 0
        var forgotten = 0
        var appends = 0
        var repetitions = 0
        var repeated = 0
        var afresh = 0
        var unknown = 0
        var late = 0
        var takeovers = 0

        mutating func add(_ other: Events) {
            deliveries += other.deliveries
            replays += other.replays
            gaps += other.gaps
            beginnings += other.beginnings
            refusals += other.refusals
            pages += other.pages
            forgotten += other.forgotten
            appends += other.appends
            repetitions += other.repetitions
            repeated += other.repeated
            afresh += other.afresh
            unknown += other.unknown
            late += other.late
            takeovers += other.takeovers
        }
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private let limits: BrokerLimits
    private var broker: Broker
    /// What the broker and those before it have told their journal; nil if none is kept.
    private var journal: [ByteBuffer]?
    private let firstEpoch: UInt64
    private var now: UInt64 = 1_000_000
    /// The latest time that the broker was ever told.
    private var latest: UInt64 = 1_000_000
    private var logs: [ChannelKey: ModelLog] = [:]
    private var sources: [ChannelKey: [UInt64: [(sequence: UInt64, offset: UInt64)]]] = [:]
    private var interests: [Broker.Interest: ChannelKey] = [:]
    /// The position up to which each attached interest has seen its channel.
    private var seen: [Broker.Interest: StreamPosition] = [:]
    /// Positions with which somebody may come back.
    private var memories: [ChannelKey: [StreamPosition]] = [:]
    /// What publishers have sent and may send again.
    private var sent: [Sent] = []
    /// What the broker has not received, as far as its publishers will send it again.
    private var lost: [Sent] = []
    /// First copies that are still on their way.
    private var late: [Sent] = []
    /// By publisher: the greatest sequence since the log was forgotten last.
    private var marked: [ChannelKey: [String: UInt64]] = [:]
    /// What was ever in a log of the channel, by publisher.
    private var published: [ChannelKey: [String: Set<UInt64>]] = [:]
    /// The partition of each channel that is known, and the newest offset of each partition.
    private var partitions: [ChannelKey: UInt16] = [:]
    private var heads: [UInt16: UInt64] = [:]
    /// Up to these offsets channels of a partition were forgotten, and their numbers perhaps, too.
    private var unknown: [UInt16: UInt64] = [:]
    private var nextSequence: UInt64 = 1
    private(set) var events = Events()

    private struct Sent {
        let key: ChannelKey
        let publisher: String
        let sequence: UInt64
        let at: UInt64
    }

    private static let keys =
        (0..<4).map { ChannelKey.message("m\($0)") } + [.user("anna"), .user("bob")]
        + [.message("m4", of: "another app")]
    /// What the open segments of two apps may take.
    private static let openBytesMax = 20_000
    private static let publishers = ["anna", "bob", "carl"]

    /// - Parameters:
    ///   - keepsAll: whether there is room and time for every entry.
    ///   - takesOver: whether other brokers continue in place of the first one.
    init(seed: UInt64, keepsAll: Bool, takesOver: Bool = false) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        let narrow = BrokerLimits.limits(
            entriesMax: .random(in: 1...30, using: &random),
            bytesMax: .random(in: 100...2000, using: &random),
            ageMax: .random(in: 0...500, using: &random), idleMax: .random(in: 0...500, using: &random),
            forgottenPerAppMax: seed.isMultiple(of: 4) ? 2 : 1_000,
            tailBytesMax: seed.isMultiple(of: 3) ? .random(in: 4_000...30_000, using: &random) : .max,
            partitionCount: .random(in: 1...4, using: &random),
            segmentBytes: .random(in: 1...600, using: &random))
        limits = keepsAll ? .limits(entriesMax: 10_000, partitionCount: 3) : narrow
        firstEpoch = random.next()
        broker = Broker(limits: limits, firstEpoch: firstEpoch)
        guard takesOver else { return }
        journal = []
        broker.keepJournal(settlingFor: 0, now: now)
    }

    /// Another broker continues with what is in the journal.
    private mutating func takeOver() throws {
        guard var journal else { return }
        // Now and then Redis has lost the journal before, and the leader has written everything again.
        if random.chance(1, in: 3) {
            journal = broker.checkpoint(now: now)
            forgetWhatWasLost()
        }
        self.journal = journal
        events.takeovers += 1
        var replay = JournalReplay(limits: limits, firstEpoch: firstEpoch)
        for batch in journal {
            try batch.withUnsafeReadableBytes { bytes in try replay.read(bytes) }
        }
        broker = Broker(continuing: replay, now: now)
        broker.keepJournal(settlingFor: 0, now: now)
        for interest in interests.keys { leave(interest, tellingBroker: false) }
    }

    /// A checkpoint says up to where a channel has lost entries, and not of which kinds. Of channels that
    /// aren't there it says nothing, and they lie in any partition.
    private mutating func forgetWhatWasLost() {
        if Self.keys.contains(where: { broker.slot(of: $0) == nil }) {
            unknown = heads
        } else {
            for (key, partition) in partitions {
                guard let slot = broker.slot(of: key) else { continue }
                unknown[partition] = max(
                    unknown[partition] ?? 0, broker.channels[slot].chain.newestLost)
            }
        }
    }

    mutating func step() throws {
        passTime()
        defer { if journal != nil { journal?.append(broker.takeJournal()) } }
        if journal != nil, random.chance(1, in: 25) { return try takeOver() }
        switch Int.random(in: 0..<23, using: &random) {
        case 20..<23: try appendEvent()
        case 0..<6: try publish()
        case 6: try publishAgain()
        case 7:
            try random.chance(1, in: 2) ? publishAgain() : publishLate()
            try publishLost()
        case 8..<12: try attach()
        case 12..<14: leave(anyInterest())
        case 14: closeLink(.random(in: 1...3, using: &random))
        case 15..<18: try read()
        default: sweep()
        }
        let bytesMax = limits.tailBytesMax.addingReportingOverflow(Self.openBytesMax)
        #expect(
            bytesMax.overflow || broker.tailBytes <= bytesMax.partialValue,
            "seed \(seed): more bytes than there may be")
    }

    mutating func finish() {
        for (interest, key) in interests {
            let missed = seen[interest].map { logs[key]?.offsets(after: $0.offset) ?? [] }
            #expect(missed == [], "seed \(seed): \(interest) missed something")
        }
        for link in 1...3 { closeLink(link) }
        for _ in 0..<50 { broker.sweep(1000, now: latest + limits.ageMax + limits.idleMax + 10_000) }
        #expect(!forgetsNumbers || broker.forgottenCount <= 4, "seed \(seed)")
        #expect(broker.tailBytes == 0, "seed \(seed): bytes are counted that nobody holds")
        #expect(broker.channelCount == 0, "seed \(seed): nobody wants them, and yet they stay")
    }

    private mutating func passTime() {
        if random.chance(1, in: 20) {
            now -= .random(in: 0...50, using: &random)
        } else {
            now += .random(in: 0...(random.chance(1, in: 15) ? 900 : 10), using: &random)
        }
        latest = max(latest, now)
    }

    private mutating func anyKey() -> ChannelKey { Self.keys.randomElement(using: &random) ?? .message("") }

    private mutating func anyMessageKey() -> ChannelKey {
        Self.keys.filter { $0.type == .message }.randomElement(using: &random) ?? .message("")
    }

    private mutating func anyInterest() -> Broker.Interest {
        .init(link: .random(in: 1...3, using: &random), id: .random(in: 1...4, using: &random))
    }

    private mutating func anyPosition(_ key: ChannelKey) -> StreamPosition {
        let epoch = logs[key]?.epoch ?? random.next()
        let unknown = StreamPosition(epoch: epoch, offset: .random(in: 0...40, using: &random))
        return random.chance(1, in: 5) ? unknown : memories[key]?.randomElement(using: &random) ?? unknown
    }
}

// MARK: - Events

extension BrokerHistory {
    private mutating func publish() throws {
        let key = anyKey()
        let publisher = Self.publishers.randomElement(using: &random) ?? ""
        let times = Int.random(in: 1...3, using: &random)
        let origin = PublishOrigin(instance: UInt64(publisher.count), sequence: nextSequence)
        for _ in 0..<times {
            sent.append(Sent(key: key, publisher: publisher, sequence: nextSequence, at: now))
            nextSequence += 1
        }
        // Some messages get lost before they reach the broker, or come late.
        if random.chance(1, in: 6) {
            lost += sent.suffix(times)
            if random.chance(1, in: 2) { late += sent.suffix(1) }
            return
        }
        try publish(origin, times: times, to: key, by: publisher)
    }

    /// What was stuck in a connection for a while arrives, whatever its client has done since.
    private mutating func publishLate() throws {
        late.removeAll { $0.at + PublisherMarks.lateMax < now }
        guard let index = late.indices.randomElement(using: &random) else { return }
        let old = late.remove(at: index)
        let origin = PublishOrigin(instance: UInt64(old.publisher.count), sequence: old.sequence)
        events.late += 1
        try publish(origin, times: 1, to: old.key, by: old.publisher, isLate: true)
    }

    private mutating func publishAgain() throws {
        guard let old = sent.suffix(12).randomElement(using: &random) else { return }
        try publishAgain(old)
    }

    private mutating func publishLost() throws {
        guard let index = lost.indices.suffix(3).randomElement(using: &random) else { return }
        try publishAgain(lost.remove(at: index))
    }

    private mutating func publishAgain(_ old: Sent) throws {
        let origin = PublishOrigin(
            instance: UInt64(old.publisher.count), sequence: old.sequence,
            againAfter: UInt32(max(now, old.at) - old.at))
        try publish(origin, times: 1, to: old.key, by: old.publisher)
    }

    private mutating func publish(
        _ origin: PublishOrigin, times: Int, to key: ChannelKey, by publisher: String, isLate: Bool = false
    ) throws {
        let needsReceiver = random.chance(1, in: 3)
        let expected = Set(interests.filter { $0.value == key }.keys)
        let text = String(repeating: "x", count: .random(in: 0...60, using: &random))
        let appended: Broker.Appended
        do throws(RTMError) {
            appended = try broker.publish(
                text, times: times, to: key, by: publisher, needsReceiver: needsReceiver, origin: origin,
                now: now)
        } catch {
            #expect(!mustKnow(origin, key), "seed \(seed): refused what is in the log")
            if error.code == .channelPublishMessageFailed {
                events.unknown += 1
                let isBehind = (marked[key]?[publisher] ?? 0) >= origin.sequence
                #expect(origin.againAfter != nil || isLate && isBehind, "seed \(seed): refused what is new")
                return
            }
            events.refusals += 1
            #expect(
                error.code == .channelReceiverOffline && needsReceiver && expected.isEmpty, "seed \(seed)")
            return
        }
        let entries = appended.entries
        if entries.count == 0 { return judgeRepeated(origin, key, appended) }
        #expect(!needsReceiver || !expected.isEmpty, "seed \(seed): delivered to nobody")
        var log = logs[key] ?? ModelLog(touched: now)
        advance(key, to: entries)
        #expect(log.offset(ofSequence: origin.sequence) == nil, "seed \(seed): a message twice in one log")
        let lastSequence = marked[key]?[publisher] ?? 0
        #expect(lastSequence < origin.sequence, "seed \(seed): behind a newer one of its client")
        if origin.againAfter != nil {
            events.afresh += 1
            let before = published[key]?[publisher]?.contains(origin.sequence) ?? false
            #expect(!before, "seed \(seed): published again")
        }
        for index in 0..<UInt64(entries.count) {
            published[key, default: [:]][publisher, default: []].insert(origin.sequence + index)
        }
        marked[key, default: [:]][publisher] = origin.sequence + UInt64(entries.count) - 1
        log.append(
            entries, broker.frames(of: appended), by: publisher, sequence: origin.sequence, now: now)
        logs[key] = log
        #expect(Set(appended.interests) == expected, "seed \(seed)")
        #expect(appended.interests.count == expected.count, "seed \(seed): an interest twice")
        for interest in appended.interests {
            for index in 0..<UInt64(entries.count) { deliver(entries.offset + index, to: interest) }
        }
    }

    /// A service appends, or repeats what it appended before.
    private mutating func appendEvent() throws {
        let (key, source) = (anyMessageKey(), UInt64.random(in: 0...3, using: &random))
        let last = sources[key]?[source]?.last?.sequence ?? 0
        let isRepetition = random.chance(1, in: 3)
        let sequence =
            isRepetition ? .random(in: 0...last, using: &random) : last + .random(in: 1...5, using: &random)
        let publisher = Self.publishers.randomElement(using: &random) ?? ""
        let session = UInt64.random(in: 0...1, using: &random)
        let event = try broker.append(
            to: key, by: publisher, session: session, source: source, sequence: sequence, now: now)
        #expect(
            event.position.epoch == logs[key]?.epoch ?? event.position.epoch,
            "seed \(seed): another log, and yet it is not empty")
        guard let appended = event.appended.first else {
            events.repetitions += 1
            #expect(source != 0 && sequence <= last, "seed \(seed): an event was passed over")
            return judgeRepeated(sequence, sources[key]?[source] ?? [], at: event.position, of: key)
        }
        let known = sources[key]?[source]?.last?.sequence
        #expect(source == 0 || known.map { sequence > $0 } ?? true, "seed \(seed): appended twice")
        events.appends += 1
        var log = logs[key] ?? ModelLog(touched: now)
        advance(key, to: appended.entries)
        log.epoch = event.position.epoch
        // An event without a session is for its user, too: no reader leaves it out.
        log.append(
            appended.entries, broker.frames(of: appended), by: session == 0 ? "everybody" : publisher,
            now: now)
        logs[key] = log
        if source != 0 {
            sources[key, default: [:]][source, default: []].append((sequence, event.position.offset))
        }
        #expect(
            Set(appended.interests) == Set(interests.filter { $0.value == key }.keys), "seed \(seed)")
        for interest in appended.interests { deliver(event.position.offset, to: interest) }
    }

    private mutating func deliver(_ offset: UInt64, to interest: Broker.Interest) {
        events.deliveries += 1
        guard let position = seen[interest], let key = interests[interest] else {
            Issue.record("seed \(seed): a delivery for \(interest), who isn't attached")
            return
        }
        #expect(
            logs[key]?.offsets(after: position.offset).first == offset, "seed \(seed): not the next entry")
        seen[interest]?.offset = offset
        if random.chance(1, in: 3) {
            memories[key, default: []].append(StreamPosition(epoch: position.epoch, offset: offset))
        }
    }

    private mutating func attach() throws {
        let (interest, key) = (anyInterest(), anyKey())
        let after: StreamPosition? = random.chance(2, in: 3) ? anyPosition(key) : nil
        leave(interest, tellingBroker: false)
        let attached = try broker.attach(interest, to: key, after: after, now: now)
        observe(key, at: attached.position)
        interests[interest] = key
        guard let after else {
            #expect(attached.missed.isEmpty, "seed \(seed)")
            seen[interest] = attached.position
            return
        }
        let isGap = judge(after, in: key, attached.skippedTo, except: "", .all)
        events.replays += 1
        seen[interest] = isGap ? attached.skippedTo : after
        for entry in attached.missed {
            #expect(logs[key]?.has(entry) == true, "seed \(seed)")
            deliver(entry.offset, to: interest)
        }
        let rest = logs[key]?.offsets(after: seen[interest]?.offset ?? 0) ?? []
        #expect(rest.isEmpty, "seed \(seed): not everything was replayed")
        seen[interest] = attached.position
    }

    private mutating func read() throws {
        let key = anyKey()
        var position = anyPosition(key)
        let publisher = random.chance(1, in: 2) ? "bob" : ""
        let bytesMax = Int.random(in: 0...400, using: &random)
        let features: SubscriptionFeatures =
            [.all, .message, .presence, .lock, [.message, .ownMessages], [.presence, .ownMessages]]
            .randomElement(using: &random) ?? .all
        var expected: [UInt64]?
        var offsets: [UInt64] = []
        var more = true
        while more {
            events.pages += 1
            let page = try broker.read(
                key, after: position, except: publisher, features: features, bytesMax: bytesMax, now: now)
            if expected == nil {
                observe(key, at: page.more ? nil : page.position)
                if page.gap, page.more { observe(key, epoch: page.position.epoch) }
                let start = page.gap ? page.position : nil
                if judge(position, in: key, start, except: publisher, features, isRead: true) {
                    #expect(page.entries.isEmpty, "seed \(seed)")
                    position = page.position
                }
                expected = logs[key]?.offsets(after: position.offset, except: publisher, features)
            }
            #expect(!page.gap || offsets.isEmpty, "seed \(seed)")
            #expect(page.entries.allSatisfy { logs[key]?.has($0) == true }, "seed \(seed)")
            offsets += page.entries.map(\.offset)
            more = page.more && (page.gap || page.position.offset > position.offset)
            position = page.position
        }
        #expect(offsets == expected ?? [], "seed \(seed)")
        #expect(position.offset >= logs[key]?.head ?? 0, "seed \(seed): the pages don't reach the head")
    }

    private mutating func leave(_ interest: Broker.Interest, tellingBroker: Bool = true) {
        if tellingBroker { broker.detach(interest, now: now) }
        guard let key = interests.removeValue(forKey: interest), let position = seen[interest] else { return }
        memories[key, default: []].append(position)
        seen[interest] = nil
        logs[key]?.left(now)
    }

    private mutating func closeLink(_ link: Int) {
        broker.linkClosed(link, now: now)
        for interest in interests.keys where interest.link == link {
            leave(interest, tellingBroker: false)
        }
    }
}

// MARK: - Judging

extension BrokerHistory {
    /// Entries were appended: they have the next offsets of their partition.
    private mutating func advance(_ key: ChannelKey, to entries: AppendedEntries) {
        guard let partition = broker.slot(of: key)?.partition else { return }
        partitions[key] = partition
        #expect(
            entries.offset == (heads[partition] ?? 0) + 1, "seed \(seed): not the partition's next offset")
        heads[partition] = entries.offset + UInt64(entries.count) - 1
    }

    /// The broker named the position of a channel's head. A nil position says only that the epoch is the
    /// known one.
    private mutating func observe(_ key: ChannelKey, at position: StreamPosition?) {
        guard let position else { return }
        partitions[key] = broker.slot(of: key)?.partition
        observe(key, epoch: position.epoch)
        #expect(position.offset >= logs[key]?.head ?? 0, "seed \(seed): before the head")
        #expect(position.offset <= partitionHead(key), "seed \(seed): behind everything")
    }

    private func partitionHead(_ key: ChannelKey) -> UInt64 { partitions[key].flatMap { heads[$0] } ?? 0 }

    /// The broker named the epoch of a channel.
    private mutating func observe(_ key: ChannelKey, epoch: UInt64) {
        #expect(logs[key]?.epoch ?? epoch == epoch, "seed \(seed): another epoch of the same process")
        logs[key, default: ModelLog(touched: now)].epoch = epoch
    }

    /// The broker judged whether a position is a gap. The model decides whether that can be.
    private mutating func judge(
        _ position: StreamPosition, in key: ChannelKey, _ start: StreamPosition?, except publisher: String,
        _ features: SubscriptionFeatures, isRead: Bool = false
    ) -> Bool {
        guard let log = logs[key] else { return start != nil }
        if let start {
            events.gaps += 1
            #expect(
                log.mayMiss(after: position, except: publisher, features, bounds(of: key)),
                "seed \(seed): a gap that isn't one")
            let isBeginning = !log.mustGet(upTo: start.offset, bounds(of: key))
            let isHead = start.offset >= log.head && (isRead || position.offset > log.head)
            #expect(
                isBeginning || start.epoch == position.epoch && isHead,
                "seed \(seed): something that the log has is skipped")
            if start.epoch != position.epoch, start.offset < log.head { events.beginnings += 1 }
        } else {
            #expect(log.epoch == nil || position.epoch == log.epoch, "seed \(seed): continued another log")
            #expect(position.offset <= partitionHead(key), "seed \(seed): continued from the future")
        }
        return start != nil
    }

    /// A repeated publish was answered out of the log.
    private mutating func judgeRepeated(
        _ origin: PublishOrigin, _ key: ChannelKey, _ appended: Broker.Appended
    ) {
        events.repeated += 1
        let offset = logs[key]?.offset(ofSequence: origin.sequence)
        #expect(offset == appended.entries.offset, "seed \(seed): another entry than the first time")
        #expect(offset.flatMap { logs[key]?.time(at: $0) } == appended.entries.time, "seed \(seed)")
        #expect(origin.againAfter != nil && appended.interests.isEmpty, "seed \(seed)")
    }

    /// A repeated append was answered with the offset of the event, or with the offset that it lies before or
    /// behind.
    private mutating func judgeRepeated(
        _ sequence: UInt64, _ appends: [(sequence: UInt64, offset: UInt64)], at position: StreamPosition,
        of key: ChannelKey
    ) {
        #expect(position.epoch == logs[key]?.epoch ?? position.epoch, "seed \(seed): another log")
        logs[key]?.epoch = position.epoch
        let remembered = appends.suffix(AppendSources.positionsMax)
        let offset = remembered.last { $0.sequence <= sequence }?.offset
        let expected = offset ?? remembered.first.map { $0.offset - 1 }
        #expect(position.offset == expected, "seed \(seed): another offset than the first time")
    }

    /// Whether a repeated publish must be known, because its first copy can't have left the log yet.
    private func mustKnow(_ origin: PublishOrigin, _ key: ChannelKey) -> Bool {
        guard origin.againAfter != nil, let log = logs[key],
            let offset = log.offset(ofSequence: origin.sequence)
        else { return false }
        return log.mustGet(after: offset - 1, bounds(of: key))
    }

    private func bounds(of key: ChannelKey) -> ModelLog.Bounds {
        let app = broker.channels.apps.number(of: key.appID)
        let newestGiven = app.map { broker.channels.apps[$0].newestGiven } ?? 0
        return ModelLog.Bounds(
            countMax: limits.catchUpEntriesMax, bytesMax: limits.catchUpBytesMax, ageMax: limits.ageMax,
            latest: latest, newestGiven: newestGiven, partitionHead: partitionHead(key),
            unknownUntil: partitions[key].flatMap { unknown[$0] } ?? 0)
    }

    /// Even the numbers of forgotten channels are forgotten soon.
    private var forgetsNumbers: Bool { limits.forgottenPerAppMax == 2 }

    /// A sweep forgets channels, and they continue where they stood.
    private mutating func sweep() {
        let before = Self.keys.filter { broker.slot(of: $0) != nil }
        broker.sweep(.random(in: 1...20, using: &random), now: now)
        for key in before where broker.slot(of: key) == nil {
            events.forgotten += 1
            if forgetsNumbers, let partition = partitions[key] { unknown[partition] = heads[partition] }
            sources[key] = nil
            marked[key] = nil
            // Nothing is as late as that.
            late.removeAll { $0.key == key }
            #expect(
                !interests.values.contains(key), "seed \(seed): \(key.name) was forgotten despite interest")
            guard let log = logs[key] else { continue }
            // The broker goes by a clock that steps back by up to 50.
            #expect(log.touched + limits.idleMax < latest + 50, "seed \(seed): forgotten too early")
            #expect(!log.mustKeepNewest(bounds(of: key)), "seed \(seed): forgotten with its entries")
        }
    }
}
