import RTMClient
import RTMTestSupport
import Synchronization
import Testing

/// A user with a second path, and another one with a good line who publishes a number every few milliseconds.
/// Each number has to reach the first user once and in order, and the link of that user has to stay
/// connected.
final class TwoWays {
    let walker: RTMClient
    /// The lines of the two ways, where they are proxies.
    var lines: [FaultProxy] = []
    private let talker: RTMClient
    private let received = Shared([Int]())
    private let states = Shared([LinkState]())
    private let reported = Shared([String]())
    private let published = Shared(0)
    private let isOver = Shared(false)
    private var sent = 0

    private init(_ walker: RTMClient, _ talker: RTMClient) {
        self.walker = walker
        self.talker = talker
    }

    /// - Parameter walker: has a second path.
    static func with(
        _ walker: RTMClient, _ talker: RTMClient, _ body: (TwoWays) async throws -> Void
    ) async throws {
        for client in [walker, talker] { try await client.login() }
        let ways = TwoWays(walker, talker)
        try await withThrowingTaskGroup(of: Void.self) { group in
            try await walker.subscribe(to: "lobby", features: .message)
            try await talker.subscribe(to: "answers", features: .message)
            let (received, states, reported) = (ways.received, ways.states, ways.reported)
            let (walked, talked) = (walker.events(), talker.events())
            group.addTask {
                for await event in walked {
                    switch event {
                    case .message(let message):
                        guard case .text(let text) = message.payload, let number = Int(text) else { continue }
                        received.withLock { $0.append(number) }
                    case .linkState(let change): states.withLock { $0.append(change.currentState) }
                    case .gap: Issue.record("a gap was reported")
                    default: break
                    }
                }
            }
            group.addTask {
                for await event in talked {
                    guard case .message(let message) = event, case .text(let text) = message.payload
                    else { continue }
                    reported.withLock { $0.append(text) }
                }
            }
            let (published, isOver, isDone) = (ways.published, ways.isOver, Shared(false))
            group.addTask {
                defer { isDone.withLock { $0 = true } }
                while !isOver.present {
                    let number = published.present
                    try await talker.publish("\(number)", to: .channel("lobby"))
                    published.withLock { $0 += 1 }
                    await letPass(.milliseconds(5))
                }
            }
            do {
                try await body(ways)
            } catch {
                Issue.record(error)
            }
            isOver.withLock { $0 = true }
            try await eventually("the talker is done") { isDone.present }
            for client in [walker, talker] { await client.close() }
            try await group.waitForAll()
        }
    }

    /// Waits until a connection stands by on this line.
    func standsBy(_ line: Int) async throws {
        try await eventually("a connection stands by on way \(line)") { self.lines[line].connectionCount > 0 }
        // It has to be welcomed, too.
        await letPass(.milliseconds(200))
    }

    /// Waits until a number arrives that is published from now on.
    ///
    /// - Returns: how long that took.
    @discardableResult
    func arrive(within limit: Duration) async throws -> Duration {
        let next = published.present + 1
        let start = ContinuousClock.now
        try await eventually("number \(next) arrives", within: limit) {
            (self.received.present.last ?? -1) >= next
        }
        return .now - start
    }

    /// Lets time pass in which numbers arrive.
    func arrive(for duration: Duration) async throws {
        await letPass(duration)
        try await arrive(within: .seconds(5))
    }

    /// The walker publishes, and each of it arrives once and in order.
    func publish(_ count: Int) async throws {
        for _ in 0..<count {
            sent += 1
            try await walker.publish("answer \(sent)", to: .channel("answers"))
        }
    }

    /// Everything that was published has arrived, and the link has been connected all the time.
    func finish() async throws {
        isOver.withLock { $0 = true }
        let last = published.present
        try await eventually("everything has arrived") {
            self.received.present.count >= last && self.reported.present.count >= self.sent
        }
        let received = received.present
        #expect(received == Array(received.indices), "a number is missing, repeated or out of order")
        #expect(reported.present == (0..<sent).map { "answer \($0 + 1)" })
        #expect(states.present == [], "the link changed")
        #expect(walker.linkState == .connected)
    }
}
