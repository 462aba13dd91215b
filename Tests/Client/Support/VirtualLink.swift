import RTMModel
import RTMTestSupport

@testable import RTMClient

/// The link-state machine under a virtual clock, with a network that the test decides about.
struct VirtualLink {
    enum Outcome {
        case accepted
        case unreachable
        /// Nothing listens there.
        case refusedAddress
        /// Nothing happens until the attempt's time is over.
        case silent
        case refused(RTMError)
    }

    struct Completed {
        var at: Duration
        var login: UInt64
        var error: RTMError?

        var code: ErrorCode? { error?.code }
    }

    var machine: LinkStateMachine
    /// What an attempt meets, by the time since the start and the index of the server.
    var reach: (Duration, Int) -> Outcome
    var random = SeededGenerator(seed: 1)
    /// What a restoration can't bring back.
    var unrestored: [String] = []
    /// What continues after a gap.
    var interrupted: [String] = []
    var isIncomplete = false

    private let start = ContinuousClock.now
    private(set) var elapsed = Duration.zero
    private(set) var changes: [(at: Duration, change: LinkChange)] = []
    private(set) var attempts: [(at: Duration, number: UInt64, server: Int)] = []
    /// When the app's provider was asked for a token, and by which attempt.
    private(set) var questions: [(at: Duration, number: UInt64)] = []
    private(set) var completions: [Completed] = []
    private(set) var others: [LinkStateMachine.Action] = []

    init(
        _ parameters: LinkStateMachine.Parameters = .exact,
        reach: @escaping (Duration, Int) -> Outcome = { _, _ in .accepted }
    ) {
        machine = LinkStateMachine(parameters)
        self.reach = reach
    }

    var now: ContinuousClock.Instant { start + elapsed }
    var state: LinkState { machine.state }
    var states: [LinkState] { changes.map(\.change.current) }
    var lastChange: LinkChange? { changes.last?.change }

    mutating func login(_ id: UInt64 = 1, token: String? = nil) {
        perform(machine.login(id, token: token, now: now))
    }

    mutating func logout() { perform(machine.logout()) }

    mutating func networkChanged() { perform(machine.networkChanged(now: now)) }

    mutating func changePath() {
        perform(machine.changePath(to: machine.server, reason: "stalled", now: now))
    }

    mutating func cancelLogin(_ id: UInt64) {
        perform(machine.cancelLogin(id, error: .cancelled(.login)))
    }

    mutating func provide(_ token: String, to attempt: UInt64) {
        perform(machine.tokenProvided(token, attempt: attempt, now: now, random: &random))
    }

    /// The server says that the token ends soon.
    ///
    /// - Returns: whether the app gets an event.
    @discardableResult
    mutating func tokenExpires(in remaining: Duration = .seconds(30)) -> Bool {
        machine.tokenExpires(in: remaining, now: now)
    }

    mutating func lose(_ loss: LinkLoss = .connectionError("cut")) {
        guard let number = attempts.last?.number else { return }
        perform(machine.connectionEnded(attempt: number, loss, now: now, random: &random))
    }

    /// Lets time pass, with everything that is due on the way.
    mutating func advance(to time: Duration) {
        while let deadline = machine.deadline, deadline <= start + time {
            elapsed = max(elapsed, deadline - start)
            perform(machine.timerFired(now: now, random: &random))
        }
        elapsed = time
    }

    mutating func perform(_ actions: [LinkStateMachine.Action]) {
        for action in actions {
            switch action {
            case .announce(let change): changes.append((elapsed, change))
            case .completeLogin(let id, let error):
                completions.append(Completed(at: elapsed, login: id, error: error))
            case .askForToken(let number): questions.append((elapsed, number))
            case .connect(let number, let server): connect(number, server)
            case .takeOver(let number, _):
                others.append(action)
                connect(number, machine.server)
            default: others.append(action)
            }
        }
    }

    private mutating func connect(_ number: UInt64, _ server: Int) {
        attempts.append((elapsed, number, server))
        switch reach(elapsed, server) {
        case .accepted:
            machine.loginAccepted(attempt: number, now: now)
            perform(
                machine.restored(
                    attempt: number, unrestoredChannels: unrestored, interruptedChannels: interrupted,
                    isIncomplete: isIncomplete, now: now))
        case .unreachable: lose(.connectionError("away"))
        case .refusedAddress: lose(.connectionError("refused", .refused))
        case .refused(let error): lose(.loginRefused(error))
        case .silent: break
        }
    }
}

extension LinkStateMachine.Parameters {
    /// The times of the specification, without jitter.
    static var exact: LinkStateMachine.Parameters {
        var parameters = LinkStateMachine.Parameters()
        parameters.timing.jitter = 0
        return parameters
    }

    static func exact(servers: Int = 1, reconnectTimeout: Duration? = nil) -> LinkStateMachine.Parameters {
        var parameters = exact
        parameters.serverCount = servers
        parameters.reconnectTimeout = reconnectTimeout
        return parameters
    }
}
