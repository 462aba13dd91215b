import RTMRedis

/// The rules of the scripts under Services/Messaging/Server/Scripts, line by line. Each function implements
/// the script in its comment, and each rule has the comment of its step. `JournalScriptTests` asks this
/// implementation and a real server the same, so they can't drift apart.
extension SimulatedRedis {
    mutating func execute(_ name: String, _ call: ScriptCall) -> RedisReply {
        switch name {
        case "append": append(call)
        case "first_epoch": firstEpoch(call)
        case "register": register(call)
        case "reinstate": reinstate(call)
        case "offer": offer(call)
        case "transfer": transfer(call)
        case "request_leadership": requestLeadership(call)
        default: .error("ERR the script \(name) isn't simulated")
        }
    }

    /// `append.lua`: writes a batch only under the token of the leader, at the server that the leader knows,
    /// and only behind the batch before. A batch that is there already isn't written again.
    private mutating func append(_ call: ScriptCall) -> RedisReply {
        let (head, batches) = (call.keys[0], call.keys[1])
        guard let token = get(head, "leaderToken") else { return .text("gone") }
        // Another history may lack something.
        guard get(head, "history") == call[3] else { return .text("doubt") }
        // Another node leads, or did before.
        guard token == call[1] else { return .texts("ended", get(head, "term") ?? "") }
        let (last, number) = (self.number(head, "last"), call.number(2))
        let ends = "\(now + call.number(4))"
        // The batch is there, or only the lease is prolonged.
        if last >= number {
            set(head, ["until": ends, "whole": call[7]])
            return .text(last == number ? "done" : "doubt")
        }
        // The batch before is missing.
        guard last + 1 == number, !call.arguments[5].isEmpty else { return .text("doubt") }
        guard stream(batches).last.map({ $0.number < number }) ?? true else {
            return .error("ERR The ID specified in XADD is equal or smaller than the target stream top item")
        }
        var stream = removeStream(batches)
        stream.append((number, call.arguments[5]))
        let old = stream.prefix { $0.number < call.number(5) }.count
        if old > uncutMax { stream.removeFirst(old) }
        values[batches] = .stream(stream)
        set(head, ["last": call[2], "until": ends, "whole": call[7]])
        return .text("done")
    }

    /// `first_epoch.lua`: gives each shard the first epoch of the installation once, and again to the process
    /// that got it until it leads.
    private mutating func firstEpoch(_ call: ScriptCall) -> RedisReply {
        let key = call.keys[0]
        if get(key, "epoch") == nil { set(key, ["epoch": call[2]]) }
        if get(key, call[1]) == nil { set(key, [call[1]: "\(call[3]) \(now)"]) }
        let had = (get(key, call[1]) ?? "").split(separator: " ")
        guard had.count == 2, let at = UInt64(had[1]) else { return .error("ERR no time") }
        if had[0] == call[3] { return .text(get(key, "epoch") ?? "") }
        return .text(at + 2 * call.number(4) > now ? "wait" : "")
    }

    /// `register.lua`: removes the nodes whose lease has ended, refuses a node of another layout, and lists
    /// the others.
    private mutating func register(_ call: ScriptCall) -> RedisReply {
        let (key, node) = (call.keys[0], call[1])
        let layout = get(key, "layout") ?? call[3]
        var fields = self[key]
        fields["layout"] = nil
        fields = fields.filter { name, until in name != node && (UInt64(until) ?? 0) >= now }
        var living = fields.keys.sorted()
        fields["layout"] = get(key, "layout")
        values[key] = fields.isEmpty ? nil : .hash(fields)
        if layout != call[3], !living.isEmpty { return .texts("other", layout) }
        set(key, ["layout": call[3]])
        if call[2] != "0" {
            set(key, [node: "\(now + call.number(2))"])
            living.append(node)
        }
        return .array((["nodes"] + living).map { .text($0) })
    }

