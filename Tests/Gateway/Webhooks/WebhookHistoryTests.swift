import NIOCore
import RTMModel
import RTMTestSupport
import RTMWebhookCall
import Testing

@testable import RTMGatewayServer

@Suite("Generated histories of a webhook")
struct WebhookHistoryTests {
    @Test(
        "a receiver that is slow, away, refuses, answers twice or dies gets everything, in order per key",
        arguments: series(of: 50))
    func everything(seed: UInt64) {
        var history = WebhookHistory(seed: seed)
        history.run()
        #expect(history.violations.prefix(3) == [], "seed \(seed)")
        #expect(history.missing == [], "seed \(seed)")
        #expect(history.store.letters.isEmpty, "seed \(seed): nothing was refused for a day")
        #expect(history.store.position == history.log.count, "seed \(seed)")
    }

    @Test("an event that is always refused becomes a dead letter after its time, and holds up its key alone")
    func refused() {
        var letters = 0
        for seed in series(of: 15) {
            var history = WebhookHistory(
                seed: seed, refusedPerThousand: 20, giveUpAfter: .minutes(10))
            history.run()
            #expect(history.violations.prefix(3) == [], "seed \(seed)")
            #expect(history.missing == [], "seed \(seed)")
            letters += history.poison.count
            #expect(Set(history.store.letters) == history.poison, "seed \(seed)")
            #expect(history.store.position == history.log.count, "seed \(seed)")
        }
        #expect(letters > 15)
    }

    @Test("many histories do take each path: takeovers, repetitions, outages and lost answers")
    func paths() {
        var (kills, repetitions, outages, lost) = (0, 0, 0, 0)
        for seed in series(of: 15) {
            var history = WebhookHistory(seed: seed)
            history.run()
            kills += history.kills
            repetitions += history.repetitions
            outages += history.outages
            lost += history.lostAnswers
        }
        #expect(kills > 15 && repetitions > 15 && outages > 15 && lost > 15)
    }
}

/// Two gateways that claim one reader in turn, a storage, and a receiver of changing moods, all in virtual
/// time.
struct WebhookHistory {
    struct Store {
        var position = 0
        var term = 0
        var owner: Int?
        var leaseEnd = 0
        var journal: WebhookJournal?
        var letters: [Int] = []
    }

    private enum Mood: CaseIterable {
        case well, slow, away, refusing, dying, answeringTwice, overloaded
    }

    private enum Happening {
        case publish
        case mood
        case kill
        case wake(gateway: Int, incarnation: Int)
        case page(gateway: Int, incarnation: Int, after: Int, limit: Int)
        case arrival(gateway: Int, incarnation: Int, WebhookRequest)
        case answer(gateway: Int, incarnation: Int, Int, WebhookAnswer)
        case keep(gateway: Int, incarnation: Int, term: Int, WebhookProgress)
        case kept(gateway: Int, incarnation: Int, Bool?)
    }

    private struct Gateway {
        var queue: WebhookQueue?
        var term = 0
        /// Answers to a gateway that was killed don't reach the next one of its name.
        var incarnation = 0
    }

    private var random: SeededGenerator
    private var settings = WebhookQueue.Settings()
    private var now = 0
    private var calendar: [(time: Int, number: Int, Happening)] = []
    private var scheduled = 0
    private var gateways = [Gateway(), Gateway()]
    private var mood = Mood.well
    private let eventsMax: Int
    private let refusedPerThousand: Int

    private(set) var store = Store()
    private(set) var log: [WebhookEvent] = []
    private(set) var poison: Set<Int> = []
    /// What the receiver has, by key.
    private var received: [String: [Int]] = [:]
    private var seen: Set<Int> = []
    private(set) var violations: [String] = []
    private(set) var (kills, repetitions, outages, lostAnswers) = (0, 0, 0, 0)

    private var isQuiet: Bool { log.count == eventsMax }

    init(seed: UInt64, refusedPerThousand: Int = 0, giveUpAfter: TimeAmount = .hours(24)) {
        random = SeededGenerator(seed: seed)
        eventsMax = Int.random(in: 50...400, using: &random)
        self.refusedPerThousand = refusedPerThousand
        settings.batchEvents = Int.random(in: 1...20, using: &random)
        settings.batchBytes = 200
        settings.parallel = Int.random(in: 1...8, using: &random)
        settings.giveUpAfter = giveUpAfter
    }

    /// The events that the receiver never got, and that no dead letter names.
    var missing: [Int] { (1...log.count).filter { !seen.contains($0) && !store.letters.contains($0) } }

