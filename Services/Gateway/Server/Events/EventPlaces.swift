import Foundation
import RTMModel
import RTMWire
import Synchronization

/// The requests that wait for events or stream them. They last, so they are bounded by key: one key can't
/// take all connections. And they end with their key: when it is revoked or changed, and when it expires.
final class EventPlaces: Sendable {
    private struct Open {
        let record: APIKeyRecord
        let end: EventPlace.End
    }

    private struct State {
        var countMax: Int
        var last: UInt64 = 0
        var open: [UInt64: Open] = [:]
        var counts: [String: Int] = [:]
    }

    private let state: Mutex<State>

    /// - Parameter countMax: how many places a key may have at once.
    init(countMax: Int) { state = Mutex(State(countMax: countMax)) }

    /// - Throws: `.operationRateExceedLimitation` (-10021) if the key has all its places.
    func take(_ record: APIKeyRecord) throws(RTMError) -> EventPlace {
        let place: Result<EventPlace, RTMError> = state.withLock { state in
            guard state.counts[record.id, default: 0] < state.countMax else {
                return .failure(Self.refusal(state.countMax))
            }
            state.last += 1
            let end = EventPlace.End()
            state.open[state.last] = Open(record: record, end: end)
            state.counts[record.id, default: 0] += 1
            return .success(EventPlace(number: state.last, record: record, end: end, in: self))
        }
        return try place.get()
    }

    /// The configuration has these keys and this limit now.
    func take(_ records: [APIKeyRecord], countMax: Int) {
        let known = Dictionary(records.map { ($0.id, $0) }) { _, last in last }
        let ended = state.withLock { state in
            state.countMax = countMax
            return state.open.values.filter { known[$0.record.id] != $0.record }
        }
        for open in ended { open.end.come() }
    }

    fileprivate func release(_ number: UInt64) {
        state.withLock { state in
            guard let open = state.open.removeValue(forKey: number) else { return }
            let left = state.counts[open.record.id, default: 1] - 1
            state.counts[open.record.id] = left == 0 ? nil : left
        }
    }

    private static func refusal(_ countMax: Int) -> RTMError {
        RTMError(
            .operationRateExceedLimitation,
            "the key waits for events in \(countMax) requests, which is the limit", retryAfter: .seconds(1),
            limit: .init(name: "gateway.events.perKeyMax", value: UInt64(countMax)))
    }
}

/// The place of one request. It is free again when nobody has the object any more.
final class EventPlace: Sendable {
    /// Whether the key was revoked or changed.
    final class End: Sendable {
        private struct State {
            var hasCome = false
            var wake: (@Sendable () -> Void)?
        }

        private let state = Mutex(State())

        var hasCome: Bool { state.withLock { $0.hasCome } }

        fileprivate func come() {
            let wake = state.withLock { state in
                state.hasCome = true
                return state.wake.take()
            }
            wake?()
        }

        /// Calls once, at the end; it replaces the call of before.
        func then(_ wake: @escaping @Sendable () -> Void) {
            let hasCome = state.withLock { state in
                state.wake = wake
                return state.hasCome
            }
            if hasCome { wake() }
        }
    }

    let end: End
    private let number: UInt64
    private let record: APIKeyRecord
    private let places: EventPlaces

    fileprivate init(number: UInt64, record: APIKeyRecord, end: End, in places: EventPlaces) {
        (self.number, self.record, self.end, self.places) = (number, record, end, places)
    }

    deinit { places.release(number) }

    /// Whether nothing more may be shown.
    func isOver(now: Date) -> Bool { end.hasCome || now >= record.expires ?? .distantFuture }

    /// How long a request may wait: not beyond the day on which the key expires.
    func wait(_ wait: Duration, now: Date) -> Duration {
        guard let expires = record.expires else { return wait }
        return max(.zero, min(wait, .seconds(expires.timeIntervalSince(now))))
    }
}

/// Resumes once, with what comes first.
final class FirstAnswer<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = Mutex(continuation) }

    func give(_ value: Value) {
        continuation.withLock { $0.take() }?.resume(returning: value)
    }
}
