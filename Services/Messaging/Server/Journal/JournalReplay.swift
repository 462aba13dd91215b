import NIOCore
import RTMModel
import RTMWire

/// Why a journal can't be continued.
package enum JournalFault: Error, Hashable {
    /// The bytes are no batch, or one that this version doesn't know.
    case undecodable
    /// There are more channels than this node may have.
    case tooLarge(String)
}

/// The logs of a shard, as its journal has them. A value without I/O; a broker continues with it.
package struct JournalReplay {
    let limits: BrokerLimits
    let names: NameHash
    private(set) var channels: LogTable
    private(set) var lastOwnership: UInt64 = 0
    /// The logs have nothing from before this time, in milliseconds; nil if nothing was read.
    private(set) var begin: UInt64?

    /// - Parameters: `firstEpoch` and `secret` are those of the broker that wrote the journal.
    package init(limits: BrokerLimits, firstEpoch: UInt64, secret: UInt64 = 0) {
        self.limits = limits
        names = NameHash(secret: secret)
        channels = LogTable(limits: limits, firstEpoch: firstEpoch, names: names)
    }

    /// Repeats what a batch says has happened. Batches come in order.
    package mutating func read(_ batch: UnsafeRawBufferPointer) throws(JournalFault) {
        var fault: JournalFault?
        do {
            try JournalBatch.read(batch) { record throws(WireError) in
                guard fault == nil else { return }
                do throws(JournalFault) { try restore(record) } catch { fault = error }
            }
        } catch {
            throw .undecodable
        }
        if let fault { throw fault }
    }

    /// What comes before the first heads is skipped: without heads it isn't known what was before. The heads
    /// count it as unknown.
    private mutating func restore(_ record: JournalRecord) throws(JournalFault) {
        if begin == nil { guard case .heads = record else { return } }
        var run: FrameRun?
        if case .entries(let entries) = record {
            run = FrameRun(entries.frames.bytes, count: entries.count)
            guard run != nil, entries.timestamp > 0, entries.offset < .max >> 1 else { throw .undecodable }
        }
        do throws(RTMError) {
            switch record {
            case .entries(let entries): try restore(entries, run?.frames ?? [])
            case .channel(let channel): try channels.restore(channel)
            case .ownership(let ownership): try restore(ownership)
            case .version(let version): try channels.restore(version, now: begin ?? 0)
            case .heads(let heads):
                channels.restore(heads, isFirst: begin == nil)
                begin = begin ?? heads.time
            }
        } catch {
            throw .tooLarge(error.reason)
        }
    }

    private mutating func restore(
        _ entries: JournaledEntries, _ frames: [UnsafeRawBufferPointer]
    ) throws(RTMError) {
        guard !frames.isEmpty,
            let slot = try channels.restore(entries, frames, since: begin ?? entries.timestamp)
        else { return }
        let oldest = channels.oldestTime(at: slot) ?? entries.timestamp
        let isNewest = channels[slot].chain.admits(
            entries.origin, count: entries.count, oldest: oldest, now: entries.timestamp)
        if isNewest { channels[slot].chain.notePlace(of: entries.origin) }
        channels[slot].sources.appended(
            entries.sourceSequence, from: entries.source,
            at: .init(offset: entries.offset, timestamp: entries.timestamp))
    }

    private mutating func restore(_ ownership: JournaledOwnership) throws(RTMError) {
        let slot = try channels.occupy(ownership.channel, by: .owner, now: begin ?? 0)
        lastOwnership = max(lastOwnership, ownership.number)
        channels[slot].ownership = BrokerChannel.Ownership(
            number: ownership.number, owner: ownership.owner, isAwaited: ownership.isOnline)
        if ownership.attempt > 0 { _ = channels[slot].logins.admits(ownership.owner, ownership.attempt) }
    }
}

/// Frames that lie one behind the other.
private struct FrameRun {
    let frames: [UnsafeRawBufferPointer]

    /// Nil if there aren't exactly so many.
    init?(_ bytes: UnsafeRawBufferPointer, count: Int) {
        var (frames, rest) = ([UnsafeRawBufferPointer](), bytes[...])
        frames.reserveCapacity(count)
        while rest.count >= FrameReader.prefixLength {
            let prefix = UnsafeRawBufferPointer(rebasing: rest)
            let length =
                FrameReader.prefixLength
                + Int(UInt32(bigEndian: prefix.loadUnaligned(as: UInt32.self)))
            guard length <= rest.count else { return nil }
            frames.append(UnsafeRawBufferPointer(rebasing: rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        guard rest.isEmpty, frames.count == count else { return nil }
        self.frames = frames
    }
}