    private var time: WebhookTime {
        // A clock that began long ago, and the calendar's.
        WebhookTime(
            uptime: .uptimeNanoseconds(UInt64(now + 1_000_000) * 1_000_000),
            milliseconds: UInt64(now) + 1_700_000_000_000)
    }

    private mutating func schedule(_ happening: Happening, in milliseconds: Int) {
        scheduled += 1
        calendar.append((now + milliseconds, scheduled, happening))
    }

    mutating func run() {
        schedule(.publish, in: 0)
        schedule(.mood, in: 1_000)
        schedule(.kill, in: 10_000)
        for gateway in 0...1 { schedule(.wake(gateway: gateway, incarnation: 0), in: gateway) }
        var steps = 0
        while store.position < eventsMax || log.count < eventsMax, steps < 200_000 {
            steps += 1
            guard let index = calendar.indices.min(by: { earlier(calendar[$0], calendar[$1]) }) else {
                return
            }
            let next = calendar.remove(at: index)
            now = next.time
            happen(next.2)
        }
        if steps == 200_000 { violations.append("no end: position \(store.position) of \(log.count)") }
    }

    private func earlier(
        _ left: (time: Int, number: Int, Happening), _ right: (time: Int, number: Int, Happening)
    ) -> Bool { (left.time, left.number) < (right.time, right.number) }

    private mutating func happen(_ happening: Happening) {
        let time = time
        switch happening {
        case .publish: publish()
        case .mood:
            // When all are published the receiver is well again: everything has to arrive then.
            mood = isQuiet ? .well : Mood.allCases.randomElement(using: &random) ?? .well
            schedule(.mood, in: Int.random(in: 500...120_000, using: &random))
        case .kill:
            if random.chance(2, in: 3) {
                let gateway = Int.random(in: 0...1, using: &random)
                gateways[gateway].queue = nil
                gateways[gateway].incarnation += 1
                kills += 1
                let incarnation = gateways[gateway].incarnation
                schedule(.wake(gateway: gateway, incarnation: incarnation), in: 300)
            }
            schedule(.kill, in: Int.random(in: 1_000...60_000, using: &random))
        case .wake(let gateway, let incarnation):
            guard isAlive(gateway, incarnation) else { return }
            if gateways[gateway].queue == nil { claim(gateway) }
            drive(gateway)
            let wait = gateways[gateway].queue.map { queue in
                Int((queue.wake(now: time) - time.uptime).nanoseconds / 1_000_000) + 1
            }
            schedule(.wake(gateway: gateway, incarnation: incarnation), in: min(wait ?? 1_000, 20_000))
        case .page(let gateway, let incarnation, let after, let limit):
            guard isAlive(gateway, incarnation) else { return }
            if random.chance(1, in: 50) {
                gateways[gateway].queue?.readFailed(now: time)
            } else {
                let page = Array(log.dropFirst(after).prefix(limit))
                if page.isEmpty, !isQuiet {
                    // A long poll.
                    let again = Happening.page(
                        gateway: gateway, incarnation: incarnation, after: after, limit: limit)
                    return schedule(again, in: 20)
                }
                gateways[gateway].queue?.received(page, next: Self.position(after + page.count), now: time)
            }
            drive(gateway)
        case .arrival(let gateway, let incarnation, let request): arrive(gateway, incarnation, request)
        case .answer(let gateway, let incarnation, let id, let answer):
            guard isAlive(gateway, incarnation) else { return }
            let wasOut = gateways[gateway].queue?.isInOutage ?? false
            gateways[gateway].queue?.answered(id, answer, now: time, using: &random)
            if !wasOut, gateways[gateway].queue?.isInOutage == true { outages += 1 }
            drive(gateway)
        case .keep(let gateway, let incarnation, let term, let progress):
            keep(gateway, incarnation, term, progress)
        case .kept(let gateway, let incarnation, let isKept):
            guard isAlive(gateway, incarnation) else { return }
            gateways[gateway].queue?.kept(isKept, now: time)
            if gateways[gateway].queue?.isSuperseded == true { gateways[gateway].queue = nil }
            drive(gateway)
        }
    }

    private func isAlive(_ gateway: Int, _ incarnation: Int) -> Bool {
        gateways[gateway].incarnation == incarnation
    }

    private static func position(_ offset: Int) -> StreamPosition {
        StreamPosition(epoch: 1, offset: UInt64(offset))
    }

    private mutating func publish() {
        for _ in 0..<Int.random(in: 1...10, using: &random) where log.count < eventsMax {
            let offset = log.count + 1
            log.append(
                WebhookEvent(
                    position: Self.position(offset), key: "k\(Int.random(in: 0..<12, using: &random))",
                    milliseconds: time.milliseconds,
                    body: String(repeating: "x", count: Int.random(in: 1...60, using: &random))))
            if random.chance(refusedPerThousand, in: 1_000) { poison.insert(offset) }
        }
        if !isQuiet { schedule(.publish, in: Int.random(in: 1...10_000, using: &random)) }
    }

