import RTMModel

@testable import RTMTestKit

/// Every receiver gets every event of its webhook at least once or it is a dead letter, those of a key in
/// their order (W-50 to W-52). Positions pass nothing that isn't delivered or given up, don't go back unless
/// an operator moves them, and one owner at a time keeps them (W-44).
struct WebhookCheck: Check {
    /// A webhook as the configuration has it.
    struct Selection {
        let name: String
        /// Empty for all.
        var types: Set<String> = []
        var prefix = ""

        func has(_ event: EventLine) -> Bool {
            if event.type == "gap" { return true }
            guard types.isEmpty || types.contains(event.type) else { return false }
            guard !prefix.isEmpty else { return true }
            let parts = event.key.split(separator: ":", maxSplits: 1)
            return parts.count == 2 && parts[0] != "user" && parts[1].hasPrefix(prefix)
        }
    }

    private struct Move {
        let webhook: String
        let asked: Duration
        /// Nil while it may still take effect.
        var ended: Duration?
        /// The newest term before it was asked for.
        let term: UInt64
    }

    private struct Kept {
        let keep: Keep
        let time: Duration
        let position: UInt64
        let letters: [UInt64]
        var isKept: Bool?
    }

    /// What is known of one webhook.
    private struct Webhook {
        /// After which it has begun.
        var start: UInt64?
        var owners: [UInt64: String] = [:]
        var newestTerm: UInt64 = 0
        var keeps: [Kept] = []
        var claims: [(time: Duration, term: UInt64, position: UInt64)] = []
        /// By the offset of the event: when the receiver had it first, and when it was refused first.
        var received: [UInt64: Duration] = [:]
        var refused: [UInt64: Duration] = [:]
        var order: [EventLine] = []
        var letters: [LetterLine]?
        var listed: [(asked: Duration, time: Duration, line: ReaderLine)] = []
    }

    /// Terms up to this one can keep nothing any more, since then.
    private struct Floor {
        let time: Duration
        let term: UInt64
    }

    private let selections: [Selection]
    private let giveUpAfter: Duration
    private var webhooks: [String: Webhook] = [:]
    private var floors: [String: [Floor]] = [:]
    private var moves: [Int: Move] = [:]
    private var events = EventCheck()
    private var found: [Finding] = []

    init(_ selections: [Selection], giveUpAfter: Duration) {
        (self.selections, self.giveUpAfter) = (selections, giveUpAfter)
    }

    mutating func observe(_ entry: HistoryEntry) {
        events.observe(entry)
        guard case .backend(let news) = entry.what else { return }
        let time = entry.time
        switch news {
        case .claimed(let gateway, let name, let term, let position):
            claimed(gateway, name, term, position, time)
        case .keeps(let keep, let position, let letters):
            webhooks[keep.webhook, default: Webhook()].keeps.append(
                Kept(keep: keep, time: time, position: position, letters: letters))
        case .kept(let keep, let isKept):
            guard let index = webhooks[keep.webhook]?.keeps.lastIndex(where: { $0.keep == keep }) else {
                break
            }
            webhooks[keep.webhook]?.keeps[index].isKept = isKept
        case .received(let name, let lines):
            for line in lines where webhooks[name]?.received[line.offset] == nil {
                webhooks[name, default: Webhook()].received[line.offset] = time
                webhooks[name]?.order.append(line)
            }
        case .refused(let name, let lines, _):
            for line in lines where webhooks[name]?.refused[line.offset] == nil {
                webhooks[name, default: Webhook()].refused[line.offset] = time
            }
        case .unreadable(let name, let body): find(time, "\(name) can't read \(body.prefix(200))")
        case .moves(let number, let name, _):
            let term = webhooks[name]?.newestTerm ?? 0
            moves[number] = Move(webhook: name, asked: time, term: term)
        case .moved(let number, let isMoved):
            guard let move = moves[number] else { break }
            if isMoved != nil { moves[number]?.ended = time }
            if isMoved == true {
                floors[move.webhook, default: []].append(Floor(time: time, term: move.term))
            }
        case .listed(let line, let asked):
            webhooks[line.webhook, default: Webhook()].listed.append((asked, time, line))
        case .letters(let name, let letters): webhooks[name]?.letters = letters
        case .polled, .conditional, .accepted: break
        }
    }

    private mutating func find(_ time: Duration, _ text: String) {
        found.append(Finding(time: time, text: text))
    }

    private mutating func claimed(
        _ gateway: String, _ name: String, _ term: UInt64, _ position: UInt64, _ time: Duration
    ) {
        var webhook = webhooks[name] ?? Webhook()
        if let other = webhook.owners.updateValue(gateway, forKey: term) {
            find(time, "\(other) and \(gateway) own \(name) in term \(term)")
        }
        webhook.start = webhook.start ?? position
        webhook.newestTerm = max(webhook.newestTerm, term)
        webhook.claims.append((time, term, position))
        webhooks[name] = webhook
        // A gateway that stood still learns late of what it has got.
        floors[name, default: []].append(Floor(time: time, term: term - 1))
    }

    /// Whether an operator may have moved the webhook in that time.
    private func isMoved(_ name: String, from start: Duration, to end: Duration) -> Bool {
        moves.values.contains { move in
            move.webhook == name && move.asked <= end && (move.ended.map { $0 >= start } ?? true)
        }
    }

    // MARK: - Judgement

