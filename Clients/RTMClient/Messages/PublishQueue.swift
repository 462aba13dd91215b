// The publishes of this client that have no answer yet: which of them are sent once more, and when new ones
// have to wait. Their sequence lets the server publish each of them once, and in order.

import RTMModel
import RTMProtocol

struct PublishQueue {
    typealias Instant = ContinuousClock.Instant
    /// A publish that is to be sent now, with the id of its request.
    typealias Sending = (id: UInt64, publish: Rtm_Client_Publish)

    /// Where publishes go. Each has an order of its own.
    private struct Line: Hashable {
        let type: Rtm_Client_ChannelType
        let channel: String

        init(of publish: Rtm_Client_Publish) {
            type = publish.channelType
            channel = publish.channel
        }
    }

    /// Where a publish stands that has no answer.
    private enum Standing {
        /// The server has it.
        case sent
        /// It waits behind others that have to be sent again first.
        case unsent
        /// The server had no messaging service at that moment. The publish is sent again after a while.
        case refused(RTMError)
    }

    private struct Entry {
        let publish: Rtm_Client_Publish
        /// Counts what the app published.
        let number: UInt64
        /// When the app published.
        let time: Instant
        /// When it was sent first, which may have been before the app's restart.
        let firstSentAt: Instant
        /// The epoch of the inbox at that time tells the server whether its logs go back so far.
        let epoch: UInt64
        /// Whether it was sent before it came here.
        let isRepetition: Bool
        var standing: Standing

        func body(isAgain: Bool, now: Instant) -> Rtm_Client_Publish {
            guard isAgain else { return publish }
            var publish = publish
            publish.again = true
            publish.ageMs = UInt32(clamping: Int((now - firstSentAt) / .milliseconds(1)) + 1)
            publish.epoch = epoch
            return publish
        }
    }

    private var entries: [UInt64: Entry] = [:]
    private var lastNumber: UInt64 = 0
    /// The sequence of the latest publish that has none of its own. By it and by the client's instance the
    /// server knows a publish that is sent again.
    private var lastSequence: UInt64 = 0
    /// How many publishes have been sent and have no answer, where one of them was refused for the moment.
    /// New ones to the same place wait until all of them have, so that nothing overtakes the refused one.
    private var held: [Line: Int] = [:]

    /// In the order in which the app published.
    private var inOrder: [UInt64] {
        entries.sorted { $0.value.number < $1.value.number }.map(\.key)
    }

    /// The app publishes.
    ///
    /// - Returns: what is to be sent now, or `nil` if the publish waits behind others.
    mutating func add(
        _ id: UInt64, _ publish: Rtm_Client_Publish, again: PublishRepetition? = nil, inboxEpoch: UInt64,
        now: Instant
    ) -> Rtm_Client_Publish? {
        lastNumber += 1
        var publish = publish
        if publish.origin == 0 {
            lastSequence += 1
            publish.sequence = lastSequence
        }
        let isHeld = !held.isEmpty && held[Line(of: publish)] != nil
        let entry = Entry(
            publish: publish, number: lastNumber, time: now, firstSentAt: again?.firstSentAt ?? now,
            epoch: again?.epoch ?? inboxEpoch, isRepetition: again != nil,
            standing: isHeld ? .unsent : .sent)
        entries[id] = entry
        return isHeld ? nil : entry.body(isAgain: entry.isRepetition, now: now)
    }

    /// The publish has its answer, or nobody waits for it any more.
    ///
    /// - Returns: what the server refused it with, if it was to be sent again.
    @discardableResult
    mutating func remove(_ id: UInt64) -> RTMError? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        switch entry.standing {
        case .unsent: return nil
        case .sent:
            answered(entry)
            return nil
        case .refused(let refusal):
            answered(entry)
            return refusal
        }
    }

    /// Removes a publish that waits behind others.
    ///
    /// - Returns: false if it is sent, or isn't here.
    mutating func removeUnsent(_ id: UInt64) -> Bool {
        guard case .unsent = entries[id]?.standing else { return false }
        entries[id] = nil
        return true
    }

    private mutating func answered(_ entry: Entry) {
        if !held.isEmpty { held[Line(of: entry.publish)]? -= 1 }
    }

    /// What waits behind others is sent when the last of those has its answer.
    mutating func takeHeld(now: Instant) -> [Sending] {
        guard held.values.contains(0) else { return [] }
        let free = held.filter { $0.value == 0 }
        for line in free.keys { held[line] = nil }
        return inOrder.compactMap { id in
            guard let entry = entries[id], case .unsent = entry.standing,
                free[Line(of: entry.publish)] != nil
            else { return nil }
            return send(id, now: now)
        }
    }

    // MARK: Sending again

    /// The server refused a publish for the moment. What is under way already it refuses in the same manner.
    mutating func refused(_ id: UInt64, _ refusal: RTMError) {
        guard let refused = entries[id] else { return }
        entries[id]?.standing = .refused(refusal)
        let line = Line(of: refused.publish)
        guard held[line] == nil else { return }
        held[line] = entries.values.count(where: { Line(of: $0.publish) == line })
    }

    mutating func takeRefused(now: Instant) -> [Sending] {
        inOrder.compactMap { id in
            guard case .refused = entries[id]?.standing else { return nil }
            return send(id, now: now)
        }
    }

    /// The client is logged in again. What the lost connection left without an answer is sent again in order,
    /// before anything new.
    ///
    /// - Returns: what is to be sent, and those that the app published too long ago to ask the server about.
    mutating func takeLost(now: Instant, ageMax: Duration) -> (again: [Sending], tooOld: [UInt64]) {
        let tooOld = inOrder.filter { id in entries[id].map { now - $0.time >= ageMax } ?? false }
        for id in tooOld { remove(id) }
        return (inOrder.compactMap { send($0, now: now, isLost: true) }, tooOld)
    }

    private mutating func send(_ id: UInt64, now: Instant, isLost: Bool = false) -> Sending? {
        guard var entry = entries[id] else { return nil }
        let isAgain = if case .unsent = entry.standing { entry.isRepetition || isLost } else { true }
        entry.standing = .sent
        entries[id] = entry
        return (id, entry.body(isAgain: isAgain, now: now))
    }

    // MARK: Losing the connection

    /// The connection is lost.
    ///
    /// - Returns: the oldest publishes, which are sent again on the next connection.
    mutating func connectionLost(keptMax: Int) -> Set<UInt64> {
        held = [:]
        return Set(inOrder.prefix(keptMax))
    }
}
