package import NIOCore
import RTMModel
import RTMWire

/// Records for the journal what happens in a broker, so that another node can continue its logs.
struct JournalRecorder {
    /// Nil if no journal is kept.
    private var batch: JournalBatch?

    var isKept: Bool { batch != nil }
    var isEmpty: Bool { batch?.isEmpty ?? true }

    mutating func begin() { batch = JournalBatch() }

    /// What was recorded since the last call.
    mutating func take() -> ByteBuffer { batch?.take() ?? ByteBuffer() }

    mutating func note(_ heads: JournaledHeads) { batch?.append(heads) }

    mutating func note(_ ownership: JournaledOwnership) { batch?.append(ownership) }

    mutating func note(_ version: JournaledVersion) { batch?.append(version) }

    /// Channels that have nothing in memory, inboxes that have an owner, and versions are recorded again and
    /// again, so that a journal that is cut off at its old end has each of them.
    mutating func note(_ channel: BrokerChannel, _ version: ChannelVersion?) {
        guard var batch = batch.take() else { return }
        channel.record(in: &batch)
        channel.record(version, in: &batch)
        self.batch = batch
    }

    /// - Parameters: `source` and `sourceSequence` say which event it is.
    mutating func note(
        _ appended: AppendedEntries, _ origin: EntryOrigin, at slot: ChannelSlot, in channels: LogTable,
        source: UInt64 = 0, sourceSequence: UInt64 = 0
    ) {
        guard let key = channels[slot].key, var batch = batch.take() else { return }
        let isFirst = channels.tail(of: slot).record(at: appended.place).previous == .none
        let previous =
            isFirst ? channels[slot].chain.newestLost : appended.offset - appended.offsetsBetween - 1
        channels.frames(of: appended).withUnsafeReadableBytes { frames in
            var record = JournaledEntries(
                channel: key, offset: appended.offset, timestamp: appended.timestamp, count: appended.count,
                publisherSession: appended.publisherSession, feature: appended.feature,
                frames: WireText(frames))
            record.order = appended.time.order
            record.user = origin.user
            record.client = origin.client
            record.sequence = origin.sequence
            record.previous = previous
            record.source = source
            record.sourceSequence = sourceSequence
            batch.append(record)
        }
        self.batch = batch
    }
}

extension BrokerChannel {
    /// Records what the entries don't say.
    ///
    /// - Parameter withRest: whether the tail has no entry of it.
    func record(in batch: inout JournalBatch, withRest: Bool = true) {
        if withRest, let journaledRest { batch.append(journaledRest) }
        if let journaledOwnership { batch.append(journaledOwnership) }
    }

    func record(_ version: ChannelVersion?, in batch: inout JournalBatch) {
        guard let key, let version else { return }
        batch.append(version.journaled(of: key))
    }

    var journaledOwnership: JournaledOwnership? {
        guard let key, let ownership else { return nil }
        return JournaledOwnership(
            channel: key, number: ownership.number, owner: ownership.owner,
            isOnline: ownership.interest != nil || ownership.isAwaited,
            attempt: logins.last(of: ownership.owner))
    }

    private var journaledRest: JournaledChannel? {
        key.map {
            JournaledChannel(
                channel: $0, head: chain.head, timestamp: chain.lastTimestamp,
                hadEntries: chain.hasHadEntries)
        }
    }
}

extension ChannelVersion {
    func journaled(of channel: ChannelKey) -> JournaledVersion {
        JournaledVersion(channel: channel, version: number, epoch: epoch)
    }
}

extension Broker {
    /// Records from now on what happens. The caller takes it at the end of each turn.
    ///
    /// - Parameter settling: for how many milliseconds the users who were online at the former leader count
    ///   as online.
    package mutating func keepJournal(settlingFor settling: UInt64, now: UInt64) {
        settlesAt = now + settling
        channels.leaderSince = now
        recorder.begin()
        journalHeads(now: now)
    }

    package var hasJournaled: Bool { !recorder.isEmpty }

    /// What has happened since the last call.
    package mutating func takeJournal() -> ByteBuffer { recorder.take() }

    /// Records the heads of all partitions. A node that reads the journal from any batch on finds them soon.
    package mutating func journalHeads(now: UInt64) { recorder.note(channels.heads(now: now)) }

    mutating func noteOwnership(at slot: ChannelSlot) {
        guard recorder.isKept, let ownership = channels[slot].journaledOwnership else { return }
        recorder.note(ownership)
    }

    /// The next page of what is in memory, for a journal that was lost.
    func checkpointPage(_ cursor: inout CheckpointCursor, now: UInt64) -> (bytes: ByteBuffer, isLast: Bool) {
        cursor.page(of: channels, begin: begin, now: now)
    }
}
