import RTMModel
import RTMWire

/// What another node has written into the journal becomes what it was there.
extension LogTable {
    /// The heads of all partitions, for the journal.
    ///
    /// - Parameter begin: the time from which everything is known, if that isn't now.
    func heads(now: UInt64, begin: UInt64? = nil) -> JournaledHeads {
        JournaledHeads(
            heads: partitions.indices.compactMap { partition in
                let head = partitions[partition].head
                return head > 0 ? JournaledHead(partition: UInt32(partition), offset: head) : nil
            }, time: begin ?? now)
    }

    /// - Parameter isFirst: whether nothing is known of what was before. Then any channel may have had
    ///   entries up to these heads.
    mutating func restore(_ heads: JournaledHeads, isFirst: Bool) {
        for head in heads.heads where partitions.indices.contains(Int(head.partition)) {
            let partition = Int(head.partition)
            partitions[partition].head = max(partitions[partition].head, head.offset)
            if isFirst { apps.unknown[UInt16(partition)] = .init(head: head.offset, timestamp: heads.time) }
        }
        if isFirst { knownFrom = sequence }
    }

    /// - Parameter since: entries that are older aren't in the journal.
    ///
    /// - Returns: the slot of the channel; nil if the channel has these entries already.
    mutating func restore(
        _ entries: JournaledEntries, _ frames: [UnsafeRawBufferPointer], since: UInt64
    ) throws(RTMError) -> ChannelSlot? {
        let isKnown = entries.channel.withView(slot(of:)) != nil
        let slot = try occupy(entries.channel, by: .service, now: entries.timestamp)
        let (partition, index) = (Int(slot.partition), Int(slot.index))
        if !isKnown {
            partitions[partition].channels[index].chain = ChannelChain(
                unknownUntil: entries.previous, timestamp: min(since, entries.timestamp - 1))
        }
        guard entries.offset > partitions[partition].channels[index].chain.head else { return nil }
        dropOldestEntries()
        let app = partitions[partition].channels[index].app
        apps.changeTail(of: app) { tail in
            if let begin = tail.openSince, begin + limits.ageMax / Self.segmentsPerAge < entries.timestamp {
                tail.close()
            }
            tail.restore(entries, frames, at: slot, to: &partitions[partition].channels[index].chain)
        }
        partitions[partition].head = max(
            partitions[partition].head, entries.offset + UInt64(entries.count) - 1)
        return slot
    }

    mutating func restore(_ version: JournaledVersion, now: UInt64) throws(RTMError) {
        let slot = try occupy(version.channel, by: .service, now: now)
        setVersion(ChannelVersion(version), at: slot)
    }

    /// A channel that has nothing in the journal but this, or nothing but an ownership, which doesn't say
    /// what it had before.
    mutating func restore(_ channel: JournaledChannel) throws(RTMError) {
        let slot = try occupy(channel.channel, by: .service, now: channel.timestamp)
        guard self[slot].chain.newest == .none else { return }
        self[slot].chain = ChannelChain(
            unknownUntil: channel.head, timestamp: channel.timestamp, hadEntries: channel.hadEntries)
    }
}
