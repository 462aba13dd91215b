import RTMModel
import RTMProtocol

/// When each publish may leave, so that the client stays below the rates that the server has named (R-2, R-3,
/// Pure: it is told the time.
///
/// A publish that comes too early gets its time at once, behind all earlier ones to its target, so the order
/// of a channel stays. Messages bunch on their way to the server. So the client counts on a little less than
/// the server allows.
struct PublishPacer {
    typealias Instant = ContinuousClock.Instant

    enum Verdict: Equatable {
        case now
        /// It waits until then, and `takeDue` returns it.
        case at(Instant)
        /// Its turn would come after the time that it may wait, or too many wait for the same target already.
        case refused(retryAfter: Duration)
    }

    /// What the client uses of the rate and of what may come at once.
    private static let rateShare = 0.95
    private static let burstShare = 0.75

    private let limits: PublishPacing
    /// Nil while the server has named no rates.
    private var rates: Rtm_Client_PublishRates?
    private var targets: [MessageDestination: Pace] = [:]
    private var messages = Pace()
    private var bytes = Pace()
    private var waiting = WaitingPublishes()

    init(_ limits: PublishPacing = .patient) { self.limits = limits }

    var nextDue: Instant? { waiting.next?.time }
    /// In the order of their times.
    var waitingIDs: [UInt64] { waiting.all.map(\.id) }

    /// - Parameter deadline: when the time of the call is over.
    mutating func admit(
        _ id: UInt64, _ message: OutgoingMessage, now: Instant, deadline: Instant
    ) -> Verdict {
        let predecessor = waiting.last(to: message.destination)
        let time = max(earliest(message, now: now), predecessor?.time ?? now)
        let latest = limits.waitMax.map { min(deadline, now + $0) } ?? deadline
        guard time <= latest else { return .refused(retryAfter: time - latest) }
        if let first = waiting.first(to: message.destination, unlessFewerThan: limits.waitingMax) {
            return .refused(retryAfter: max(first.time - now, .zero))
        }
        spend(message, at: time)
        forgetRested(now: now)
        // A predecessor whose time has come leaves in a moment, and this one behind it.
        guard time > now || predecessor != nil else { return .now }
        waiting.add(id, message, at: time)
        return .at(time)
    }

    /// The publishes whose time has come.
    mutating func takeDue(now: Instant) -> [(id: UInt64, message: OutgoingMessage)] {
        waiting.takeDue(now: now).map { ($0.id, $0.message) }
    }

    /// Nobody waits for the publish any more.
    ///
    /// - Returns: whether it had not been sent.
    mutating func remove(_ id: UInt64) -> Bool { waiting.remove(id) }

    /// A server has let the client in and named its rates. What still waits keeps its order and gets new
    /// times.
    mutating func begin(_ rates: Rtm_Client_PublishRates?, now: Instant) {
        self.rates = rates.flatMap { $0 == Rtm_Client_PublishRates() ? nil : $0 }
        (targets, messages, bytes) = ([:], Pace(), Pace())
        let entries = waiting.all
        waiting = WaitingPublishes()
        for entry in entries {
            let time = earliest(entry.message, now: now)
            spend(entry.message, at: time)
            waiting.add(entry.id, entry.message, at: time)
        }
    }

    // MARK: Paces

    /// How far one rate is used up: the next message may leave when the backlog is within the burst.
    private struct Pace {
        /// When all that was sent so far would be sent at the even rate.
        var even: Instant?

        func earliest(_ cost: Int, _ perSecond: UInt64, now: Instant) -> Instant {
            guard perSecond > 0, let even else { return now }
            let burst = Duration.seconds(burstShare / rateShare) - Self.time(of: cost, perSecond)
            return max(now, even - max(burst, .zero))
        }

        mutating func spend(_ cost: Int, _ perSecond: UInt64, at time: Instant) {
            guard perSecond > 0 else { return }
            even = max(even ?? time, time) + Self.time(of: cost, perSecond)
        }

        private static func time(of cost: Int, _ perSecond: UInt64) -> Duration {
            .seconds(Double(cost) / (Double(perSecond) * rateShare))
        }
    }

    private func earliest(_ message: OutgoingMessage, now: Instant) -> Instant {
        guard let rates else { return now }
        let perSecond = rates.messages(to: message.destination)
        let target = perSecond == 0 ? nil : targets[message.destination]
        return max(
            target?.earliest(1, perSecond, now: now) ?? now,
            messages.earliest(1, UInt64(rates.sessionMessages), now: now),
            bytes.earliest(message.payload.byteCount, rates.sessionBytes, now: now))
    }

    private mutating func spend(_ message: OutgoingMessage, at time: Instant) {
        guard let rates else { return }
        let perSecond = rates.messages(to: message.destination)
        if perSecond > 0 {
            targets[message.destination, default: Pace()].spend(1, perSecond, at: time)
        }
        messages.spend(1, UInt64(rates.sessionMessages), at: time)
        bytes.spend(message.payload.byteCount, rates.sessionBytes, at: time)
    }

    /// Limit: targets are remembered while they matter, which is while they wait and about a second longer.
    /// The next look comes when there are twice as many, so each publish pays for one target.
    private mutating func forgetRested(now: Instant) {
        guard targets.count > targetsMax else { return }
        targets = targets.filter { $0.value.even.map { $0 > now } ?? false }
        targetsMax = max(Self.targetsMax, 2 * targets.count)
    }

    private static let targetsMax = 1_024
    private var targetsMax = Self.targetsMax
}

/// How far a client holds publishes back that come faster than the server's rates.
package struct PublishPacing: Sendable, Hashable {
    /// How long a publish may wait; nil means as long as a call may take.
    package var waitMax: Duration?
    /// Limit: how many publishes may wait for one target.
    package var waitingMax: Int

    package init(waitMax: Duration?, waitingMax: Int) {
        self.waitMax = waitMax
        self.waitingMax = waitingMax
    }

    /// Every publish waits for its turn.
    package static let patient = PublishPacing(waitMax: nil, waitingMax: .max)
}

extension Rtm_Client_PublishRates {
    /// How many messages a second may go there; 0 means any number.
    fileprivate func messages(to destination: MessageDestination) -> UInt64 {
        if case .topic = destination { UInt64(topicMessages) } else { UInt64(targetMessages) }
    }
}
