// The publishes of this client that have no answer yet, each with its state: when it may be sent, which are
// sent once more, and when new ones have to wait. Their sequence lets the server publish each of them once,
// and in order. Pure: it gets the time.
//
//     new ──its pace lets it go──▶ sent ──answered──▶ removed
//     new ──others have used up the rate──▶ paced ──its time has come──▶ sent
//     sent ──the server refuses it for the moment──▶ postponed ──after the time it names──▶ sent
//     new, paced ──as to sent, while another one to the destination is postponed──▶ held
//     held ──the last one before it has its answer──▶ sent
//
// Thousands may be paced, so no step looks at all of them: a heap knows which is next, and each destination
// knows which came last. A removed publish leaves a stale slot in the heap and in its destination's queue. A
// stale slot is dropped when it reaches an end, or when stale slots outnumber the others.

import DequeModule
import HeapModule
import RTMModel
import RTMProtocol

struct PublishQueue {
    typealias Instant = ContinuousClock.Instant
    /// A publish that is to be sent now, with the id of its request.
    typealias Sending = (id: UInt64, publish: Rtm_Client_Publish)

    /// What becomes of a new publish.
    enum Admission: Equatable {
        /// It is to be sent now.
        case send(Rtm_Client_Publish)
        /// It waits until others to the same destination have their answers, and `takeHeld` returns it.
        case held
        /// It waits until then, and `takeDue` returns it.
        case paced(until: Instant)
        /// Its time would come after the time of the call, or too many wait for the same destination already.
        case refused(retryAfter: Duration)
    }

    /// Why a publish was never sent.
    enum Unsent {
        case paced, held
    }

    private enum State {
        /// It is sent later, so that the client stays below the server's rates.
        case paced(Slot)
        /// It waits until others to its destination, which are sent again, have their answers.
        case held
        /// The server has it.
        case sent
        /// The server had no messaging service at that moment, and refused it with this. The publish is sent
        /// again after a while.
        case postponed(RTMError)
    }

    private struct Entry {
        let destination: MessageDestination
        var publish: Rtm_Client_Publish
        /// What is known of its first sending, if it was sent before it came here.
        let repetition: PublishRepetition?
        var state: State
        /// Counts the publishes in the order in which they are sent.
        var number: UInt64 = 0
        /// When its pace let it go.
        var time: Instant
        /// When it was sent first, which may have been before the app's restart.
        var firstSentAt: Instant
        /// By the epoch of the inbox at that time the server knows whether its logs go back so far.
        var epoch: UInt64 = 0

        var byteCount: Int { publish.payload.count }

        func body(isAgain: Bool, now: Instant) -> Rtm_Client_Publish {
            guard isAgain else { return publish }
            var publish = publish
            publish.again = true
            publish.ageMs = UInt32(clamping: Int((now - firstSentAt) / .milliseconds(1)) + 1)
            publish.epoch = epoch
            return publish
        }
    }

    /// When a paced publish is sent. Those with one time are in the order in which they came.
    private struct Slot: Comparable {
        let time: Instant
        let number: UInt64
        let id: UInt64

        static func < (first: Slot, second: Slot) -> Bool {
            (first.time, first.number) < (second.time, second.number)
        }
    }

    /// The paced publishes to one destination.
    private struct PacedSlots {
        var slots = Deque<Slot>()
        /// How many of the slots are not stale.
        var count = 0
    }

    private let limits: PublishPacing
    private var pacer = PublishPacer()
    private var entries: [UInt64: Entry] = [:]
    private var lastNumber: UInt64 = 0
    /// The sequence of the latest publish that has none of its own. By it and by the client's instance the
    /// server recognises a publish that is sent again.
    private var lastSequence: UInt64 = 0
    /// By destination with a postponed publish: how many have been sent and have no answer. New ones wait
    /// until all of them have, so that none overtakes the postponed one.
    private var unanswered: [MessageDestination: Int] = [:]
    private var schedule = Heap<Slot>()
    private var paced: [MessageDestination: PacedSlots] = [:]
    private var pacedCount = 0

    init(_ limits: PublishPacing = .patient) { self.limits = limits }

    /// The publishes that aren't paced, in the order in which they are sent.
    private var inOrder: [UInt64] {
        entries.filter { if case .paced = $0.value.state { false } else { true } }
            .sorted { $0.value.number < $1.value.number }.map(\.key)
    }

    // MARK: Adding and removing