    // MARK: Storage

    private mutating func claim(_ gateway: Int) {
        guard store.owner == nil || store.owner == gateway || store.leaseEnd <= now else { return }
        store.term += 1
        store.owner = gateway
        store.leaseEnd = now + 15_000
        gateways[gateway].term = store.term
        let queue = WebhookQueue(
            after: Self.position(store.position), store.journal, settings, now: time)
        gateways[gateway].queue = queue
    }

    private mutating func keep(
        _ gateway: Int, _ incarnation: Int, _ term: Int, _ progress: WebhookProgress
    ) {
        let isLost = random.chance(1, in: 30)
        let isKept = store.term == term
        if isKept, !isLost || random.chance(1, in: 2) {
            let offset = Int(progress.position.offset)
            if offset < store.position { violations.append("the position went back to \(offset)") }
            store.position = offset
            store.journal = progress.journal
            store.letters += progress.letters.map { Int($0.event.position.offset) }
            store.leaseEnd = now + 15_000
            let undelivered = (1...max(1, offset)).filter {
                $0 <= offset && !seen.contains($0) && !store.letters.contains($0)
            }
            if !undelivered.isEmpty { violations.append("position \(offset) is past \(undelivered)") }
        }
        schedule(.kept(gateway: gateway, incarnation: incarnation, isLost ? nil : isKept), in: 5)
    }

    // MARK: The gateways

    private mutating func drive(_ gateway: Int) {
        let (time, incarnation) = (time, gateways[gateway].incarnation)
        for action in gateways[gateway].queue?.actions(now: time, using: &random) ?? [] {
            switch action {
            case .read(let after, let limit):
                let page = Happening.page(
                    gateway: gateway, incarnation: incarnation, after: Int(after.offset), limit: limit)
                schedule(page, in: 2)
            case .deliver(let request):
                let delay = mood == .slow ? Int.random(in: 1...8_000, using: &random) : 1
                schedule(.arrival(gateway: gateway, incarnation: incarnation, request), in: delay)
            case .keep(let progress):
                let term = gateways[gateway].term
                schedule(
                    .keep(gateway: gateway, incarnation: incarnation, term: term, progress),
                    in: Int.random(in: 1...50, using: &random))
            }
        }
    }

    // MARK: The receiver

    private mutating func arrive(_ gateway: Int, _ incarnation: Int, _ request: WebhookRequest) {
        func answer(_ outcome: WebhookAnswer.Outcome) -> WebhookAnswer { WebhookAnswer(outcome: outcome) }
        let isRefused = request.events.contains { poison.contains(Int($0.position.offset)) }
        var answers = [answer(isRefused ? .status(500) : .status(200))]
        switch mood {
        case .well: if !isRefused { take(request.events) }
        case .slow:
            if !isRefused { take(request.events) }
            if random.chance(1, in: 3) {
                answers = [answer(.noAnswer("timeout"))]
                lostAnswers += 1
            }
        case .away: answers = [answer(.noConnection("refused"))]
        case .refusing: answers = [answer(.status(500))]
        case .overloaded:
            var overloaded = answer(.status(503))
            overloaded.retryAfter = .seconds(Int64.random(in: 0...100, using: &random))
            answers = [overloaded]
        case .dying:
            let count = Int.random(in: 0...request.events.count, using: &random)
            if !isRefused { take(request.events.prefix(count)) }
            answers = [answer(.noAnswer("closed"))]
        case .answeringTwice:
            if !isRefused { take(request.events) }
            answers.append(answer(.status(500)))
        }
        for (index, answer) in answers.enumerated() {
            schedule(
                .answer(gateway: gateway, incarnation: incarnation, request.id, answer), in: 1 + index)
        }
    }

    private mutating func take(_ events: some Sequence<WebhookEvent>) {
        for event in events {
            let offset = Int(event.position.offset)
            guard seen.insert(offset).inserted else {
                repetitions += 1
                continue
            }
            if let last = received[event.key]?.last, last > offset {
                violations.append("\(offset) of \(event.key) came after \(last)")
            }
            let ahead = log.prefix(offset - 1).filter { $0.key == event.key }.map { Int($0.position.offset) }
            if let skipped = ahead.first(where: { !seen.contains($0) && !poison.contains($0) }) {
                violations.append("\(offset) of \(event.key) came before \(skipped)")
            }
            received[event.key, default: []].append(offset)
        }
    }
}