    /// `reinstate.lua`: lets a leader write its journal again under a new token and a later term, unless
    /// another leader has a later one. A node that has nothing to write again never replaces another one.
    private mutating func reinstate(_ call: ScriptCall) -> RedisReply {
        let (head, batches) = (call.keys[0], call.keys[1])
        let (token, last) = (get(head, "leaderToken"), get(head, "last"))
        let (term, own) = (number(head, "term"), call.number(8))
        let isOwn = token == nil || token == call[2] || token == call[1]
        // This leadership itself, or one whose logs it continues.
        let terms = ([call[8]] + call[13].split(separator: " ").map(String.init)).compactMap { UInt64($0) }
        func isKnown(_ term: UInt64) -> Bool { term < (terms.last ?? 0) || terms.contains(term) }
        let isContinued = isKnown(term) || (get(head, "node") == call[3] && term <= own)
        // Another node may never have learned that it leads.
        let isUnused =
            get(head, "history") != call[5] && get(head, "base") == last
            && lineage(head).first.map(isKnown) ?? false
        // What the other node has written may have been acknowledged.
        let isForked = !isOwn && !isContinued && !isUnused
        // A leader that begins anew has nothing to write again, so it replaces no other.
        if (!isOwn && call[7] == "1") || (isForked && term > own) {
            return .texts("ended", get(head, "term") ?? "")
        }
        let next = "\(max(term, own, now) + jump(call))"
        set(
            head,
            [
                "term": next, "leaderToken": call[1], "node": call[3], "until": "\(now + call.number(4))",
                "history": call[5], "epoch": call[9], "secret": call[10], "layout": call[11], "successor": "",
                "transferred": "", "doubt": "", "base": "",
                "lineage": call[7] == "1" ? "" : call[8] + " " + call[13],
                "whole": call[6] == "1" ? call[7] : "0",
                "confirms": call[12],
            ])
        // The batches of another leader don't continue this one's.
        guard call[6] == "1" || token == nil || !isOwn else { return .texts("done", last ?? "", next) }
        values[batches] = nil
        set(head, ["last": "0"])
        return .texts(isForked ? "forked" : "done", "0", next)
    }

    /// `offer.lua`: names the successor for a lease, and answers how far it has read.
    private mutating func offer(_ call: ScriptCall) -> RedisReply {
        let head = call.keys[0]
        guard get(head, "leaderToken") == call[1] else { return .integer(-1) }
        let ahead = get(head, "successor") == call[2] ? number(head, "ahead") : 0
        set(head, ["successor": call[2], "ahead": "\(ahead)", "offered": "\(now + call.number(3))"])
        return .integer(Int(ahead))
    }

    /// `transfer.lua`: lets the successor lead, if the server has everything that the leader has written.
    private mutating func transfer(_ call: ScriptCall) -> RedisReply {
        let head = call.keys[0]
        guard let token = get(head, "leaderToken"), get(head, "history") == call[3] else {
            return .text("lost")
        }
        guard token == call[1] else { return .texts("ended", get(head, "term") ?? "") }
        guard get(head, "last") == call[2] else { return .text("lost") }
        let lease = call[4].isEmpty ? 0 : call.number(5)
        set(head, ["until": "\(now + lease)", "successor": call[4], "transferred": "1"])
        return .text("done")
    }

