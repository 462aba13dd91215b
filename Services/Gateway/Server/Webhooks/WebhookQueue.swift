import NIOCore
import OrderedCollections
import RTMModel
import RTMWebhookCall

/// What one webhook has to deliver: which events go out next and in which requests, which are retried and
/// when, and up to where everything is delivered (docs/decisions/0027-webhooks.md). Pure: it gets the
/// time and the randomness.
///
/// **Order.** Events of one key go out in their order: none before those ahead of it are delivered or given
/// up. A request takes events of many keys, and a key has events in one request at a time.
///
/// **Failures.** What a request carried is retried key by key, the first event of each alone, so a key whose
/// event is refused holds up itself alone. When nothing at all is taken, which is an outage, one request at a
/// time asks whether the receiver is back.
///
/// **Position.** It is kept after the answers: it never passes an event that is neither delivered nor kept as
/// a dead letter.
struct WebhookQueue {
    struct Settings: Sendable, Equatable {
        /// Events of one request at most, and the sum of their bytes, unless it is one event.
        var batchEvents = 100
        var batchBytes = 256 * 1_024
        /// How long an event may wait for others, so that they share a request.
        var batchAge = TimeAmount.milliseconds(50)
        /// Requests at once.
        var parallel = 8
        /// For how long an event is tried before it becomes a dead letter.
        var giveUpAfter = TimeAmount.hours(24)
        /// The longest pause between two attempts.
        var pauseMax = TimeAmount.seconds(60)
        /// How long the ownership of the reader lasts without being renewed.
        var lease = TimeAmount.seconds(15)

        private static let pauseOfFirstFailure = TimeAmount.seconds(1)

        /// Full jitter: a random part of a time that doubles with every failure, so that many senders that
        /// failed together don't return together.
        func pause(
            after failures: Int, using random: inout some RandomNumberGenerator
        ) -> TimeAmount {
            let doubled = Self.pauseOfFirstFailure.nanoseconds << min(max(0, failures - 1), 20)
            return .nanoseconds(.random(in: 0...min(doubled, pauseMax.nanoseconds), using: &random))
        }
    }

    enum Action: Sendable, Equatable {
        case read(after: StreamPosition, limit: Int)
        case deliver(WebhookRequest)
        case keep(WebhookProgress)
    }

    private static let readMax = 500
    static let pauseAfterServiceFailure = TimeAmount.seconds(1)

    private struct Flight {
        let request: WebhookRequest
        let numbers: [Int]
    }

    private let settings: Settings
    private var window: WebhookWindow
    private var keys: WebhookKeys
    private var outage: WebhookOutage
    private var reader: WebhookReader
    private var inFlight: [Int: Flight] = [:]
    private var lastRequest = 0
    private var isReading = false
    private var nextRead = NIODeadline.uptimeNanoseconds(0)

    /// - Parameters:
    ///   - position: after which to read on.
    ///   - journal: what the last owner has kept; nil if the webhook is new, or was moved.
    ///   - now: when the claim was sent: the lease counts from then.
    init(
        after position: StreamPosition, _ journal: WebhookJournal?, _ settings: Settings, now: WebhookTime
    ) {
        let journal = journal ?? WebhookJournal()
        self.settings = settings
        window = WebhookWindow(after: position)
        keys = WebhookKeys(failingSince: journal.failing.keys)
        outage = WebhookOutage(failingSince: journal.failing.receiver)
        reader = WebhookReader(at: position, journal, lease: settings.lease, now: now.uptime)
    }

    // MARK: - What happened

    mutating func received(_ events: [WebhookEvent], next: StreamPosition, now: WebhookTime) {
        isReading = false
        window.read(through: next)
        for event in events {
            let number = window.append(event, now: now.uptime)
            keys.add(.init(number: number, bytes: event.bytes), of: event.key)
        }
    }

    mutating func readFailed(now: WebhookTime) {
        isReading = false
        nextRead = now.uptime + Self.pauseAfterServiceFailure
    }

