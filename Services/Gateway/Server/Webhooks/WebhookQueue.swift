import DequeModule
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
    }

    enum Action: Sendable, Equatable {
        case read(after: StreamPosition, limit: Int)
        case deliver(WebhookRequest)
        case keep(WebhookProgress)
    }

    /// Limit: events that were read and lie behind the kept position, delivered or not, and the bytes of
    /// those that are not. It also bounds what another gateway delivers again after this one was killed.
    static let windowEventsMax = 10_000
    static let windowBytesMax = 8 << 20
    static let readMax = 500
    /// Requests that failed in a row, each with keys that hadn't failed before: that many are an outage.
    static let failuresOfOutage = 3
    /// A receiver that asks for a longer pause gets this one.
    static let retryAfterMax = TimeAmount.hours(1)
    private static let pauseOfFirstFailure = TimeAmount.seconds(1)
    private static let keepInterval = TimeAmount.milliseconds(500)
    private static let pauseAfterServiceFailure = TimeAmount.seconds(1)

    private struct Entry {
        var event: WebhookEvent
        let arrival: NIODeadline
        var isDone = false
    }

    /// The events of one key that wait, by number, oldest first.
    private struct KeyQueue {
        var waiting: Deque<Int> = []
        var isInFlight = false
        /// Attempts that failed since the last one that didn't, when the first of them was, in milliseconds
        /// since 1970, and when the next one is due.
        var failures = 0
        var failingSince: UInt64?
        var retryAt = NIODeadline.uptimeNanoseconds(0)
    }

    private struct Outage {
        /// Requests with a smaller number were open when it began: that they fail, too, counts nothing.
        let firstRequest: Int
        /// In milliseconds since 1970.
        let since: UInt64
        var failures = 0
        var nextAttempt = NIODeadline.uptimeNanoseconds(0)
    }

    private let settings: Settings

    private var entries: Deque<Entry> = []
    /// The number of the first entry.
    private var firstNumber = 0
    private var bytes = 0
    private var keys: [String: KeyQueue] = [:]
    /// Keys that have waiting events and no failures, and the sum of those events.
    private var ready: Deque<String> = []
    private var readyEvents = 0
    private var readyBytes = 0
    /// Keys that wait for their next attempt.
    private var held: OrderedSet<String> = []

    private var isReading = false
    private var readThrough: StreamPosition
    private var nextRead = NIODeadline.uptimeNanoseconds(0)

    private var inFlight: [Int: WebhookRequest] = [:]
    private var numbersInFlight: [Int: [Int]] = [:]
    private var lastRequest = 0
    private var failuresInRow = 0
    private var outage: Outage?
    /// Since when keys and the receiver fail, as the owner before has seen it.
    private var inherited: WebhookJournal.Failing

    private var letters: [WebhookProgress.Letter] = []
    private var keeping: WebhookProgress?
    private var keepBegan: NIODeadline
    private var nextKeep: NIODeadline
    private var leaseEnd: NIODeadline
    private var hasNews = false
    private var isStopping = false

    /// Everything up to there is delivered or given up.
    private var delivered: StreamPosition
    /// The position that storage has.
    private(set) var position: StreamPosition
    private(set) var journal: WebhookJournal
    /// Another gateway owns the reader now, or it was moved. Nothing follows.
    private(set) var isSuperseded = false
    private var isReleased = false

    /// - Parameters:
    ///   - position: after which to read on.
    ///   - journal: what the last owner has kept; nil if the webhook is new, or was moved.
    ///   - now: when the claim was sent: the lease counts from then.
    init(
        after position: StreamPosition, _ journal: WebhookJournal?, _ settings: Settings, now: WebhookTime
    ) {
        self.settings = settings
        self.journal = journal ?? WebhookJournal()
        inherited = self.journal.failing
        (self.position, delivered, readThrough) = (position, position, position)
        (keepBegan, nextKeep) = (now.uptime, now.uptime)
        leaseEnd = now.uptime + settings.lease
    }

    // MARK: - What happened

    mutating func received(_ events: [WebhookEvent], next: StreamPosition, now: WebhookTime) {
        isReading = false
        readThrough = next
        for event in events {
            let number = firstNumber + entries.count
            entries.append(Entry(event: event, arrival: now.uptime))
            bytes += event.bytes
            let key = event.key
            if keys[key] == nil {
                keys[key] = KeyQueue()
                ready.append(key)
            }
            keys[key]?.waiting.append(number)
            if keys[key]?.isInFlight == false, keys[key]?.failures == 0 {
                readyEvents += 1
                readyBytes += event.bytes
            }
        }
    }

    mutating func readFailed(now: WebhookTime) {
        isReading = false
        nextRead = now.uptime + Self.pauseAfterServiceFailure
    }

    /// - Parameter isKept: whether the term is still that of the owner; nil if storage didn't answer.
    mutating func kept(_ isKept: Bool?, now: WebhookTime) {
        guard let progress = keeping else { return }
        keeping = nil
        switch isKept {
        case true?:
            if progress.isLast { isReleased = true }
            position = progress.position
            letters.removeFirst(progress.letters.count)
            leaseEnd = keepBegan + settings.lease
            nextKeep = keepBegan + Self.keepInterval
        case false?: isSuperseded = true
        case nil:
            hasNews = true
            nextKeep = now.uptime + Self.pauseAfterServiceFailure
        }
    }

    /// A request was answered, or was not.
    mutating func answered(
        _ id: Int, _ answer: WebhookAnswer, now: WebhookTime, using random: inout some RandomNumberGenerator
    ) {
        guard let request = inFlight.removeValue(forKey: id),
            let numbers = numbersInFlight.removeValue(forKey: id)
        else { return }
        journal.add(WebhookAttempt(request, answer, now: now))
        hasNews = true
        switch answer.verdict {
        case .taken:
            finish(numbers)
            endOutage(now: now)
        case .gone:
            requeue(numbers, isFailure: false, now: now, using: &random)
            journal.end()
        case .away(let retryAfter):
            requeue(numbers, isFailure: false, now: now, using: &random)
            extendOutage(by: id, atLeast: retryAfter, now: now, using: &random)
            giveUpOverdue(numbers, answer, now: now)
        case .refused:
            let isFirst = numbers.allSatisfy { keys[entries[$0 - firstNumber].event.key]?.failures == 0 }
            let isOutage = outage != nil
            requeue(numbers, isFailure: !isOutage, now: now, using: &random)
            failuresInRow += isFirst ? 1 : 0
            if isOutage || failuresInRow >= Self.failuresOfOutage {
                extendOutage(by: id, atLeast: nil, now: now, using: &random)
            }
            // Of several keys each first gets an attempt of its own.
            if isOutage || !isFirst || Set(request.events.map(\.key)).count == 1 {
                giveUpOverdue(numbers, answer, now: now)
            }
        }
        dropDelivered()
    }

    /// Nothing new is read or sent. When all requests are answered the reader is given up, so that another
    /// gateway needn't wait for the end of the lease.
    mutating func stop() { isStopping = true }

    /// Nothing follows.
    var isFinished: Bool { isSuperseded || isReleased }

    private mutating func finish(_ numbers: [Int]) {
        for number in numbers { finish(number) }
        for key in OrderedSet(numbers.map { entries[$0 - firstNumber].event.key }) {
            succeed(key)
            settle(key)
        }
    }

    /// What the key failed with is behind it.
    private mutating func succeed(_ key: String) {
        inherited.keys[key] = nil
        keys[key]?.failures = 0
        keys[key]?.failingSince = nil
    }

    private mutating func finish(_ number: Int) {
        let index = number - firstNumber
        bytes -= entries[index].event.bytes
        entries[index].isDone = true
        entries[index].event.body = ""
    }

    /// Puts a key that has no events in flight where it belongs.
    private mutating func settle(_ key: String) {
        guard var queue = keys[key] else { return }
        queue.isInFlight = false
        held.remove(key)
        if queue.waiting.isEmpty {
            keys[key] = nil
            return
        }
        keys[key] = queue
        if queue.failures > 0 {
            held.append(key)
        } else {
            ready.append(key)
            readyEvents += queue.waiting.count
            readyBytes += queue.waiting.reduce(0) { $0 + entries[$1 - firstNumber].event.bytes }
        }
    }

    /// Puts the events back in front of those that wait behind them.
    private mutating func requeue(
        _ numbers: [Int], isFailure: Bool, now: WebhookTime, using random: inout some RandomNumberGenerator
    ) {
        let byKey = OrderedDictionary(grouping: numbers) { entries[$0 - firstNumber].event.key }
        for (key, numbers) in byKey {
            keys[key]?.waiting.prepend(contentsOf: numbers)
            if isFailure {
                let failures = (keys[key]?.failures ?? 0) + 1
                let retryAt = now.uptime + pause(after: failures, using: &random)
                let since = keys[key]?.failingSince ?? inherited.keys[key] ?? now.milliseconds
                keys[key]?.failures = failures
                keys[key]?.failingSince = since
                keys[key]?.retryAt = retryAt
            }
            settle(key)
        }
    }

    /// Full jitter: a random part of a time that doubles with every failure, so that many senders that failed
    /// together don't return together.
    private func pause(after failures: Int, using random: inout some RandomNumberGenerator) -> TimeAmount {
        let doubled = Self.pauseOfFirstFailure.nanoseconds << min(max(0, failures - 1), 20)
        return .nanoseconds(.random(in: 0...min(doubled, settings.pauseMax.nanoseconds), using: &random))
    }

    private mutating func extendOutage(
        by id: Int, atLeast retryAfter: TimeAmount?, now: WebhookTime,
        using random: inout some RandomNumberGenerator
    ) {
        var outage =
            outage
            ?? Outage(firstRequest: lastRequest + 1, since: inherited.receiver ?? now.milliseconds)
        if outage.failures == 0 || id >= outage.firstRequest {
            outage.failures += 1
            outage.nextAttempt = now.uptime + pause(after: outage.failures, using: &random)
        }
        let asked = min(retryAfter ?? .nanoseconds(0), Self.retryAfterMax)
        outage.nextAttempt = max(outage.nextAttempt, now.uptime + asked)
        self.outage = outage
    }

    /// What failed in an outage says nothing about its keys, so they are tried again at once.
    private mutating func endOutage(now: WebhookTime) {
        failuresInRow = 0
        inherited.receiver = nil
        guard outage != nil else { return }
        outage = nil
        for key in held { keys[key]?.retryAt = now.uptime }
    }

    // MARK: - Giving up

    private mutating func giveUpOverdue(_ numbers: [Int], _ answer: WebhookAnswer, now: WebhookTime) {
        let limit = UInt64(settings.giveUpAfter.nanoseconds / 1_000_000)
        let overdue = numbers.filter { number in
            let event = entries[number - firstNumber].event
            // What waits behind the event that is refused hasn't been tried by itself.
            let queue = keys[event.key].flatMap { $0.waiting.first == number ? $0 : nil }
            let since = queue?.failingSince ?? outage?.since ?? now.milliseconds
            return max(event.milliseconds, since) + limit <= now.milliseconds
        }
        giveUp(overdue, "not delivered in \(limit / 1_000) s of attempts, at last: \(answer.sentence)")
    }

    /// An event that alone holds up the window is given up early: what lies behind it would otherwise be
    /// delivered a second time in ever greater numbers when another gateway takes over.
    private mutating func giveUpOfFullWindow() {
        while entries.count >= Self.windowEventsMax, outage == nil, let first = entries.first,
            let queue = keys[first.event.key], queue.failures >= Self.failuresOfOutage, !queue.isInFlight
        {
            giveUp(
                [firstNumber],
                "refused \(queue.failures) times while \(entries.count) later events were read")
            dropDelivered()
        }
    }

    private mutating func giveUp(_ numbers: [Int], _ reason: String) {
        for number in numbers {
            let event = entries[number - firstNumber].event
            guard let index = keys[event.key]?.waiting.firstIndex(of: number) else { continue }
            letters.append(.init(event: event, reason: reason))
            keys[event.key]?.waiting.remove(at: index)
            if let queue = keys[event.key], queue.failures == 0 {
                readyEvents -= 1
                readyBytes -= event.bytes
            }
            if keys[event.key]?.waiting.isEmpty == true {
                inherited.keys[event.key] = nil
                keys[event.key] = nil
                held.remove(event.key)
                ready.removeAll { $0 == event.key }
            } else if let failures = keys[event.key]?.failures, failures > 0 {
                succeed(event.key)
                settle(event.key)
            }
            finish(number)
        }
    }

    private mutating func dropDelivered() {
        while let first = entries.first, first.isDone {
            entries.removeFirst()
            firstNumber += 1
            delivered = first.event.position
        }
        if entries.isEmpty { delivered = readThrough }
    }

    // MARK: - What to do

    /// What is to be done now. Each action is given once.
    mutating func actions(
        now: WebhookTime, using random: inout some RandomNumberGenerator
    ) -> [Action] {
        guard !isFinished else { return [] }
        giveUpOfFullWindow()
        dropDelivered()
        var actions: [Action] = []
        if let progress = progress(now: now) { actions.append(.keep(progress)) }
        guard !journal.isEnded, !isStopping, now.uptime < leaseEnd else { return actions }
        while let request = request(now: now) { actions.append(.deliver(request)) }
        let limit = min(Self.readMax, Self.windowEventsMax - entries.count)
        if !isReading, limit > 0, bytes < Self.windowBytesMax, now.uptime >= nextRead {
            isReading = true
            actions.append(.read(after: readThrough, limit: limit))
        }
        return actions
    }

    /// When to ask again, if nothing happens before.
    func wake(now: WebhookTime) -> NIODeadline {
        var times: [NIODeadline] = []
        if keeping == nil {
            times.append(keepBegan + settings.lease.third)
            if hasProgress || isStopping { times.append(nextKeep) }
        }
        if !journal.isEnded, now.uptime < leaseEnd {
            if !isReading { times.append(nextRead) }
            if let outage {
                times.append(outage.nextAttempt)
            } else if inFlight.count < settings.parallel {
                times += held.compactMap { keys[$0]?.retryAt }
                if let key = ready.first, let number = keys[key]?.waiting.first {
                    times.append(entries[number - firstNumber].arrival + settings.batchAge)
                }
            }
        }
        return times.filter { $0 > now.uptime }.min() ?? now.uptime + settings.lease.third
    }

    private var hasProgress: Bool { delivered != position || !letters.isEmpty || hasNews }

    private mutating func progress(now: WebhookTime) -> WebhookProgress? {
        let isLast = isStopping && inFlight.isEmpty && letters.count <= WebhookProgress.lettersMax
        let isDue = (hasProgress || isLast) && now.uptime >= nextKeep
        guard keeping == nil, isDue || now.uptime >= keepBegan + settings.lease.third else { return nil }
        journal.failing = failing
        let place = letters.count <= WebhookProgress.lettersMax ? delivered : position
        let progress = WebhookProgress(
            position: place, letters: Array(letters.prefix(WebhookProgress.lettersMax)), journal: journal,
            isLast: isLast)
        (keeping, keepBegan, hasNews) = (progress, now.uptime, false)
        return progress
    }

    /// Since when keys and the receiver fail, for the next owner: a restart must not begin their time anew.
    private var failing: WebhookJournal.Failing {
        var failing = inherited
        if let outage { failing.receiver = outage.since }
        for key in held where failing.keys.count < WebhookJournal.Failing.keysMax {
            failing.keys[key] = keys[key]?.failingSince
        }
        return failing
    }

    private mutating func request(now: WebhookTime) -> WebhookRequest? {
        if let outage {
            guard inFlight.isEmpty, now.uptime >= outage.nextAttempt else { return nil }
            if let request = batch() { return request }
            guard let key = held.first else { return nil }
            return first(of: key)
        }
        guard inFlight.count < settings.parallel else { return nil }
        if let key = held.first(where: { (keys[$0]?.retryAt ?? .distantFuture) <= now.uptime }) {
            return first(of: key)
        }
        guard let key = ready.first, let number = keys[key]?.waiting.first else { return nil }
        let isFull = readyEvents >= settings.batchEvents || readyBytes >= settings.batchBytes
        let isOld = entries[number - firstNumber].arrival + settings.batchAge <= now.uptime
        return isFull || isOld ? batch() : nil
    }

    /// Events of keys that haven't failed.
    private mutating func batch() -> WebhookRequest? {
        var (numbers, size) = ([Int](), 0)
        while let key = ready.first, take(from: key, &numbers, &size) > 0 { ready.removeFirst() }
        guard !numbers.isEmpty else { return nil }
        for number in numbers { readyBytes -= entries[number - firstNumber].event.bytes }
        readyEvents -= numbers.count
        for key in OrderedSet(numbers.map { entries[$0 - firstNumber].event.key }) {
            // What stays behind of a key isn't ready before this part of it is answered.
            for number in keys[key]?.waiting ?? [] {
                readyEvents -= 1
                readyBytes -= entries[number - firstNumber].event.bytes
            }
        }
        return send(numbers.sorted())
    }

    /// The first event of a key that has failed: alone, so that none behind it is taken for the cause.
    private mutating func first(of key: String) -> WebhookRequest? {
        held.remove(key)
        guard let number = keys[key]?.waiting.popFirst() else { return nil }
        keys[key]?.isInFlight = true
        return send([number])
    }

    /// Returns how many events were added.
    private mutating func take(from key: String, _ numbers: inout [Int], _ size: inout Int) -> Int {
        guard var queue = keys[key] else { return 0 }
        let count = numbers.count
        while let number = queue.waiting.first, numbers.count < settings.batchEvents {
            let bytes = entries[number - firstNumber].event.bytes
            guard numbers.isEmpty || size + bytes <= settings.batchBytes else { break }
            queue.waiting.removeFirst()
            numbers.append(number)
            size += bytes
        }
        if numbers.count > count { queue.isInFlight = true }
        keys[key] = queue
        return numbers.count - count
    }

    private mutating func send(_ numbers: [Int]) -> WebhookRequest {
        lastRequest += 1
        let request = WebhookRequest(
            id: lastRequest, events: numbers.map { entries[$0 - firstNumber].event })
        inFlight[lastRequest] = request
        numbersInFlight[lastRequest] = numbers
        return request
    }

    // MARK: - What is shown

    /// When the oldest event that isn't delivered happened, in milliseconds since 1970; nil if there is none.
    var oldest: UInt64? { entries.first.map(\.event.milliseconds) }
    var isInOutage: Bool { outage != nil }
}

extension TimeAmount {
    fileprivate var third: TimeAmount { .nanoseconds(nanoseconds / 3) }
}
