import DequeModule
import NIOCore
import OrderedCollections

/// The keys of which events wait, by the events' numbers: which of them are ready, and which are tried again
/// and when. A key has events in one request at a time.
struct WebhookKeys {
    struct Waiting {
        let number: Int
        let bytes: Int
    }

    private struct Key {
        /// Oldest first.
        var waiting: Deque<Waiting> = []
        var isInFlight = false
        /// Attempts that failed since the last one that didn't, when the first of them was, in milliseconds
        /// since 1970, and when the next one is due.
        var failures = 0
        var failingSince: UInt64?
        var retryAt = NIODeadline.uptimeNanoseconds(0)

        var bytes: Int { waiting.reduce(0) { $0 + $1.bytes } }
    }

    private var keys: [String: Key] = [:]
    /// Keys that have waiting events and no failures, and the sum of those events.
    private var ready: Deque<String> = []
    private(set) var readyEvents = 0
    private(set) var readyBytes = 0
    /// Keys that wait for their next attempt.
    private var held: OrderedSet<String> = []
    /// Since when keys fail, as the owner before has seen it.
    private var inherited: [String: UInt64]

    init(failingSince inherited: [String: UInt64]) { self.inherited = inherited }

    // MARK: - What is there

    var firstHeld: String? { held.first }
    var retryTimes: [NIODeadline] { held.compactMap { keys[$0]?.retryAt } }
    /// The number of the event that goes out next.
    var firstReady: Int? { ready.first.flatMap { keys[$0]?.waiting.first?.number } }

    func firstHeld(dueAt now: NIODeadline) -> String? {
        held.first { (keys[$0]?.retryAt ?? .distantFuture) <= now }
    }

    /// 0 for a key of which nothing waits.
    func failures(of key: String) -> Int { keys[key]?.failures ?? 0 }
    func isInFlight(_ key: String) -> Bool { keys[key]?.isInFlight == true }

    /// Since when an event fails; nil for one that waits behind another one: it hasn't been tried by itself.
    func failingSince(_ number: Int, of key: String) -> UInt64? {
        keys[key].flatMap { $0.waiting.first?.number == number ? $0.failingSince : nil }
    }

    /// For the next owner: a restart must not begin their time anew.
    var failing: [String: UInt64] {
        var failing = inherited
        for key in held where failing.count < WebhookJournal.Failing.keysMax {
            failing[key] = keys[key]?.failingSince
        }
        return failing
    }

    // MARK: - What happened

    mutating func add(_ event: Waiting, of key: String) {
        if keys[key] == nil {
            keys[key] = Key()
            ready.append(key)
        }
        keys[key]?.waiting.append(event)
        if keys[key]?.isInFlight == false, keys[key]?.failures == 0 {
            readyEvents += 1
            readyBytes += event.bytes
        }
    }

    /// The events of the key that were in flight are delivered.
    mutating func succeed(_ key: String) {
        forgetFailures(of: key)
        settle(key)
    }

    /// The receiver has refused the events of the key that were in flight, or has not answered.
    mutating func fail(_ key: String, now: WebhookTime, retryIn pause: TimeAmount) {
        let since = keys[key]?.failingSince ?? inherited[key] ?? now.milliseconds
        keys[key]?.failures += 1
        keys[key]?.failingSince = since
        keys[key]?.retryAt = now.uptime + pause
    }

    /// Puts what was in flight back in front of what waits behind it.
    mutating func putBack(_ events: [Waiting], of key: String) {
        keys[key]?.waiting.prepend(contentsOf: events)
        settle(key)
    }

    /// - Returns: false if the event doesn't wait.
    mutating func giveUp(_ number: Int, of key: String) -> Bool {
        guard let index = keys[key]?.waiting.firstIndex(where: { $0.number == number }),
            let event = keys[key]?.waiting.remove(at: index)
        else { return false }
        if failures(of: key) == 0 {
            readyEvents -= 1
            readyBytes -= event.bytes
        }
        if keys[key]?.waiting.isEmpty == true {
            inherited[key] = nil
            keys[key] = nil
            held.remove(key)
            ready.removeAll { $0 == key }
        } else if failures(of: key) > 0 {
            succeed(key)
        }
        return true
    }

    /// No key waits for its next attempt any longer.
    mutating func retryAll(now: NIODeadline) {
        for key in held { keys[key]?.retryAt = now }
    }

    private mutating func forgetFailures(of key: String) {
        inherited[key] = nil
        keys[key]?.failures = 0
        keys[key]?.failingSince = nil
    }

    /// Puts a key that has no events in flight where it belongs.
    private mutating func settle(_ key: String) {
        guard var queue = keys[key] else { return }
        queue.isInFlight = false
        held.remove(key)
        guard !queue.waiting.isEmpty else {
            keys[key] = nil
            return
        }
        keys[key] = queue
        if queue.failures > 0 {
            held.append(key)
        } else {
            ready.append(key)
            readyEvents += queue.waiting.count
            readyBytes += queue.bytes
        }
    }

    // MARK: - What goes out

    /// Events of keys that haven't failed, in their order; none if there is none.
    mutating func takeReady(eventsMax: Int, bytesMax: Int) -> [Int] {
        var (numbers, size) = ([Int](), 0)
        while let name = ready.first, var key = keys[name] {
            let before = (events: key.waiting.count, bytes: key.bytes)
            while let event = key.waiting.first, numbers.count < eventsMax,
                numbers.isEmpty || size + event.bytes <= bytesMax
            {
                key.waiting.removeFirst()
                numbers.append(event.number)
                size += event.bytes
            }
            guard key.waiting.count < before.events else { break }
            // What stays behind isn't ready before this part of it is answered.
            key.isInFlight = true
            keys[name] = key
            ready.removeFirst()
            readyEvents -= before.events
            readyBytes -= before.bytes
        }
        return numbers.sorted()
    }

    /// The first event of a key that has failed: alone, so that none behind it is taken for the cause.
    mutating func takeHeld(_ key: String) -> Int? {
        held.remove(key)
        guard let event = keys[key]?.waiting.popFirst() else { return nil }
        keys[key]?.isInFlight = true
        return event.number
    }
}