    mutating func findings() -> [Finding] {
        _ = events.findings()
        for selection in selections {
            guard let webhook = webhooks[selection.name], let start = webhook.start else {
                find(.zero, "nobody has begun with \(selection.name)")
                continue
            }
            let expected = events.events.filter { $0.offset > start && selection.has($0) }
            judgeTerms(selection.name, webhook)
            judgePositions(selection.name, webhook, expected)
            judgeDelivery(selection, webhook, expected)
            judgeLetters(selection.name, webhook, expected)
        }
        return found
    }

    private mutating func judgeTerms(_ name: String, _ webhook: Webhook) {
        for kept in webhook.keeps where kept.isKept == true {
            let floor = floors[name]?.first { $0.time < kept.time && $0.term >= kept.keep.term }
            guard let floor else { continue }
            find(
                kept.time,
                "\(kept.keep.gateway) keeps \(kept.position) of \(name) in term \(kept.keep.term), "
                    + "which ended at \(floor.time)")
        }
    }

    private mutating func judgePositions(_ name: String, _ webhook: Webhook, _ expected: [EventLine]) {
        // What owners have kept, term by term.
        var last: (position: UInt64, time: Duration)?
        for claim in webhook.claims.sorted(by: { $0.term < $1.term }) {
            if let last, claim.position < last.position,
                !isMoved(name, from: last.time - .seconds(60), to: claim.time)
            {
                find(claim.time, "\(name) went back from \(last.position) to \(claim.position)")
            }
            var position = claim.position
            for kept in webhook.keeps where kept.keep.term == claim.term {
                if kept.position < position {
                    find(kept.time, "\(kept.keep.gateway) takes \(name) back to \(kept.position)")
                }
                judgePassing(name, webhook, expected, from: position, to: kept)
                position = max(position, kept.position)
                if kept.isKept == true { last = (kept.position, kept.time) }
            }
        }
        // What operators see.
        for (earlier, later) in zip(webhook.listed, webhook.listed.dropFirst())
        where later.asked >= earlier.time && later.line.position < earlier.line.position {
            guard !isMoved(name, from: earlier.asked, to: later.time) else { continue }
            find(
                later.time, "\(name) is at \(later.line.position), and was at \(earlier.line.position)")
        }
    }

    private mutating func judgePassing(
        _ name: String, _ webhook: Webhook, _ expected: [EventLine], from position: UInt64, to kept: Kept
    ) {
        guard kept.position > position else { return }
        let first = expected.partition(above: position)
        for event in expected[first...].prefix(while: { $0.offset <= kept.position }) {
            if let time = webhook.received[event.offset], time <= kept.time { continue }
            let isGivenUp = webhook.keeps.contains {
                $0.time <= kept.time && $0.letters.contains(event.offset)
            }
            if !isGivenUp {
                find(kept.time, "\(kept.keep.gateway) passes \(event) of \(name), which isn't delivered")
                return
            }
        }
    }

    private mutating func judgeDelivery(
        _ selection: Selection, _ webhook: Webhook, _ expected: [EventLine]
    ) {
        let name = selection.name
        let letters = Set((webhook.letters ?? []).map(\.event.offset))
        let all = Dictionary(uniqueKeysWithValues: events.events.map { ($0.offset, $0) })
        var ahead: [String: [EventLine]] = Dictionary(grouping: expected) { $0.key }
        for event in webhook.order {
            let time = webhook.received[event.offset] ?? .zero
            guard all[event.offset] == event else {
                find(time, "\(name) receives \(event), which is no event")
                continue
            }
            if !selection.has(event) { find(time, "\(name) receives \(event), which isn't selected") }
            guard let line = ahead[event.key], let index = line.firstIndex(of: event) else { continue }
            if let missed = line[..<index].first(where: { !letters.contains($0.offset) }) {
                find(time, "\(name) receives \(event) before \(missed)")
            }
            ahead[event.key]?.remove(at: index)
        }
        for event in expected where webhook.received[event.offset] == nil && !letters.contains(event.offset) {
            find(.zero, "\(name) never receives \(event)")
        }
        if let line = webhook.listed.last?.line, line.position != line.newest {
            find(.zero, "\(name) is at \(line.position) of \(line.newest) in the end")
        }
    }

    private mutating func judgeLetters(_ name: String, _ webhook: Webhook, _ expected: [EventLine]) {
        guard let letters = webhook.letters else {
            return find(.zero, "nobody knows the dead letters of \(name)")
        }
        var seen: Set<UInt64> = []
        for letter in letters {
            let (offset, time) = (letter.event.offset, VirtualWorld.time(of: letter.time))
            if !seen.insert(offset).inserted { find(time, "\(name) has two dead letters of \(letter.event)") }
            guard expected.contains(letter.event) else {
                find(time, "\(name) has a dead letter of \(letter.event), which isn't an event of it")
                continue
            }
            let isOld = VirtualWorld.time(of: letter.event.time) + giveUpAfter <= time
            let isRefused = webhook.refused.contains { $0.value + giveUpAfter <= time + .seconds(1) }
            // The answer to what the receiver has taken may have been lost.
            let isTaken = webhook.received[offset].map { $0 <= time } ?? false
            if !isOld || !isRefused || !isTaken && webhook.refused[offset] == nil {
                find(time, "\(name) gives up \(letter.event) too early")
            }
        }
        let givenUp = Set(webhook.keeps.filter { $0.isKept == true }.flatMap(\.letters))
        for offset in givenUp.subtracting(seen).sorted() {
            find(.zero, "\(name) has given up \(offset), and has no dead letter of it")
        }
    }
}

extension [EventLine] {
    /// The index of the first event behind an offset.
    fileprivate func partition(above offset: UInt64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
