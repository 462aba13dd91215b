import RTMRedis

/// What the scripts of the journal answer. The head of each script says what its answers mean.
enum JournalAnswer {
    enum LeadershipRequest: Equatable {
        case held(by: String)
        case empty
        /// The leader is about to transfer the leadership to this node.
        ///
        /// - Parameters:
        ///   - of: the leader's token.
        ///   - last: the last batch that the leader has written.
        case successor(of: UInt64, JournalTerm, last: UInt64)
        /// - Parameters:
        ///   - isWhole: whether the journal has all that was acknowledged.
        ///   - after: the leader token before; 0 if there was none.
        case granted(JournalTerm, last: UInt64, isWhole: Bool, after: UInt64)
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

    enum Transfer: Equatable {
        case done
        /// Another node leads.
        case ended
        /// Redis may not have everything.
        case lost
        /// There was no answer. It may be done or not.
        case unknown
    }

    enum Reinstatement: Equatable {
        case done(last: UInt64)
        case ended
        case unknown
    }
}

extension JournalAnswer.LeadershipRequest {
    init?(_ reply: RedisReply) {
        guard let fields = reply.elements, let kind = fields.first?.string else { return nil }
        switch (kind, fields.count) {
        case ("empty", _): self = .empty
        case ("held", 2...): self = .held(by: fields[1].string ?? "")
        case ("other", 2...): self = .otherLayout(fields[1].string ?? "")
        case ("successor", 6...):
            guard let leader = fields[1].number, let term = fields[2].number, let last = fields[3].number,
                let epoch = fields[4].number, let secret = fields[5].number
            else { return nil }
            self = .successor(
                of: leader, JournalTerm(term: term, follows: term, epoch: epoch, secret: secret), last: last)
        case ("granted", 8...):
            guard let term = fields[1].number, let last = fields[2].number, let epoch = fields[4].number,
                let secret = fields[5].number, let follows = fields[6].number
            else { return nil }
            self = .granted(
                JournalTerm(term: term, follows: follows, epoch: epoch, secret: secret), last: last,
                isWhole: fields[3].number == 1, after: fields[7].number ?? 0)
        default: return nil
        }
    }
}

extension JournalAnswer.Append {
    init(_ outcome: Result<RedisReply, RedisFailure>) {
        switch (try? outcome.get())?.string {
        case "done": self = .done
        case "ended": self = .ended
        case "doubt", "gone": self = .doubt
        default: self = .unknown
        }
    }
}

extension JournalAnswer.Transfer {
    init(_ outcome: Result<RedisReply, RedisFailure>) {
        switch (try? outcome.get())?.string {
        case "done": self = .done
        case "ended": self = .ended
        case "lost": self = .lost
        default: self = .unknown
        }
    }
}

extension JournalAnswer.Reinstatement {
    init(_ outcome: Result<RedisReply, RedisFailure>) {
        guard let fields = (try? outcome.get())?.elements else {
            self = .unknown
            return
        }
        switch (fields.first?.string, fields.count > 1 ? fields[1].number : nil) {
        case ("done", let last?): self = .done(last: last)
        case ("ended", _): self = .ended
        default: self = .unknown
        }
    }
}

/// Some batches of the journal.
struct JournalPage {
    let batches: [(number: UInt64, bytes: [UInt8])]

    /// Nil if it isn't what XRANGE answers.
    init?(_ reply: RedisReply) {
        guard let entries = reply.elements else { return nil }
        var batches: [(number: UInt64, bytes: [UInt8])] = []
        for entry in entries {
            guard let parts = entry.elements, parts.count == 2, let id = parts[0].string,
                let number = UInt64(id.prefix { $0 != "-" }), let fields = parts[1].elements,
                fields.count == 2, case .string(let bytes) = fields[1]
            else { return nil }
            batches.append((number, bytes))
        }
        self.batches = batches
    }
}