    /// - Parameter isKept: whether the term is still that of the owner; nil if storage didn't answer.
    mutating func kept(_ isKept: Bool?, now: WebhookTime) { reader.kept(isKept, now: now.uptime) }

    /// Nothing new is read or sent. When all requests are answered the reader is given up, so that another
    /// gateway needn't wait for the end of the lease.
    mutating func stop() { reader.stop() }

    /// A request was answered, or was not.
    mutating func answered(
        _ id: Int, _ answer: WebhookAnswer, now: WebhookTime, using random: inout some RandomNumberGenerator
    ) {
        guard let flight = inFlight.removeValue(forKey: id) else { return }
        let byKey = OrderedDictionary(grouping: flight.numbers) { window[$0].key }
        reader.add(WebhookAttempt(flight.request, answer, now: now))
        switch answer.verdict {
        case .taken: finish(byKey, now: now)
        case .gone:
            putBack(byKey, isFailure: false, now: now, using: &random)
            reader.end()
        case .away(let retryAfter):
            putBack(byKey, isFailure: false, now: now, using: &random)
            extendOutage(by: id, atLeast: retryAfter, now: now, using: &random)
            giveUpOverdue(flight.numbers, answer, now: now)
        case .refused:
            let isFirst = byKey.keys.allSatisfy { keys.failures(of: $0) == 0 }
            let wasOutage = outage.isPresent
            putBack(byKey, isFailure: !wasOutage, now: now, using: &random)
            if outage.refused(isFirst: isFirst) {
                extendOutage(by: id, atLeast: nil, now: now, using: &random)
            }
            // Of several keys each first gets an attempt of its own.
            if wasOutage || !isFirst || byKey.count == 1 {
                giveUpOverdue(flight.numbers, answer, now: now)
            }
        }
        window.dropFinished()
    }

    private mutating func finish(_ byKey: OrderedDictionary<String, [Int]>, now: WebhookTime) {
        for (key, numbers) in byKey {
            for number in numbers { window.finish(number) }
            keys.succeed(key)
        }
        // What failed in an outage says nothing about its keys, so they are tried again at once.
        if outage.end() { keys.retryAll(now: now.uptime) }
    }

    private mutating func putBack(
        _ byKey: OrderedDictionary<String, [Int]>, isFailure: Bool, now: WebhookTime,
        using random: inout some RandomNumberGenerator
    ) {
        for (key, numbers) in byKey {
            if isFailure {
                let pause = settings.pause(after: keys.failures(of: key) + 1, using: &random)
                keys.fail(key, now: now, retryIn: pause)
            }
            keys.putBack(numbers.map { .init(number: $0, bytes: window[$0].bytes) }, of: key)
        }
    }

    private mutating func extendOutage(
        by id: Int, atLeast retryAfter: TimeAmount?, now: WebhookTime,
        using random: inout some RandomNumberGenerator
    ) {
        outage.extend(id, of: lastRequest, atLeast: retryAfter, now: now) {
            settings.pause(after: $0, using: &random)
        }
    }

    // MARK: - Giving up

    private mutating func giveUpOverdue(_ numbers: [Int], _ answer: WebhookAnswer, now: WebhookTime) {
        let limit = UInt64(settings.giveUpAfter.nanoseconds / 1_000_000)
        let overdue = numbers.filter { number in
            let event = window[number]
            let since = keys.failingSince(number, of: event.key) ?? outage.since ?? now.milliseconds
            return max(event.milliseconds, since) + limit <= now.milliseconds
        }
        for number in overdue {
            giveUp(number, "not delivered in \(limit / 1_000) s of attempts, at last: \(answer.sentence)")
        }
    }

    /// An event that alone holds up the window is given up early: what lies behind it would otherwise be
    /// delivered a second time in ever greater numbers when another gateway takes over.
    private mutating func giveUpOfFullWindow() {
        while window.count >= WebhookWindow.eventsMax, !outage.isPresent, let first = window.first {
            let (key, failures) = (first.event.key, keys.failures(of: first.event.key))
            guard failures >= WebhookOutage.failuresMax, !keys.isInFlight(key) else { return }
            giveUp(first.number, "refused \(failures) times while \(window.count) later events were read")
            window.dropFinished()
        }
    }

