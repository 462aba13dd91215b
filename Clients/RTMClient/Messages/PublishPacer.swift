import RTMModel
import RTMProtocol

/// When each publish may be sent, so that the client stays below the rates that the server has named (R-2,
/// Pure: it gets the time.
///
/// A publish that comes too early gets its time at once. Messages bunch up on their way to the server, so the
/// client uses a little less than the server allows.
struct PublishPacer {
    typealias Instant = ContinuousClock.Instant

    /// What the client uses of the rate, and of what may come at once.
    private static let rateShare = 0.95
    private static let burstShare = 0.75

    /// `nil` while the server has named no rates.
    private var rates: Rtm_Client_PublishRates?
    private var targets: [MessageDestination: Pace] = [:]
    private var messages = Pace()
    private var bytes = Pace()

    /// A server has named its rates, and nothing has been sent to it yet.
    mutating func begin(_ rates: Rtm_Client_PublishRates?) {
        self.rates = rates.flatMap { $0 == Rtm_Client_PublishRates() ? nil : $0 }
        (targets, messages, bytes) = ([:], Pace(), Pace())
    }

    func earliest(_ destination: MessageDestination, _ byteCount: Int, now: Instant) -> Instant {
        guard let rates else { return now }
        let perSecond = rates.messages(to: destination)
        let target = perSecond == 0 ? nil : targets[destination]
        return max(
            target?.earliest(1, perSecond, now: now) ?? now,
            messages.earliest(1, UInt64(rates.sessionMessages), now: now),
            bytes.earliest(byteCount, rates.sessionBytes, now: now))
    }

    /// A publish is sent at this time.
    ///
    /// - Parameter now: lets the pacer forget the destinations that don't matter any more.
    mutating func spend(
        _ destination: MessageDestination, _ byteCount: Int, at time: Instant, now: Instant? = nil
    ) {
        guard let rates else { return }
        let perSecond = rates.messages(to: destination)
        if perSecond > 0 { targets[destination, default: Pace()].spend(1, perSecond, at: time) }
        messages.spend(1, UInt64(rates.sessionMessages), at: time)
        bytes.spend(byteCount, rates.sessionBytes, at: time)
        if let now { forgetRested(now: now) }
    }

    /// How far one rate is used up: the next message may be sent when the backlog is within the burst.
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

    /// Limit: destinations are remembered while they matter, which is while publishes wait for them and about
    /// a second longer. They are looked through again when there are twice as many, so each publish pays for
    /// one destination.
    private mutating func forgetRested(now: Instant) {
        guard targets.count > targetsMax else { return }
        targets = targets.filter { $0.value.even.map { $0 > now } ?? false }
        targetsMax = max(Self.targetsMax, 2 * targets.count)
    }

    private static let targetsMax = 1_024
    private var targetsMax = Self.targetsMax
}

extension Rtm_Client_PublishRates {
    /// How many messages a second may go there; 0 means any number.
    fileprivate func messages(to destination: MessageDestination) -> UInt64 {
        if case .topic = destination { UInt64(topicMessages) } else { UInt64(targetMessages) }
    }
}
