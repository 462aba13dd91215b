import RTMModel
import RTMProtocol

@testable import RTMClient

/// The rules of pacing in the plainest way: one list of all that waits, which each step reads
/// through.
struct PlainPacer {
    typealias Instant = ContinuousClock.Instant

    enum Verdict: Equatable {
        case now
        case at(Instant)
        case refused(retryAfter: Duration)
    }

    private struct Waiting {
        let id: UInt64
        let message: OutgoingMessage
        let time: Instant
    }

    var limits = PublishPacing.patient
    private var rates: Rtm_Client_PublishRates?
    private var targets: [MessageDestination: Instant] = [:]
    private var messages: Instant?
    private var bytes: Instant?
    private var waiting: [Waiting] = []

    var nextDue: Instant? { waiting.first?.time }
    var waitingIDs: [UInt64] { waiting.map(\.id) }

    mutating func admit(
        _ id: UInt64, _ message: OutgoingMessage, now: Instant, deadline: Instant
    ) -> Verdict {
        let before = waiting.filter { $0.message.destination == message.destination }
        let predecessor = before.last
        let time = max(earliest(message, now: now), predecessor?.time ?? now)
        let latest = limits.waitMax.map { min(deadline, now + $0) } ?? deadline
        guard time <= latest else { return .refused(retryAfter: time - latest) }
        guard before.count < limits.waitingMax else {
            return .refused(retryAfter: max(before[0].time - now, .zero))
        }
        spend(message, at: time)
        guard time > now || predecessor != nil else { return .now }
        let place = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        waiting.insert(Waiting(id: id, message: message, time: time), at: place)
        return .at(time)
    }

    mutating func takeDue(now: Instant) -> [UInt64] {
        let due = waiting.prefix { $0.time <= now }.map(\.id)
        waiting.removeFirst(due.count)
        return due
    }

    mutating func remove(_ id: UInt64) -> Bool {
        let count = waiting.count
        waiting.removeAll { $0.id == id }
        return waiting.count < count
    }

    mutating func begin(_ rates: Rtm_Client_PublishRates?, now: Instant) {
        self.rates = rates.flatMap { $0 == Rtm_Client_PublishRates() ? nil : $0 }
        (targets, messages, bytes) = ([:], nil, nil)
        let order = waiting.map { entry in
            let time = earliest(entry.message, now: now)
            spend(entry.message, at: time)
            return Waiting(id: entry.id, message: entry.message, time: time)
        }
        waiting = order.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }

    // MARK: Paces

    private func earliest(_ message: OutgoingMessage, now: Instant) -> Instant {
        guard let rates else { return now }
        return max(
            Self.earliest(targets[message.destination], 1, UInt64(rates.targetMessages), now),
            Self.earliest(messages, 1, UInt64(rates.sessionMessages), now),
            Self.earliest(bytes, message.payload.byteCount, rates.sessionBytes, now))
    }

    private mutating func spend(_ message: OutgoingMessage, at time: Instant) {
        guard let rates else { return }
        Self.spend(&targets[message.destination], 1, UInt64(rates.targetMessages), time)
        Self.spend(&messages, 1, UInt64(rates.sessionMessages), time)
        Self.spend(&bytes, message.payload.byteCount, rates.sessionBytes, time)
    }

    /// 95 % of the rate are used, and three quarters of what may come at once.
    private static func earliest(
        _ even: Instant?, _ cost: Int, _ perSecond: UInt64, _ now: Instant
    ) -> Instant {
        guard perSecond > 0, let even else { return now }
        return max(now, even - max(.seconds(0.75 / 0.95) - duration(cost, perSecond), .zero))
    }

    private static func spend(_ even: inout Instant?, _ cost: Int, _ perSecond: UInt64, _ time: Instant) {
        guard perSecond > 0 else { return }
        even = max(even ?? time, time) + duration(cost, perSecond)
    }

    private static func duration(_ cost: Int, _ perSecond: UInt64) -> Duration {
        .seconds(Double(cost) / (Double(perSecond) * 0.95))
    }
}

extension PublishQueue {
    /// Adds a publish, as `PlainPacer` does it.
    mutating func admit(
        _ id: UInt64, _ message: OutgoingMessage, now: Instant, deadline: Instant
    ) -> PlainPacer.Verdict {
        switch add(id, to: message.destination, message.request, inboxEpoch: 0, now: now, deadline: deadline)
        {
        case .send, .held: .now
        case .paced(let time): .at(time)
        case .refused(let wait): .refused(retryAfter: wait)
        }
    }

    mutating func takeDue(now: Instant) -> [UInt64] { takeDue(now: now, inboxEpoch: 0).map(\.id) }

    /// - Returns: whether the publish was paced.
    mutating func removePaced(_ id: UInt64) -> Bool { removeUnsent(id) == .paced }
}