    private mutating func giveUp(_ number: Int, _ reason: String) {
        let event = window[number]
        guard keys.giveUp(number, of: event.key) else { return }
        reader.add(.init(event: event, reason: reason))
        window.finish(number)
    }

    // MARK: - What to do

    /// What is to be done now. Each action is given once.
    mutating func actions(
        now: WebhookTime, using random: inout some RandomNumberGenerator
    ) -> [Action] {
        guard !isFinished else { return [] }
        giveUpOfFullWindow()
        window.dropFinished()
        var actions: [Action] = []
        let progress = reader.progress(
            through: window.delivered, isIdle: inFlight.isEmpty,
            failing: .init(receiver: outage.failing, keys: keys.failing), now: now.uptime)
        if let progress { actions.append(.keep(progress)) }
        guard !journal.isEnded, !reader.isStopping, reader.isOwned(now: now.uptime) else { return actions }
        while let request = request(now: now.uptime) { actions.append(.deliver(request)) }
        let limit = min(Self.readMax, window.room)
        if !isReading, limit > 0, now.uptime >= nextRead {
            isReading = true
            actions.append(.read(after: window.readThrough, limit: limit))
        }
        return actions
    }

    /// When to ask again, if nothing happens before.
    func wake(now: WebhookTime) -> NIODeadline {
        var times = reader.wakes(through: window.delivered)
        if !journal.isEnded, reader.isOwned(now: now.uptime) {
            if !isReading { times.append(nextRead) }
            if let nextAttempt = outage.nextAttempt {
                times.append(nextAttempt)
            } else if inFlight.count < settings.parallel {
                times += keys.retryTimes
                if let number = keys.firstReady {
                    times.append(window.arrival(of: number) + settings.batchAge)
                }
            }
        }
        return times.filter { $0 > now.uptime }.min()
            ?? now.uptime + .nanoseconds(settings.lease.nanoseconds / 3)
    }

    private mutating func request(now: NIODeadline) -> WebhookRequest? {
        if let nextAttempt = outage.nextAttempt {
            guard inFlight.isEmpty, now >= nextAttempt else { return nil }
            return batch() ?? keys.firstHeld.flatMap { first(of: $0) }
        }
        guard inFlight.count < settings.parallel else { return nil }
        if let key = keys.firstHeld(dueAt: now) { return first(of: key) }
        guard let number = keys.firstReady else { return nil }
        let isFull = keys.readyEvents >= settings.batchEvents || keys.readyBytes >= settings.batchBytes
        let isOld = window.arrival(of: number) + settings.batchAge <= now
        return isFull || isOld ? batch() : nil
    }

    private mutating func batch() -> WebhookRequest? {
        let numbers = keys.takeReady(eventsMax: settings.batchEvents, bytesMax: settings.batchBytes)
        return numbers.isEmpty ? nil : send(numbers)
    }

    private mutating func first(of key: String) -> WebhookRequest? {
        keys.takeHeld(key).map { send([$0]) }
    }

    private mutating func send(_ numbers: [Int]) -> WebhookRequest {
        lastRequest += 1
        let request = WebhookRequest(id: lastRequest, events: numbers.map { window[$0] })
        inFlight[lastRequest] = Flight(request: request, numbers: numbers)
        return request
    }

    // MARK: - What is shown

    /// Nothing follows.
    var isFinished: Bool { reader.isFinished }
    /// Another gateway owns the reader now, or it was moved. Nothing follows.
    var isSuperseded: Bool { reader.isSuperseded }
    /// The position that storage has.
    var position: StreamPosition { reader.position }
    var journal: WebhookJournal { reader.journal }
    /// When the oldest event that isn't delivered happened, in milliseconds since 1970; nil if there is none.
    var oldest: UInt64? { window.first?.event.milliseconds }
    var isInOutage: Bool { outage.isPresent }
}
