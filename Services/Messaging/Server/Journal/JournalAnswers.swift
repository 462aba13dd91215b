import RTMRedis

/// What the scripts of the journal answer. The head of each script says what its answers mean.
enum JournalAnswer {
    enum LeadershipRequest: Equatable {
        /// - Parameters:
        ///   - term: of the journal.
        ///   - last: the last batch that it has.
        case held(by: String, term: UInt64, last: UInt64)
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
        /// Redis has another leadership. If its term isn't later, Redis has gone back in time.
        case ended(term: UInt64)
        /// Redis may have lost something.
        case doubt
        /// There was no answer. The batch may be there or not.
        case unknown
    }

    enum Transfer: Equatable {
        case done
        /// Redis has another leadership. If its term isn't later, Redis has gone back in time.
        case ended(term: UInt64)
        /// Redis may not have everything.
        case lost
        /// There was no answer. It may be done or not.
        case unknown
    }

    enum Reinstatement: Equatable {
        case done(last: UInt64, term: UInt64)
        /// This node leads again, and new logs have to begin: what another node had written meanwhile may
        /// have been acknowledged, and isn't in the memory of this one.
        case forked(term: UInt64)
        case ended
        case unknown
    }
}

extension JournalAnswer.LeadershipRequest {
    init?(_ reply: RedisReply) {
        guard let fields = reply.elements, let kind = fields.first?.string else { return nil }
        switch (kind, fields.count) {
        case ("empty", _): self = .empty
        case ("held", 5...):
            guard let term = fields[3].number, let last = fields[4].number else { return nil }
            self = .held(by: fields[1].string ?? "", term: term, last: last)
        case ("other", 2...): self = .otherLayout(fields[1].string ?? "")
        case ("successor", 6...):
            guard let leader = fields[1].number, let term = fields[2].number, let last = fields[3].number,
                let epoch = fields[4].number, let secret = fields[5].number
            else { return nil }
            self = .successor(
                of: leader, JournalTerm(term: term, epoch: epoch, secret: secret), last: last)
        case ("granted", 8...):
            guard let term = fields[1].number, let last = fields[2].number, let epoch = fields[4].number,
                let secret = fields[5].number
            else { return nil }
            let lineage = Lineage(fields[6].string ?? "")
            self = .granted(
                JournalTerm(term: term, lineage: lineage, epoch: epoch, secret: secret), last: last,
                isWhole: fields[3].number == 1, after: fields[7].number ?? 0)
        default: return nil
        }
    }
}

extension JournalAnswer.Append {
    init(_ outcome: Result<RedisReply, RedisFailure>) {
        let reply = try? outcome.get()
        switch reply?.string {
        case "done": self = .done
        case "doubt", "gone": self = .doubt
        default: self = reply?.endingTerm.map { .ended(term: $0) } ?? .unknown
        }
    }
}

extension JournalAnswer.Transfer {
    init(_ outcome: Result<RedisReply, RedisFailure>) {
        let reply = try? outcome.get()
        switch reply?.string {
        case "done": self = .done
        case "lost": self = .lost
        default: self = reply?.endingTerm.map { .ended(term: $0) } ?? .unknown
        }
    }
}

extension JournalAnswer.Reinstatement {
    init(_ outcome: Result<RedisReply, RedisFailure>) {
        let fields = (try? outcome.get())?.elements ?? []
        let numbers = fields.dropFirst().compactMap(\.number)
        switch (fields.first?.string, numbers.count) {
        case ("done", 2): self = .done(last: numbers[0], term: numbers[1])
        case ("forked", 2): self = .forked(term: numbers[1])
        case ("ended", _): self = .ended
        default: self = .unknown
        }
    }
}

extension RedisReply {
    /// The term of the other leadership in the answer of `append.lua` and `transfer.lua`; nil in others.
    fileprivate var endingTerm: UInt64? {
        guard let fields = elements, fields.count == 2, fields[0].string == "ended" else { return nil }
        return fields[1].number
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
