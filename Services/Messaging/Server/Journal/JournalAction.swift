import NIOCore

/// What a journal machine wants done.
enum JournalAction: Equatable {
    /// Ask Redis for the lead.
    ///
    /// - Parameters:
    ///   - begins: whether a journal begins where there is none.
    ///   - patience: for so many milliseconds nobody must have led.
    case take(token: UInt64, begins: Bool, patience: UInt64)
    /// Read what is in the journal behind this batch, as far as one page goes. The answer counts while the
    /// machine has this token.
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
    /// Take nothing in any more: this node is about to hand over.
    case leave
    /// Everything is written. End the lease, for this node to take it.
    case handOver(token: UInt64, last: UInt64, to: String)
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

    /// Clients in JavaScript read numbers exactly only below 2^53.
    static func epoch(from random: UInt64) -> UInt64 { random >> 13 | 1 }
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
        /// - Parameter isWhole: whether the journal has all that was acknowledged.
        case taken(JournalTerm, last: UInt64, isWhole: Bool)
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
        /// Redis has lost something, or another node leads.
        case refused
        /// There was no answer. It may be done or not.
        case unknown
    }

    enum Reinstate: Equatable {
        case done(last: UInt64)
        case ended
        case unknown
    }
}