    /// `request_leadership.lua`: makes a node the leader if there is none: the lease has ended, the leader
    /// has transferred the leadership to it, or there is no journal. The term grows, and the journal isn't
    /// whole at a server that may have lost something.
    private mutating func requestLeadership(_ call: ScriptCall) -> RedisReply {
        let head = call.keys[0]
        let (token, node, lease, history) = (call[1], call[2], call.number(3), call[4])
        guard get(head, "term") != nil else {
            guard call[5] == "1" else { return .texts("empty") }
            let first = "\(now + jump(call))"
            set(
                head,
                [
                    "term": first, "leaderToken": token, "node": node, "until": "\(now + lease)",
                    "history": history, "last": "0", "whole": "1", "epoch": call[6], "secret": call[7],
                    "layout": call[8], "successor": "", "confirms": call[10],
                ])
            return .texts("granted", first, "0", "1", call[6], call[7], "", "")
        }
        let layout = get(head, "layout") ?? ""
        guard layout == call[8] else { return .texts("other", layout) }
        let isSuccessor = get(head, "successor") == node
        let isSameHistory = get(head, "history") == history
        let leaderToken = get(head, "leaderToken") ?? ""
        let hasRead = leaderToken == call[12] ? call[11] : "0"
        let isReady =
            isSuccessor && isSameHistory && get(head, "transferred") == "1" && get(head, "last") == hasRead
        // A successor that has read everything needn't wait for the lease.
        if !isReady {
            let isOffered = get(head, "transferred") == "1" || number(head, "offered") > now
            // A successor that hasn't read everything reads ahead.
            if isSuccessor, isOffered, isSameHistory, number(head, "until") > now {
                set(head, ["ahead": hasRead])
                return .array((["successor", leaderToken] + facts(head)).map { .text($0) })
            }
            let ends = number(head, "until") + (isSuccessor ? 0 : call.number(9))
            guard ends <= now else { return held(head, until: ends) }
        }
        // A leader that lives gets the time to report what this server has lost.
        if !isSameHistory {
            if (get(head, "doubt") ?? "").isEmpty { set(head, ["doubt": "\(now)"]) }
            let ends = number(head, "doubt") + call.number(13)
            guard ends <= now else { return held(head, until: ends) }
        }
        // A term that Redis has forgotten must not be given again.
        let next = "\(max(number(head, "term"), now) + jump(call))"
        let isKept = isSameHistory || hasWhatWasConfirmed(head, call)
        let whole = isKept ? get(head, "whole") ?? "0" : "0"
        let continued = ([number(head, "term")] + lineage(head)).prefix(16).map { "\($0)" }
            .joined(separator: " ")
        set(
            head,
            [
                "term": next, "leaderToken": token, "node": node, "until": "\(now + lease)",
                "history": history,
                "whole": whole, "successor": "", "transferred": "", "doubt": "", "confirms": call[10],
                "lineage": continued, "base": get(head, "last") ?? "",
            ])
        return .texts(
            "granted", next, get(head, "last") ?? "", whole, get(head, "epoch") ?? "",
            get(head, "secret") ?? "", continued, leaderToken)
    }

    private func lineage(_ head: String) -> [UInt64] {
        (get(head, "lineage") ?? "").split(separator: " ").compactMap { UInt64($0) }
    }

    /// Servers that know nothing of each other must not give the same term.
    private func jump(_ call: ScriptCall) -> UInt64 { 1 + (UInt64(call[1].suffix(3)) ?? 0) }

    private func facts(_ head: String) -> [String] {
        ["term", "last", "epoch", "secret"].map { get(head, $0) ?? "" }
    }

    private func held(_ head: String, until ends: UInt64) -> RedisReply {
        .array([
            .text("held"), .text(get(head, "node") ?? ""), .integer(Int(ends - now)),
            .text(get(head, "term") ?? ""), .text(get(head, "last") ?? ""),
        ])
    }

    /// A replica that was promoted out of the history that the leader wrote to has what it confirmed, if it
    /// has run since before the last renewal; so has a server that has read its append-only file, if no other
    /// was the master in between.
    private func hasWhatWasConfirmed(_ head: String, _ call: ScriptCall) -> Bool {
        let own = call[4].split(separator: " ", omittingEmptySubsequences: false)
        let known = (get(head, "history") ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard known.count == 3, own.count == 3 else { return false }
        switch get(head, "confirms") {
        case "replica":
            return !known[2].isEmpty && known[2] == call[14] && !call[15].isEmpty
                && call.number(15) + 2_000 + call.number(3) <= number(head, "until")
        case "disk": return call[16] == "1" && known[1] == own[1]
        default: return false
        }
    }

    private func number(_ key: String, _ field: String) -> UInt64 {
        get(key, field).flatMap { UInt64($0) } ?? 0
    }
}
