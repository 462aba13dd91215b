import RTMClient
import Synchronization

/// One publisher and its subscribers, on a channel of their own.
final class BenchStream: Sendable {
    let plan: BenchPlan
    let channel: String
    let publisher: RTMClient
    let subscribers: [RTMClient]

    private let book: Mutex<BenchTally>
    private let pace = Mutex(BenchPace())
    /// By lane: signals that its message has reached every subscriber.
    private let deliveries: [AsyncStream<Void>]
    private let announcements: [AsyncStream<Void>.Continuation]

    init(plan: BenchPlan, channel: String, publisher: RTMClient, subscribers: [RTMClient]) {
        self.plan = plan
        self.channel = channel
        self.publisher = publisher
        self.subscribers = subscribers
        book = Mutex(BenchTally(subscribers: subscribers.count, lanes: plan.window))
        let lanes = (0..<plan.window).map { _ in
            AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        }
        deliveries = lanes.map(\.stream)
        announcements = lanes.map(\.continuation)
    }

    var tally: BenchTally { book.withLock { $0 } }

    /// Sends one message after the other until the deadline. Returns when the last one has reached every
    /// subscriber, or when the task is cancelled because that takes too long.
    ///
    /// - Throws: when the server refuses a message.
    func runLane(_ lane: Int, until deadline: ContinuousClock.Instant, _ epoch: ContinuousClock.Instant)
        async throws
    {
        var delivered = deliveries[lane].makeAsyncIterator()
        while ContinuousClock.now < deadline, !Task.isCancelled {
            if let turn = pace.withLock({ $0.turn(now: .now) }) {
                try await Task.sleep(until: turn, clock: .continuous)
            }
            let sequence = book.withLock { $0.send(lane: lane) }
            let message = BenchMessage(
                lane: UInt32(lane), sequence: sequence, sentNanoseconds: epoch.nanosecondsUntilNow)
            guard try await publish(message, in: lane) else { continue }
            guard await delivered.next() != nil else { return }
        }
    }

    /// - Returns: false if the server put the message off. The lane's next turn is when the server allows it.
    private func publish(_ message: BenchMessage, in lane: Int) async throws -> Bool {
        do {
            try await publisher.publish(message.payload(bytes: plan.payloadBytes), to: .channel(channel))
            return true
        } catch {
            book.withLock { $0.withdraw(lane: lane, limit: error.retryAfter.flatMap { _ in error.limit }) }
            guard let pause = error.retryAfter else { throw error }
            pace.withLock { $0.putOff(for: pause, now: .now) }
            return false
        }
    }

    /// Takes the messages that one subscriber receives, until the task is cancelled.
    ///
    /// - Throws: `.notConnected` (-10025) when the subscriber's link is lost: then it isn't the server that
    ///   is measured any more.
    func receive(_ subscriber: Int, _ events: RTMEvents, _ epoch: ContinuousClock.Instant) async throws {
        for await event in events {
            switch event {
            case .message(let event):
                guard case .data(let data) = event.payload, let message = BenchMessage(payload: data) else {
                    continue
                }
                let now = epoch.nanosecondsUntilNow
                let outcome = book.withLock {
                    $0.receive(message, offset: event.offset, subscriber: subscriber, nowNanoseconds: now)
                }
                if outcome == .delivered { announcements[Int(message.lane)].yield() }
            case .linkState(let change) where change.currentState != .connected:
                let user = subscribers[subscriber].configuration.userID
                throw RTMError(
                    .notConnected, "\(user) has lost its link: \(change.reason)", operation: "bench")
            default: break
            }
        }
    }
}

extension ContinuousClock.Instant {
    fileprivate var nanosecondsUntilNow: UInt64 {
        UInt64(clamping: Int64((ContinuousClock.now - self) / .nanoseconds(1)))
    }
}

/// When the lanes of one publisher may send, once the server has refused a message for its rate. Each takes a
/// turn of its own: if all came back at the same moment, all but one of them would be refused again, and who
/// is refused without end is cut off. Pure: it gets the time.
struct BenchPace {
    typealias Instant = ContinuousClock.Instant

    /// A longer pause has another cause than a rate, and is no distance between messages.
    private static let distanceMax = Duration.milliseconds(50)

    private var distance: Duration?
    private var next: Instant?

    /// - Returns: when the lane may send; nil if that is now.
    mutating func turn(now: Instant) -> Instant? {
        guard let distance else { return nil }
        let turn = max(now, next ?? now)
        next = turn + distance
        return turn > now ? turn : nil
    }

    /// The server has refused a message for so long.
    mutating func putOff(for pause: Duration, now: Instant) {
        // What is refused although every lane waited for its turn came too soon.
        distance = min(max((distance ?? .zero) * 1.02, pause), Self.distanceMax)
        next = max(next ?? now, now + pause)
    }
}
