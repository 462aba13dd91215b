import NIOCore
import RTMModel
import RTMWire

/// How far the checkpoint of a shard has come: everything in memory is written to a journal that was lost.
/// First come the channels without entries, partition by partition, then the entries, segment by segment, and
/// then the ownerships of the channels that have entries, and their versions. An ownership that came before
/// them would begin the channel, and the entries would be skipped.
struct CheckpointCursor {
    /// A page has about this many bytes, so that it takes a millisecond or less.
    private static let pageBytes = 256 * 1024

    private var partition = 0
    private var app = 0
    private var segment: UInt32 = 0
    /// The next partition whose ownerships are written.
    private var ownerships = 0

    /// The next page, as a batch.
    ///
    /// - Parameter begin: the time from which everything is known; nil if that is now.
    mutating func page(
        of channels: LogTable, begin: UInt64?, now: UInt64
    ) -> (bytes: ByteBuffer, isLast: Bool) {
        var batch = JournalBatch()
        if partition == 0 { batch.append(channels.heads(now: now, begin: begin)) }
        while !isOver(channels), batch.bytes.readableBytes < Self.pageBytes {
            if partition < channels.partitions.count {
                for (channel, version) in channels.channels(of: partition) where !channels.holds(channel) {
                    channel.record(in: &batch)
                    channel.record(version, in: &batch)
                }
                partition += 1
            } else if app < channels.apps.indices.count {
                recordSegment(of: channels, &batch)
            } else {
                for (channel, version) in channels.channels(of: ownerships) where channels.holds(channel) {
                    channel.record(in: &batch, withRest: false)
                    channel.record(version, in: &batch)
                }
                ownerships += 1
            }
        }
        return (batch.take(), isOver(channels))
    }

    private func isOver(_ channels: LogTable) -> Bool {
        ownerships == channels.partitions.count
    }

    private mutating func recordSegment(of channels: LogTable, _ batch: inout JournalBatch) {
        let tail = channels.apps[app].tail
        guard let next = tail.firstSegment(from: segment) else {
            (app, segment) = (app + 1, 0)
            return
        }
        for record in next.records { write(record, in: next, of: tail, channels[record.channel], &batch) }
        // What the open segment gets from now on is recorded, and written behind the checkpoint.
        if next.number == tail.open.number {
            (app, segment) = (app + 1, 0)
        } else {
            segment = next.number + 1
        }
    }

    private func write(
        _ record: EntryRecord, in segment: EntrySegment, of tail: EntryTail, _ channel: BrokerChannel,
        _ batch: inout JournalBatch
    ) {
        guard let key = channel.key else { return }
        segment.frames.withUnsafeReadableBytes { bytes in
            let frame = bytes[Int(record.start)..<Int(record.start + record.length)]
            var entries = JournaledEntries(
                channel: key, offset: record.offset, timestamp: record.timestamp, count: 1,
                publisherSession: record.publisherSession, feature: record.feature,
                frames: WireText(UnsafeRawBufferPointer(rebasing: frame)))
            entries.order = record.time.order
            let origin = channel.chain.origin(of: record)
            (entries.user, entries.client, entries.sequence) = (origin.user, origin.client, origin.sequence)
            if let append = channel.sources.append(at: record.offset) {
                (entries.source, entries.sourceSequence) = append
            }
            entries.previous =
                tail.holds(record.previous)
                ? tail.record(at: record.previous).offset : channel.chain.newestLost
            batch.append(entries)
        }
    }
}

extension LogTable {
    /// The slots of a partition with the versions of their channels.
    fileprivate func channels(of partition: Int) -> some Sequence<(BrokerChannel, ChannelVersion?)> {
        partitions[partition].channels.lazy.enumerated().map { index, channel in
            (channel, versions[ChannelSlot(index: UInt32(index), partition: UInt16(partition))])
        }
    }

    fileprivate func holds(_ channel: BrokerChannel) -> Bool {
        apps[channel.app].tail.holds(channel.chain.newest)
    }
}
