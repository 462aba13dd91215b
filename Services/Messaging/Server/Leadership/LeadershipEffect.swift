import NIOCore

/// What a journal machine wants done.
enum LeadershipEffect: Equatable {
    /// Ask Redis for the lead.
    ///
    /// - Parameters:
    ///   - begins: whether a journal begins where there is none.
    ///   - patience: for so many milliseconds nobody must have led.
    ///   - ahead: what this node has read ahead as the successor of the leader.
    case take(token: UInt64, begins: Bool, patience: UInt64, ahead: JournalPosition?)
    /// What other nodes wrote comes next, from the beginning.
    case prepare(JournalTerm)
    /// What was read doesn't count.
    case forget
    /// Read what is in the journal behind this batch, as far as one page goes. The answer counts while the
    /// machine reads under this token.
    case read(token: UInt64, after: UInt64)
    /// Lead with what was read.
    case lead(JournalTerm)
    /// Lead with nothing: what is in the journal may not be all that was acknowledged.
    case leadAnew(JournalTerm)
    case append(JournalAppend)
    /// Tell Redis that this node goes on under another token.
    case reinstate(token: UInt64, before: UInt64, empties: Bool, isWhole: Bool)
    /// Everything that waits for the batches up to this one may leave the node.
    case release(UInt64)
    /// Say what is in memory behind what was said before, a part at a time.
    ///
    /// - Parameter isFirst: whether the journal is empty.
    case rewrite(isFirst: Bool)
    /// Name the node that is to lead next, and ask how far it has read. It holds for a lease.
    case offer(token: UInt64, to: String)
    /// Take nothing in any more: this node is about to hand over.
    case leave
    /// Everything is written. Let this node lead; empty: any.
    case handOver(token: UInt64, last: UInt64, to: String)
    /// The successor may lead. Keep what is in memory until it does.
    case part
    /// It couldn't be handed over: go on.
    case stay
    /// Another node leads: forget everything, and let nothing out that waits.
    case stepDown(String)
    /// The configuration of this node doesn't go with the journal.
    case refuse(String)
}

/// A lead, as Redis gave it.
struct JournalTerm: Equatable {
    /// Grows with each lead.
    var term: UInt64
    /// The term of the lead whose logs it goes on with; of new logs: its own term.
    var follows: UInt64
    /// Of the first partition.
    var epoch: UInt64
    /// Decides about the numbers of channels and clients.
    var secret: UInt64

    /// The term of new logs behind a later lead; nil if this lead goes on with that one's logs, or is it.
    func outbidding(_ later: UInt64) -> JournalTerm? {
        guard follows < later, term != later else { return nil }
        var next = self
        next.term = max(term, later) + 1
        return next
    }

    /// The lead goes on with new logs.
    mutating func beginAnew(_ epoch: UInt64) { (self.epoch, follows) = (epoch, term) }

    /// Clients in JavaScript read numbers exactly only below 2^53.
    static func epoch(from random: UInt64) -> UInt64 { random >> 13 | 1 }
}

/// How far a node has read the journal.
struct JournalPosition: Equatable {
    /// The token under which it was written.
    let leader: UInt64
    /// The last batch.
    let last: UInt64
}

/// One batch on its way.
struct JournalAppend: Equatable {
    let token: UInt64
    let number: UInt64
    /// Empty: nothing is written, and the lease goes on.
    let bytes: ByteBuffer
    let oldestKept: UInt64
    /// Whether the journal has with it all that the node has in memory.
    let isWhole: Bool
}

/// What Redis answers.
enum JournalAnswer {
    enum Take: Equatable {
        case held(by: String)
        case empty
        /// The leader is about to let this node lead.
        ///
        /// - Parameters:
        ///   - of: its token.
        ///   - last: the last batch that it has written.
        case successor(of: UInt64, JournalTerm, last: UInt64)
        /// - Parameters:
        ///   - isWhole: whether the journal has all that was acknowledged.
        ///   - after: the token of the leader before; 0 if there was none.
        case taken(JournalTerm, last: UInt64, isWhole: Bool, after: UInt64)
        /// The journal was begun for another layout of the channels.
        case otherLayout(String)
    }

    enum Append: Equatable {
        case done
        /// Another node leads.
        case ended
        /// Redis may have lost something.
        case doubt
        /// There was no answer. The batch may be there or not.
        case unknown
    }

    enum HandOver: Equatable {
        case done
        /// Another node leads.
        case ended
        /// Redis may not have everything.
        case lost
        /// There was no answer. It may be done or not.
        case unknown
    }

    enum Reinstate: Equatable {
        case done(last: UInt64)
        case ended
        case unknown
    }
}
