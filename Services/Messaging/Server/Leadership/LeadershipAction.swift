import NIOCore

/// What `ShardLeadership` wants done. `RedisJournal` carries it out.
enum LeadershipAction: Equatable {
    // Sent to Redis.

    /// Ask Redis for the leadership.
    ///
    /// - Parameters:
    ///   - createsJournal: whether a journal begins where there is none.
    ///   - electionDelay: for how many milliseconds nobody must have led.
    ///   - readUntil: how far this node has read ahead as the successor of the leader.
    case requestLeadership(
        leaderToken: UInt64, createsJournal: Bool, electionDelay: UInt64, readUntil: JournalPosition?)
    /// Read the batches behind this one, as far as one page goes. The answer counts while the journal is read
    /// under this leader token.
    case readJournal(leaderToken: UInt64, after: UInt64)
    case append(JournalAppend)
    /// Ask Redis to let this node lead under another leader token.
    case reinstate(leaderToken: UInt64, before: UInt64, empties: Bool, isWhole: Bool)
    /// Name the successor, and ask how far it has read. An offer holds for a lease.
    case offerLeadership(leaderToken: UInt64, to: String)
    /// Everything is written. Let this node lead; empty: any node.
    case transferLeadership(leaderToken: UInt64, last: UInt64, to: String)

    // Done at this node.

    /// Make ready to read the journal from its beginning.
    case beginRecovery(JournalTerm)
    /// What was read doesn't count.
    case discardRecovery
    /// Lead.
    ///
    /// - Parameter isAnew: with empty logs, because the journal may lack what was acknowledged.
    case becomeLeader(JournalTerm, isAnew: Bool)
    /// This node still leads, under a later term: announce that.
    case announceTerm(JournalTerm)
    /// Look at once whether Redis has another master.
    case searchMaster
    /// Everything that waits for the batches up to this one may leave the node.
    case releaseOutput(UInt64)
    /// Make the next page of the checkpoint.
    ///
    /// - Parameter isFirst: whether the journal is empty.
    case writeCheckpoint(isFirst: Bool)
    /// Another node leads, or may lead from now on. Close the links for this reason, and keep what is in
    /// memory until it is certain that the other node leads.
    case awaitSuccessor(String)
    /// The leadership could not be transferred, or was lost: serve again.
    case resumeServing
    /// Another node leads. Forget everything, and discard what waits for the journal.
    ///
    /// - Parameter closesLinks: whether the links are from the time in which this node was the leader.
    case stepDown(String, closesLinks: Bool)
    /// The configuration of this node doesn't fit the journal.
    case refuse(String)
}