    /// The app publishes.
    ///
    /// - Parameters:
    ///   - again: what is known of the first sending of a publish that was sent before.
    ///   - deadline: when the time of the call is over.
    mutating func add(
        _ id: UInt64, to destination: MessageDestination, _ publish: Rtm_Client_Publish,
        again: PublishRepetition? = nil, inboxEpoch: UInt64, now: Instant, deadline: Instant
    ) -> Admission {
        let byteCount = publish.payload.count
        let predecessor = lastPaced(to: destination)
        let time = max(pacer.earliest(destination, byteCount, now: now), predecessor?.time ?? now)
        let latest = limits.waitMax.map { min(deadline, now + $0) } ?? deadline
        guard time <= latest else { return .refused(retryAfter: time - latest) }
        if let first = firstPaced(to: destination, unlessFewerThan: limits.waitingMax) {
            return .refused(retryAfter: max(first.time - now, .zero))
        }
        pacer.spend(destination, byteCount, at: time, now: now)
        var entry = Entry(
            destination: destination, publish: publish, repetition: again, state: .held, time: now,
            firstSentAt: now)
        // A predecessor whose time has come is sent in a moment, and this one after it.
        guard time > now || predecessor != nil else {
            let isHeld = begin(&entry, inboxEpoch: inboxEpoch, now: now)
            entries[id] = entry
            return isHeld ? .held : .send(entry.body(isAgain: again != nil, now: now))
        }
        entries[id] = entry
        pace(id, at: time)
        return .paced(until: time)
    }

    /// The pace lets the publish go.
    ///
    /// - Returns: whether it has to wait for others to its destination.
    private mutating func begin(_ entry: inout Entry, inboxEpoch: UInt64, now: Instant) -> Bool {
        lastNumber += 1
        entry.number = lastNumber
        if entry.publish.origin == 0 {
            lastSequence += 1
            entry.publish.sequence = lastSequence
        }
        entry.time = now
        entry.firstSentAt = entry.repetition?.firstSentAt ?? now
        entry.epoch = entry.repetition?.epoch ?? inboxEpoch
        let isHeld = !unanswered.isEmpty && unanswered[entry.destination] != nil
        entry.state = isHeld ? .held : .sent
        return isHeld
    }

    /// The publish has its answer, or its caller doesn't wait any longer.
    ///
    /// - Returns: what the server refused it with, if it was to be sent again.
    @discardableResult
    mutating func remove(_ id: UInt64) -> RTMError? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        switch entry.state {
        case .paced: unpaced(entry.destination)
        case .held: break
        case .sent: answered(entry)
        case .postponed(let refusal):
            answered(entry)
            return refusal
        }
        return nil
    }

    /// Removes a publish that was never sent.
    ///
    /// - Returns: `nil` if it was sent, or isn't here.
    mutating func removeUnsent(_ id: UInt64) -> Unsent? {
        let unsent: Unsent
        switch entries[id]?.state {
        case .paced: unsent = .paced
        case .held: unsent = .held
        case .sent, .postponed, nil: return nil
        }
        remove(id)
        return unsent
    }

    private mutating func answered(_ entry: Entry) {
        if !unanswered.isEmpty { unanswered[entry.destination]? -= 1 }
    }

    /// The publishes that were held, and for which the last one before them has its answer.
    mutating func takeHeld(now: Instant) -> [Sending] {
        guard unanswered.values.contains(0) else { return [] }
        let free = unanswered.filter { $0.value == 0 }
        for destination in free.keys { unanswered[destination] = nil }
        return inOrder.compactMap { id in
            guard let entry = entries[id], case .held = entry.state, free[entry.destination] != nil else {
                return nil
            }
            return send(id, now: now)
        }
    }

    // MARK: Sending again

    /// The server refused a publish for the moment. Others to the same destination that are under way it
    /// refuses in the same manner.
    mutating func postpone(_ id: UInt64, _ refusal: RTMError) {
        guard let destination = entries[id]?.destination else { return }
        entries[id]?.state = .postponed(refusal)
        guard unanswered[destination] == nil else { return }
        unanswered[destination] = entries.values.count { entry in
            if case .paced = entry.state { false } else { entry.destination == destination }
        }
    }

    mutating func takePostponed(now: Instant) -> [Sending] {
        inOrder.compactMap { id in
            guard case .postponed = entries[id]?.state else { return nil }
            return send(id, now: now)
        }
    }

    /// The client is logged in again. What the lost connection left without an answer is sent again in order,
    /// before anything new.
    ///
    /// - Returns: what is to be sent, and those that were sent too long ago to ask the server about.
    mutating func takeLost(now: Instant, ageMax: Duration) -> (again: [Sending], tooOld: [UInt64]) {
        let tooOld = inOrder.filter { id in entries[id].map { now - $0.time >= ageMax } ?? false }
        for id in tooOld { remove(id) }
        return (inOrder.compactMap { send($0, now: now, isLost: true) }, tooOld)
    }

    private mutating func send(_ id: UInt64, now: Instant, isLost: Bool = false) -> Sending? {
        guard let entry = entries[id] else { return nil }
        let isAgain = if case .held = entry.state { entry.repetition != nil || isLost } else { true }
        entries[id]?.state = .sent
        return (id, entry.body(isAgain: isAgain, now: now))
    }

    /// The connection is lost.
    ///
    /// - Parameter keptMax: how many of the publishes that may have been sent are sent again.
    /// - Returns: the publishes that the next connection sends: the oldest ones, and all that are paced.
    mutating func connectionLost(keptMax: Int) -> Set<UInt64> {
        unanswered = [:]
        return Set(inOrder.prefix(keptMax)).union(pacedIDs)
    }
}

