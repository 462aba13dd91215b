import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// Thousands of generated histories. The promises hold whatever happens in whatever order.
struct LinkRandomWalkTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `S-0a: every login completes exactly once and the states form a chain`(seed: UInt64) {
        var walk = Walk(seed: seed)
        for _ in 0..<200 { walk.step() }
        walk.finish()
        #expect(walk.completed == walk.started)
    }
}

private struct Walk {
    private var link: VirtualLink
    private var random: SeededGenerator
    private var lastLogin: UInt64 = 0
    private var time = Duration.zero
    private var seenChanges = 0
    private var lossAt = Duration.zero

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let servers = Int.random(in: 1...3, using: &random)
        let timeout: Duration? = Bool.random(using: &random) ? .seconds(200) : nil
        link = VirtualLink(.exact(servers: servers, reconnectTimeout: timeout))
    }

    var started: [UInt64] { lastLogin == 0 ? [] : Array(1...lastLogin) }
    var completed: [UInt64] { link.completions.map(\.login).sorted() }

    mutating func step() {
        let outcome = Int.random(in: 0..<6, using: &random)
        link.reach = { _, _ in
            switch outcome {
            case 0: .refused(RTMError(.invalidToken, "no"))
            case 1: .refused(RTMError(.loginNoServerResources, "later", retryAfter: .seconds(3)))
            case 2, 3: .unreachable
            case 4: .silent
            default: .accepted
            }
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            lastLogin += 1
            link.login(lastLogin, token: "same")
        case 2: link.logout()
        case 3: link.cancelLogin(lastLogin)
        case 7: link.networkChanged()
        case 8: link.changePath()
        case 4: link.lose()
        case 5: link.lose(.heartbeatTimeout)
        case 6:
            link.lose(
                .disconnected(code: Bool.random(using: &random) ? 3001 : 3501, reason: "x", retryAfter: nil))
        default:
            time += .milliseconds(Int.random(in: 0..<60_000, using: &random))
            link.advance(to: time)
        }
        check()
    }

    mutating func finish() {
        link.logout()
        check()
        #expect(link.state == .idle)
    }

    private mutating func check() {
        for index in seenChanges..<link.changes.count {
            let (at, change) = link.changes[index]
            let before = index == 0 ? LinkState.idle : link.changes[index - 1].change.current
            #expect(change.previous == before)
            #expect(change.current != change.previous)
            if change.previous == .connected, change.current == .disconnected { lossAt = at }
            if change.isResumed {
                #expect(change.operation == .reconnected)
                #expect(at - lossAt <= .seconds(120))
            }
        }
        seenChanges = link.changes.count
        #expect(link.changes.last.map(\.change.current) ?? .idle == link.machine.shownState)
        let waits = [.connecting, .disconnected, .suspended].contains(link.state)
        #expect((link.machine.deadline != nil) == waits)
        if link.state == .connected { #expect(link.machine.pendingLogin == nil) }
        let numbers = link.attempts.map(\.number)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    }
}
