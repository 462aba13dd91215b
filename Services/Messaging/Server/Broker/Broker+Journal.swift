package import NIOCore
import RTMWire

extension Broker {
    /// Records from now on what happens. The caller takes it at the end of each turn.
    ///
    /// - Parameter settling: for how many milliseconds the users who were online at the former leader count
    ///   as online.
    package mutating func keepJournal(settlingFor settling: UInt64, now: UInt64) {
        settlesAt = now + settling
        channels.leaderSince = now
        journal.begin()
        journalHeads(now: now)
    }

    package var hasJournaled: Bool { !journal.isEmpty }

    /// What has happened since the last call.
    package mutating func takeJournal() -> ByteBuffer { journal.take() }

    /// Records the heads of all partitions. A node that reads the journal from any batch on finds them soon.
    package mutating func journalHeads(now: UInt64) { journal.note(channels.heads(now: now)) }

    mutating func noteClaim(at place: ChannelPlace) {
        guard journal.isKept, let claim = channels[place].journaledClaim else { return }
        journal.note(claim)
    }

    /// The next page of what is in memory, for a journal that was lost.
    func checkpointPage(_ cursor: inout CheckpointCursor, now: UInt64) -> (bytes: ByteBuffer, isLast: Bool) {
        cursor.page(of: channels, begin: begin, now: now)
    }
}
