import DequeModule
import NIOConcurrencyHelpers
import RTMModel

/// The events that wait for one consumer.
///
/// `Contents` decides. Nothing is resumed under the lock.
final class EventBuffer: EventSink {
    private let contents: NIOLockedValueBox<Contents>
    private let isWanted: (@Sendable (RTMEvent) -> Bool)?

    /// - Parameter isWanted: which events the consumer reads; `nil` if it is all of them.
    init(_ buffering: EventBuffering, where isWanted: (@Sendable (RTMEvent) -> Bool)? = nil) {
        self.isWanted = isWanted
        contents = NIOLockedValueBox(Contents(capacity: buffering.capacity))
    }

    func append(_ event: RTMEvent) {
        guard isWanted?(event) ?? true else { return }
        let waiter = contents.withLockedValue { $0.append(event) }
        waiter?.continuation.resume(returning: event)
    }

    func finish() {
        let waiters = contents.withLockedValue { $0.finish() }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
    }

    /// How often somebody began to wait for an event, if nobody waits now.
    var waitsOfBusyReader: UInt64? { contents.withLockedValue { $0.waitsOfBusyReader } }

    /// An event that waits already. `nil` if there is none, and at the end.
    func takeIfReady() -> RTMEvent? { contents.withLockedValue { $0.takeIfReady()?.event } }

    func next() async -> RTMEvent? {
        let id: UInt64
        switch contents.withLockedValue({ $0.begin() }) {
        case .ready(let ready): return ready.event
        case .wait(let waiterID): id = waiterID
        }
        defer { if Task.isCancelled { contents.withLockedValue { $0.forget(id) } } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = contents.withLockedValue { $0.wait(Waiter(id: id, continuation: continuation)) }
                if let ready { continuation.resume(returning: ready.event) }
            }
        } onCancel: {
            let waiter = contents.withLockedValue { $0.cancel(id) }
            waiter?.continuation.resume(returning: nil)
        }
    }
}

extension EventBuffer {
    struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<RTMEvent?, Never>
    }

    /// An answer that needs no waiting: an event, or `nil` for the end.
    struct Ready {
        let event: RTMEvent?
    }

    enum Start {
        case ready(Ready)
        /// Wait with a waiter of this id.
        case wait(UInt64)
    }

    struct Contents {
        let capacity: Int
        private var events: Deque<RTMEvent> = []
        private var payloadBytes = 0
        /// Events lost before the first one in `events`.
        private var dropped = 0
        private var isFinished = false
        /// Normally there is one at most. There are more only if several tasks share one sequence. Somebody
        /// waits only while `events` is empty.
        private var waiters: Deque<Waiter> = []
        private var lastWaiterID: UInt64 = 0
        /// Waiters that were cancelled before they began to wait.
        private var cancelled: Set<UInt64> = []

        init(capacity: Int) { self.capacity = capacity }

        var waitsOfBusyReader: UInt64? {
            lastWaiterID > 0 && waiters.isEmpty && !isFinished ? lastWaiterID : nil
        }

        /// - Returns: the waiter that takes the event. Without one the event is kept.
        mutating func append(_ event: RTMEvent) -> Waiter? {
            guard !isFinished else { return nil }
            if let waiter = waiters.popFirst() { return waiter }
            events.append(event)
            payloadBytes += event.payloadBytes
            while events.count > capacity || payloadBytes > EventBuffering.payloadBytesMax, events.count > 1 {
                payloadBytes -= events.removeFirst().payloadBytes
                dropped += 1
            }
            return nil
        }

        mutating func takeIfReady() -> Ready? {
            if dropped > 0 {
                defer { dropped = 0 }
                return Ready(event: .overflow(dropped: dropped))
            }
            if let event = events.popFirst() {
                payloadBytes -= event.payloadBytes
                return Ready(event: event)
            }
            return isFinished ? Ready(event: nil) : nil
        }

        mutating func begin() -> Start {
            if let ready = takeIfReady() { return .ready(ready) }
            lastWaiterID += 1
            return .wait(lastWaiterID)
        }

        mutating func wait(_ waiter: Waiter) -> Ready? {
            if cancelled.remove(waiter.id) != nil { return Ready(event: nil) }
            if let ready = takeIfReady() { return ready }
            waiters.append(waiter)
            return nil
        }

        mutating func cancel(_ id: UInt64) -> Waiter? {
            if let index = waiters.firstIndex(where: { $0.id == id }) { return waiters.remove(at: index) }
            // Either the waiter has its event already, or it has not begun to wait.
            cancelled.insert(id)
            return nil
        }

        /// The call with this id has returned.
        mutating func forget(_ id: UInt64) { cancelled.remove(id) }

        mutating func finish() -> Deque<Waiter> {
            isFinished = true
            defer { waiters = [] }
            return waiters
        }
    }
}

extension RTMEvent {
    /// What the event counts against a limit of bytes.
    package var payloadBytes: Int {
        switch self {
        case .message(let message): message.payload.byteCount
        case .presence(let presence): presence.change.byteCount
        default: 0
        }
    }
}

extension PresenceEvent.Change {
    /// The bytes of names and states, without everything else.
    fileprivate var byteCount: Int {
        switch self {
        case .snapshot(let users): users.reduce(0) { $0 + $1.byteCount }
        case .statesChanged(let user): user.byteCount
        case .joined(let user, let states): UserState(userID: user, states: states).byteCount
        case .interval(let interval):
            (interval.joined + interval.left + interval.timedOut).reduce(0) { $0 + $1.utf8.count }
                + interval.states.reduce(0) { $0 + $1.byteCount }
        default: 0
        }
    }
}

extension UserState {
    fileprivate var byteCount: Int {
        states.reduce(userID.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }
}