// MARK: - Pacing

extension PublishQueue {
    /// When the next paced publish is sent.
    var nextDue: Instant? { schedule.min?.time }
    /// The paced publishes in the order of their times.
    var pacedIDs: [UInt64] { pacedSlots.map(\.id) }
    /// How much is remembered of paced publishes, stale slots included.
    var pacedSize: Int { schedule.count + paced.values.reduce(0) { $0 + $1.slots.count } }

    private var pacedSlots: [Slot] {
        entries.values.compactMap { if case .paced(let slot) = $0.state { slot } else { nil } }.sorted()
    }

    /// A server has let the client in and named its rates. Paced publishes keep their order and get new
    /// times.
    mutating func pace(_ rates: Rtm_Client_PublishRates?, now: Instant) {
        pacer.begin(rates)
        let slots = pacedSlots
        (schedule, paced, pacedCount) = (Heap(), [:], 0)
        for slot in slots {
            guard let entry = entries[slot.id] else { continue }
            let time = pacer.earliest(entry.destination, entry.byteCount, now: now)
            pacer.spend(entry.destination, entry.byteCount, at: time)
            pace(slot.id, at: time)
        }
    }

    /// The publishes whose time has come and that aren't held.
    mutating func takeDue(now: Instant, inboxEpoch: UInt64) -> [Sending] {
        var due: [Sending] = []
        while let slot = schedule.min, slot.time <= now, var entry = entries.removeValue(forKey: slot.id) {
            unpaced(entry.destination)
            let isHeld = begin(&entry, inboxEpoch: inboxEpoch, now: now)
            entries[slot.id] = entry
            if !isHeld { due.append((slot.id, entry.body(isAgain: entry.repetition != nil, now: now))) }
        }
        return due
    }

    /// - Parameter time: not before the time of what is paced to the same destination.
    private mutating func pace(_ id: UInt64, at time: Instant) {
        guard let destination = entries[id]?.destination else { return }
        lastNumber += 1
        let slot = Slot(time: time, number: lastNumber, id: id)
        entries[id]?.state = .paced(slot)
        schedule.insert(slot)
        paced[destination, default: PacedSlots()].slots.append(slot)
        paced[destination]?.count += 1
        pacedCount += 1
    }

    /// The slot of the paced publish to this destination that came last.
    private func lastPaced(to destination: MessageDestination) -> Slot? { paced[destination]?.slots.last }

    /// The slot of the paced publish to this destination that is sent first, or `nil` if there are fewer than
    /// so many.
    private func firstPaced(to destination: MessageDestination, unlessFewerThan count: Int) -> Slot? {
        guard let paced = paced[destination], paced.count >= count else { return nil }
        return paced.slots.first
    }

    /// One publish to this destination isn't paced any longer.
    private mutating func unpaced(_ destination: MessageDestination) {
        pacedCount -= 1
        while let first = schedule.min, !isPaced(first) { schedule.removeMin() }
        if schedule.count > 2 * pacedCount + 64 { schedule = Heap(pacedSlots) }
        paced[destination]?.count -= 1
        while let first = paced[destination]?.slots.first, !isPaced(first) {
            paced[destination]?.slots.removeFirst()
        }
        while let last = paced[destination]?.slots.last, !isPaced(last) {
            paced[destination]?.slots.removeLast()
        }
        if paced[destination]?.slots.isEmpty == true { paced[destination] = nil }
    }

    private func isPaced(_ slot: Slot) -> Bool {
        if case .paced(let own) = entries[slot.id]?.state { own.number == slot.number } else { false }
    }
}

/// How far a client holds publishes back that come faster than the server's rates.
package struct PublishPacing: Sendable, Hashable {
    /// How long a publish may wait; `nil` means as long as a call may take.
    package var waitMax: Duration?
    /// Limit: how many publishes may wait for one destination.
    package var waitingMax: Int

    package init(waitMax: Duration?, waitingMax: Int) {
        self.waitMax = waitMax
        self.waitingMax = waitingMax
    }

    /// Every publish waits until its time comes.
    package static let patient = PublishPacing(waitMax: nil, waitingMax: .max)
}
