import NIOCore

@testable import RTMMessagingServer

/// Redis as the scripts of the journal see it. It can forget, and answers can get lost.
struct ModelRedis {
    struct Head {
        var term: UInt64
        var token: UInt64
        var until: UInt64
        var run: UInt64
        var last: UInt64
        var isWhole: Bool
        var epoch: UInt64
        var secret: UInt64
        /// Who need not wait.
        var heir: Int?
        /// Since when it is known that the server may have lost something.
        var doubt: UInt64?
    }

    var head: Head?
    var batches: [(number: UInt64, bytes: [UInt8])] = []
    var run: UInt64 = 1

    mutating func take(
        _ token: UInt64, node: Int, begins: Bool, patience: UInt64, lease: UInt64, epoch: UInt64, now: UInt64
    ) -> JournalAnswer.Take {
        guard var next = head else {
            guard begins else { return .empty }
            head = Head(
                term: now, token: token, until: now + lease, run: run, last: 0, isWhole: true, epoch: epoch,
                secret: 7)
            return .taken(
                JournalTerm(term: now, follows: now, epoch: epoch, secret: 7), last: 0, isWhole: true)
        }
        let wait = next.heir == node ? 0 : patience
        guard next.until + wait <= now else { return .held(by: "other") }
        if next.run != run {
            let doubt = next.doubt ?? now
            head?.doubt = doubt
            guard doubt + 2 * lease <= now else { return .held(by: "other") }
            next.isWhole = false
        }
        (next.heir, next.doubt) = (nil, nil)
        let before = next.term
        (next.term, next.token) = (max(next.term + 1, now), token)
        (next.until, next.run) = (now + lease, run)
        head = next
        return .taken(
            JournalTerm(term: next.term, follows: before, epoch: next.epoch, secret: next.secret),
            last: next.last,
            isWhole: next.isWhole)
    }

    mutating func append(_ append: JournalAppend, lease: UInt64, now: UInt64) -> JournalAnswer.Append {
        guard var next = head else { return .doubt }
        guard next.token == append.token else { return .ended }
        guard next.run == run else { return .doubt }
        next.until = now + lease
        if next.last >= append.number {
            guard next.last == append.number else { return .doubt }
            next.isWhole = append.isWhole
            head = next
            return .done
        }
        guard next.last == append.number - 1, append.bytes.readableBytes > 0 else { return .doubt }
        batches.append((append.number, Array(append.bytes.readableBytesView)))
        batches.removeAll { $0.number < append.oldestKept }
        (next.last, next.isWhole) = (append.number, append.isWhole)
        head = next
        return .done
    }

    mutating func release(_ token: UInt64, last: UInt64, to heir: Int, now: UInt64) -> JournalAnswer.HandOver
    {
        guard var next = head, next.token == token, next.last == last, next.run == run else {
            return .refused
        }
        (next.until, next.heir) = (now, heir)
        head = next
        return .done
    }

    mutating func reinstate(
        _ token: UInt64, before: UInt64, empties: Bool, isWhole: Bool, _ term: JournalTerm, lease: UInt64,
        now: UInt64
    ) -> JournalAnswer.Reinstate {
        if let head, head.token != before, head.token != token { return .ended }
        let isNew = head == nil
        var next =
            head
            ?? Head(
                term: term.term, token: token, until: 0, run: run, last: 0, isWhole: false, epoch: term.epoch,
                secret: term.secret)
        (next.token, next.until, next.run, next.epoch) = (token, now + lease, run, term.epoch)
        (next.heir, next.doubt) = (nil, nil)
        next.isWhole = empties && isWhole
        if empties || isNew {
            batches = []
            next.last = 0
        }
        head = next
        return .done(last: next.last)
    }
}

/// A node that keeps a list of numbers as its memory: each is told to others only when it is in the journal.
struct ModelNode {
    var machine: JournalMachine
    /// What is in memory.
    var memory: [UInt8] = []
    /// What waits for the journal, under its number.
    var waiting: [(number: UInt64, entries: [UInt8])] = []
    var isLeading = false
    /// It is about to hand over, and takes nothing in.
    var isLeaving = false
    var rewritten = 0
    /// While it is paused or dead, nothing happens in it.
    var sleepsUntil: UInt64 = 0
    /// What Redis has answered and the node hasn't heard yet.
    var actions: [JournalAction] = []

    var takesIn: Bool { isLeading && !isLeaving }

    init(_ limits: JournalLimits) { machine = JournalMachine(limits) }
}
