import NIOCore

/// Whether a hook is away, and when it is asked again. Pure.
///
/// Where nothing answers, each message would wait for the deadline. So an outage begins when there is no
/// connection, when the hook says that it is overloaded, or when three questions in a row got no usable
/// answer. From then on one question at a time asks whether the hook is back, with pauses that grow. All
/// other messages get the verdict of a failure at once.
struct PublishHookOutage {
    static let failuresMax = 3
    /// A pause is between half of this and all of it, so that one message in a while waits for the deadline,
    /// and the processes of an installation don't ask at the same time.
    private static let pauseMin = TimeAmount.seconds(1)
    private static let pauseMax = TimeAmount.seconds(8)

    private var failuresInRow = 0
    private(set) var isAway = false
    private var pause = pauseMin
    private var nextProbe = NIODeadline.distantPast
    /// The question that asks whether the hook is back.
    private var probe: UInt64?

    /// Whether the hook is asked this question.
    mutating func admits(_ question: UInt64, now: NIODeadline) -> Bool {
        guard isAway else { return true }
        guard probe == nil, now >= nextProbe else { return false }
        probe = question
        return true
    }

    /// How long to wait before a message is sent again. A publisher that comes earlier would meet the outage.
    func wait(now: NIODeadline, deadline: TimeAmount) -> TimeAmount {
        isAway && probe == nil && nextProbe > now ? max(nextProbe - now, deadline) : deadline
    }

    /// The hook has answered, whichever question it was.
    mutating func answered() { self = PublishHookOutage() }

    mutating func failed(
        _ question: UInt64, isAway isHookAway: Bool, now: NIODeadline,
        using random: inout some RandomNumberGenerator
    ) {
        guard !isAway else {
            // What was asked before the outage says nothing new.
            guard question == probe else { return }
            probe = nil
            pause = min(pause + pause, Self.pauseMax)
            return schedule(now, using: &random)
        }
        failuresInRow += 1
        guard isHookAway || failuresInRow >= Self.failuresMax else { return }
        isAway = true
        schedule(now, using: &random)
    }

    private mutating func schedule(_ now: NIODeadline, using random: inout some RandomNumberGenerator) {
        nextProbe = now + .nanoseconds(.random(in: pause.nanoseconds / 2...pause.nanoseconds, using: &random))
    }
}
