package import NIOCore
import RTMWire

extension Broker {
    /// Gathers from now on what happens. The caller takes it at the end of each turn.
    ///
    /// - Parameter settling: for so many milliseconds users who were online at the node before count as
    ///   online.
    package mutating func keepJournal(settlingFor settling: UInt64, now: UInt64) {
        settlesAt = now + settling
        channels.ledSince = now
        journal.begin()
        journalHeads(now: now)
    }

    package var hasJournaled: Bool { !journal.isEmpty }

    /// What has happened since the last call.
    package mutating func takeJournal() -> ByteBuffer { journal.take() }

    /// Tells the journal where all partitions stand. A node that reads the journal from any place finds it
    /// soon.
    package mutating func journalHeads(now: UInt64) { journal.note(channels.heads(now: now)) }

    mutating func noteClaim(at place: ChannelPlace) {
        guard journal.isKept, let claim = channels[place].journaledClaim else { return }
        journal.note(claim)
    }

    /// The next part of what is in memory, for a journal that was lost.
    func part(_ walk: inout CheckpointCursor, now: UInt64) -> (bytes: ByteBuffer, isLast: Bool) {
        walk.part(of: channels, begin: begin, now: now)
    }
}
