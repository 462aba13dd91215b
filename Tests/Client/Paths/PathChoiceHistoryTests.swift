import RTMTestSupport
import Testing

@testable import RTMClient

/// Two paths that come and go, become slow and fast, for two minutes each, and the choice between them.
struct PathChoiceHistoryTests {
    @Test(
        "N-5: whatever the paths do, the client changes only to one that answers, not too often, and soon",
        arguments: 0..<200)
    func history(seed: UInt64) {
        var world = TwoPaths(seed: seed)
        for _ in 0..<12_000 { world.tick() }
        #expect(world.findings.isEmpty, "seed \(seed): \(world.findings.prefix(3))")
    }

    @Test("The histories have changes, and stalls that end by themselves")
    func coverage() {
        var changes = 0
        for seed in 0..<20 as Range<UInt64> {
            var world = TwoPaths(seed: seed)
            for _ in 0..<12_000 { world.tick() }
            changes += world.changes
        }
        #expect(changes > 20)
    }
}

private struct TwoPaths {
    private enum Quality: CaseIterable {
        case good, slow, dead
    }

    private enum Arrival {
        case answer(UInt64)
        case standbyAnswer
        case dialled(Bool)
        case loggedIn
    }

    private static let step = Duration.milliseconds(10)

    private(set) var findings: [String] = []
    private(set) var changes = 0
    private var choice = PathChoice(PathTiming())
    private var random: SeededGenerator
    private let start = ContinuousClock.now
    private var elapsed = Duration.zero
    /// The path in use comes first.
    private var qualities: [Quality] = [.good, .good]
    private var arrivals: [(at: Duration, what: Arrival)] = []
    private var beats: UInt64 = 0
    private var unanswered: [UInt64: Duration] = [:]
    private var isConnected = true
    private var isDialling = false
    private var isReady = false
    private var changedAt: Duration?
    /// Since when the path in use has been dead, and the other one good and ready.
    private var betterSince: Duration?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        choice.connected(now: start)
    }

    private var now: ContinuousClock.Instant { start + elapsed }

    mutating func tick() {
        elapsed += Self.step
        spoil()
        beat()
        arrive()
        for _ in 0..<10 {
            guard let deadline = choice.deadline(now: now), deadline <= now else { return judge() }
            let actions = choice.due(now: now)
            for action in actions { perform(action) }
        }
        findings.append("\(elapsed): the deadline doesn't move")
    }

    private mutating func spoil() {
        for path in 0...1 where Int.random(in: 0..<500, using: &random) == 0 {
            qualities[path] = Quality.allCases.randomElement(using: &random) ?? .good
        }
    }

    private mutating func beat() {
        guard isConnected, elapsed.components.attoseconds == 0 else { return }
        beats += 1
        unanswered[beats] = elapsed
        choice.sent(beats, now: now)
        send(.answer(beats), over: 0)
    }

    /// What is sent over a dead path never arrives.
    private mutating func send(_ arrival: Arrival, over path: Int) {
        switch qualities[path] {
        case .good: arrivals.append((elapsed + .milliseconds(60), arrival))
        case .slow: arrivals.append((elapsed + .milliseconds(2500), arrival))
        case .dead: break
        }
    }

    private mutating func arrive() {
        let due = arrivals.filter { $0.at <= elapsed }
        arrivals.removeAll { $0.at <= elapsed }
        for (_, arrival) in due {
            switch arrival {
            case .answer(let id):
                choice.answered(id)
                unanswered = unanswered.filter { $0.key > id }
            case .standbyAnswer: if choice.standbyAnswered(now: now) { change() }
            case .dialled(let isGood):
                guard isDialling else { break }
                isDialling = false
                if isGood {
                    isReady = true
                    choice.ready(0, lifetime: .seconds(10), now: now)
                } else {
                    choice.dialFailed(now: now)
                }
            case .loggedIn:
                isConnected = true
                choice.connected(now: now)
            }
        }
    }

    private mutating func perform(_ action: PathChoice.Action) {
        switch action {
        case .dial:
            if isDialling { findings.append("\(elapsed): two dials at once") }
            isDialling = true
            send(.dialled(true), over: 1)
        case .giveUpDials:
            if !isDialling { findings.append("\(elapsed): gave up a dial that there was not") }
            isDialling = false
            arrivals.removeAll { if case .dialled = $0.what { true } else { false } }
        case .sendHeartbeat:
            if !isReady { findings.append("\(elapsed): asked a connection that there is not") }
            if !isStalled { findings.append("\(elapsed): asked although nothing has stalled") }
            send(.standbyAnswer, over: 1)
        case .closeStandby:
            isReady = false
            arrivals.removeAll { if case .standbyAnswer = $0.what { true } else { false } }
        }
    }

    private var isStalled: Bool { unanswered.values.contains { elapsed - $0 >= .seconds(1) } }

    private mutating func change() {
        changes += 1
        if !isReady || !isConnected { findings.append("\(elapsed): changed to nothing") }
        if !isStalled { findings.append("\(elapsed): changed although nothing has stalled") }
        if let changedAt, elapsed - changedAt < .seconds(2) { findings.append("\(elapsed): changed again") }
        changedAt = elapsed
        choice.changed(now: now)
        qualities.swapAt(0, 1)
        (isConnected, isReady, isDialling) = (false, false, false)
        (unanswered, arrivals, betterSince) = ([:], [], nil)
        arrivals.append((elapsed + .milliseconds(60), .loggedIn))
    }

    /// A client that could change, and doesn't for the longest hold and a little, has not noticed.
    private mutating func judge() {
        guard isConnected, isReady, qualities == [.dead, .good] else {
            betterSince = nil
            return
        }
        betterSince = betterSince ?? elapsed
        if let betterSince, elapsed - betterSince > .seconds(33) {
            findings.append("\(elapsed): has not changed to the better path")
        }
    }
}
