// How events reach their consumers.
//
// The link emits each event once, on its event loop. Every consumer has a bounded buffer of its own, so that
// a slow consumer holds up neither the socket nor the others. What overflows is dropped at the old end, and
// the consumer finds `.overflow` there, because silence is never an answer.

import NIOConcurrencyHelpers
import RTMModel

/// How many events wait for a consumer, and what happens when there are more.
public struct EventBuffering: Sendable, Hashable {
    /// How many events wait unless something else is asked for.
    public static let defaultCapacity = 16_384
    /// Limit: bytes of message contents that wait for one consumer. Beyond it the oldest events are dropped
    /// too.
    public static let payloadBytesMax = 64 * 1024 * 1024

    /// The number of events that wait, at least 1.
    public let capacity: Int

    /// Keeps the newest events. The dropped ones are counted in an ``RTMEvent/overflow(dropped:)`` event.
    public static func dropOldest(capacity: Int = defaultCapacity) -> EventBuffering {
        EventBuffering(capacity: max(1, capacity))
    }
}

/// The events of one client, for one consumer.
public struct RTMEvents: AsyncSequence, Sendable {
    public typealias Element = RTMEvent
    public typealias Failure = Never

    let consumer: EventConsumer

    public func makeAsyncIterator() -> Iterator { Iterator(consumer: consumer) }

    /// Goes through the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let consumer: EventConsumer

        /// Waits for the next event. Returns `nil` after the end, and when the task is cancelled.
        public mutating func next() async -> RTMEvent? { await consumer.next() }

        /// Waits for the next event. Returns `nil` after the end, and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RTMEvent? {
            await consumer.next()
        }
    }
}

/// One consumer's registration in the hub. Releasing the last copy of its sequence and iterators ends it.
final class EventConsumer: Sendable {
    private let id: UInt64
    private let buffer: EventBuffer
    private let hub: EventHub

    init(id: UInt64, buffer: EventBuffer, hub: EventHub) {
        self.id = id
        self.buffer = buffer
        self.hub = hub
    }

    deinit { hub.remove(id) }

    func next() async -> RTMEvent? { await buffer.next() }

    /// An event that waits already. `nil` if there is none, and at the end.
    func takeIfReady() -> RTMEvent? { buffer.takeIfReady() }
}

/// Where a hub puts events. All methods are called on the link's event loop.
package protocol EventSink: Sendable {
    func append(_ event: RTMEvent)
    func finish()
}

/// All consumers of one client, and the link state as they know it.
final class EventHub: Sendable {
    private struct Contents {
        var consumers: [(id: UInt64, buffer: any EventSink)] = []
        var lastID: UInt64 = 0
        var linkState = LinkState.idle
        var isFinished = false
    }

    private let contents = NIOLockedValueBox(Contents())

    var linkState: LinkState { contents.withLockedValue { $0.linkState } }
    var consumerCount: Int { contents.withLockedValue { $0.consumers.count } }

    func makeConsumer(
        _ buffering: EventBuffering, where isWanted: (@Sendable (RTMEvent) -> Bool)? = nil
    ) -> RTMEvents {
        let buffer = EventBuffer(buffering, where: isWanted)
        return RTMEvents(consumer: EventConsumer(id: add(buffer).id, buffer: buffer, hub: self))
    }

    /// Makes a consumer of the newest change of the link, and says which state it follows.
    func makeLinkStateConsumer() -> (consumer: EventConsumer, present: LinkState) {
        let buffer = EventBuffer(.dropOldest(capacity: 1)) { event in
            if case .linkState = event { true } else { false }
        }
        let (id, present) = add(buffer)
        return (EventConsumer(id: id, buffer: buffer, hub: self), present)
    }

    /// Sends all events from now on to this sink, too.
    ///
    /// - Returns: the number that takes the sink out again, and the state that its first event changes.
    @discardableResult
    func add(_ sink: some EventSink) -> (id: UInt64, linkState: LinkState) {
        let (id, linkState, isFinished) = contents.withLockedValue { contents in
            contents.lastID += 1
            if !contents.isFinished { contents.consumers.append((contents.lastID, sink)) }
            return (contents.lastID, contents.linkState, contents.isFinished)
        }
        if isFinished { sink.finish() }
        return (id, linkState)
    }

    /// Emits an event to all consumers. This is called on the link's event loop only, so that all consumers
    /// see one order.
    func emit(_ event: RTMEvent) {
        let consumers = contents.withLockedValue { contents in
            if case .linkState(let change) = event { contents.linkState = change.currentState }
            return contents.consumers
        }
        for consumer in consumers { consumer.buffer.append(event) }
    }

    /// Readers that have begun to read and don't wait at the moment.
    var busyReaders: [WatchedClient.Reader] {
        contents.withLockedValue { $0.consumers }.compactMap { id, buffer in
            (buffer as? EventBuffer)?.waitsOfBusyReader.map { .init(id: id, waits: $0) }
        }
    }

    func finish() {
        let consumers = contents.withLockedValue { contents in
            contents.isFinished = true
            contents.linkState = .idle
            defer { contents.consumers = [] }
            return contents.consumers
        }
        for consumer in consumers { consumer.buffer.finish() }
    }

    func remove(_ id: UInt64) {
        // The removed buffer is released after the lock, not under it.
        let removed = contents.withLockedValue { contents in
            contents.consumers.firstIndex { $0.id == id }.map { contents.consumers.remove(at: $0) }
        }
        _ = removed
    }
}
