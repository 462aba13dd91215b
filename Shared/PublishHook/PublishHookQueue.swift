import DequeModule
package import NIOCore
package import RTMModel

/// Which messages of an app are on hold for its hook, and in which order they continue. Pure.
///
/// The hook is asked about each message when it arrives, and the answers come in any order. A message
/// continues when it has its verdict and those of the same session to the same channel that came before it
/// have continued: so the order of a session's messages in a channel is kept (M-24), and nothing else waits.
/// A message has its verdict after the deadline at the latest, whatever the hook does, so nothing is on hold
/// for longer.
package struct PublishHookQueue {
    package struct Settings: Sendable, Equatable {
        package var deadline: TimeAmount
        package var onFailure: PublishHookRecord.Failure
        /// Limit: messages of one session on hold.
        package var ownerMessagesMax: Int
        /// Limit: bytes of all messages on hold.
        package var bytesMax = 8 << 20

        package init(
            deadline: TimeAmount, onFailure: PublishHookRecord.Failure, ownerMessagesMax: Int = 64
        ) {
            (self.deadline, self.onFailure) = (deadline, onFailure)
            self.ownerMessagesMax = ownerMessagesMax
        }
    }

    package typealias ID = UInt64

    package enum Verdict: Sendable, Equatable {
        /// With this content, if there is one.
        case publish(PublishHookMessage?)
        /// The reason of the hook.
        case refuse(String)
        /// The hook hasn't answered: why, and when to come back.
        case unanswered(String, retryAfter: TimeAmount)
    }

    package struct Decision: Equatable {
        package let id: ID
        package let verdict: Verdict
    }

    package enum Arrival: Equatable {
        /// The message is on hold, and the hook is to be asked about it.
        case ask(ID)
        /// It is on hold behind others, and the hook isn't asked.
        case wait(ID)
        case decided(Verdict)
    }

    private struct Line: Hashable {
        let owner: UInt64
        let channel: ChannelKey
    }

    private struct Entry {
        let id: ID
        let bytes: Int
        var verdict: Verdict?
    }

    private struct Owner {
        var count = 0
        var channels: Set<ChannelKey> = []
    }

    package var settings: Settings
    private var outage = PublishHookOutage()
    private var lines: [Line: Deque<Entry>] = [:]
    private var owners: [UInt64: Owner] = [:]
    /// Questions without an answer, also about messages whose session has ended.
    private var asked: [ID: Line] = [:]
    /// In the order of arrival.
    private var deadlines: Deque<(id: ID, time: NIODeadline)> = []
    private var lastID: ID = 0
    private var bytes = 0

    package init(_ settings: Settings) { self.settings = settings }

    package var isAway: Bool { outage.isAway }
    package var isEmpty: Bool { lines.isEmpty }

    /// A message has been admitted, and is to be published to the channel.
    ///
    /// - Parameters:
    ///   - owner: the session, whose messages to one channel keep their order.
    ///   - isAskedAbout: whether the hook wants to be asked about this channel.
    /// - Throws: the limit that is reached.
    package mutating func arrived(
        by owner: UInt64, to channel: ChannelKey, bytes count: Int, isAskedAbout: Bool, now: NIODeadline
    ) throws(RTMError) -> Arrival {
        let line = Line(owner: owner, channel: channel)
        let isFirst = lines[line] == nil
        guard isAskedAbout || !isFirst else { return .decided(.publish(nil)) }
        try checkLimits(owner, count)
        lastID += 1
        let id = lastID
        var verdict: Verdict?
        if !isAskedAbout {
            verdict = .publish(nil)
        } else if !outage.admits(id, now: now) {
            verdict = failure("it is away", now)
            if isFirst, let verdict { return .decided(verdict) }
        }
        hold(Entry(id: id, bytes: count, verdict: verdict), in: line)
        guard verdict == nil else { return .wait(id) }
        asked[id] = line
        deadlines.append((id, now + settings.deadline))
        return .ask(id)
    }

    /// The hook has answered, or can't. An answer that comes after the deadline is passed over.
    ///
    /// - Returns: what continues now, in this order.
    package mutating func answered(
        _ id: ID, _ reply: PublishHookReply, now: NIODeadline, using random: inout some RandomNumberGenerator
    ) -> [Decision] {
        guard let line = asked.removeValue(forKey: id) else { return [] }
        switch reply {
        case .allow(let message):
            outage.answered()
            return settle(id, .publish(message), in: line)
        case .refuse(let reason):
            outage.answered()
            return settle(id, .refuse(reason), in: line)
        case .failed(let cause, let isAway):
            outage.failed(id, isAway: isAway, now: now, using: &random)
            return settle(id, failure(cause, now), in: line)
        }
    }

    /// When `expired` has to be called next; nil if nothing waits.
    package mutating func deadline() -> NIODeadline? {
        while let first = deadlines.first, asked[first.id] == nil { deadlines.removeFirst() }
        return deadlines.first?.time
    }

    /// - Returns: what continues now, in this order.
    package mutating func expired(
        now: NIODeadline, using random: inout some RandomNumberGenerator
    ) -> [Decision] {
        var decisions: [Decision] = []
        while let time = deadline(), time <= now, let id = deadlines.popFirst()?.id {
            decisions += answered(id, .failed("no answer in time", isAway: false), now: now, using: &random)
        }
        return decisions
    }

    /// The session is no more, and nobody waits for its messages: its client sends them again, or has given
    /// them up.
    ///
    /// - Returns: the messages that were on hold.
    package mutating func ended(_ owner: UInt64) -> [ID] {
        guard let channels = owners.removeValue(forKey: owner)?.channels else { return [] }
        return channels.flatMap { channel in
            let entries = lines.removeValue(forKey: Line(owner: owner, channel: channel)) ?? []
            bytes -= entries.reduce(0) { $0 + $1.bytes }
            return entries.map(\.id)
        }
    }

    // MARK: -

    private func checkLimits(_ owner: UInt64, _ count: Int) throws(RTMError) {
        if (owners[owner]?.count ?? 0) >= settings.ownerMessagesMax {
            throw RTMError(
                .operationRateExceedLimitation,
                "\(settings.ownerMessagesMax) messages wait for the hook that is asked before publishing",
                retryAfter: .nanoseconds(settings.deadline.nanoseconds),
                limit: .init(name: "messages on hold", value: UInt64(settings.ownerMessagesMax)))
        }
        if bytes + count > settings.bytesMax {
            throw RTMError(
                .operationRateExceedLimitation,
                "the app's messages that wait for the hook have \(settings.bytesMax) bytes, the limit",
                retryAfter: .nanoseconds(settings.deadline.nanoseconds),
                limit: .init(name: "bytes on hold", value: UInt64(settings.bytesMax)))
        }
    }

    private func failure(_ cause: String, _ now: NIODeadline) -> Verdict {
        switch settings.onFailure {
        case .publish: .publish(nil)
        case .refuse:
            .unanswered(cause, retryAfter: outage.wait(now: now, deadline: settings.deadline))
        }
    }

    private mutating func hold(_ entry: Entry, in line: Line) {
        lines[line, default: []].append(entry)
        owners[line.owner, default: Owner()].count += 1
        owners[line.owner]?.channels.insert(line.channel)
        bytes += entry.bytes
    }

    private mutating func settle(_ id: ID, _ verdict: Verdict, in line: Line) -> [Decision] {
        // Without a line the session has ended.
        guard let index = lines[line]?.firstIndex(where: { $0.id == id }) else { return [] }
        lines[line]?[index].verdict = verdict
        var decisions: [Decision] = []
        while let first = lines[line]?.first, let verdict = first.verdict {
            lines[line]?.removeFirst()
            owners[line.owner]?.count -= 1
            bytes -= first.bytes
            decisions.append(Decision(id: first.id, verdict: verdict))
        }
        if lines[line]?.isEmpty == true { remove(line) }
        return decisions
    }

    private mutating func remove(_ line: Line) {
        lines[line] = nil
        owners[line.owner]?.channels.remove(line.channel)
        if owners[line.owner]?.channels.isEmpty == true { owners[line.owner] = nil }
    }
}

extension PublishHookQueue.Verdict {
    /// What to publish in place of the message; nil for the message as it came.
    ///
    /// - Parameter isAgain: its publisher has sent the message before. Then it isn't called unpublished,
    ///   because its first copy may be in the log, or on its way there.
    /// - Throws: what the publisher gets.
    package func content(isAgain: Bool) throws(RTMError) -> PublishHookMessage? {
        switch self {
        case .publish(let message): return message
        case .refuse(let reason):
            throw RTMError(
                .channelPublishMessageFailed,
                "the app's hook refuses the message" + (reason.isEmpty ? "" : ": \(reason)")
                    + (isAgain ? "; its first copy may have been published" : ""))
        case .unanswered(_, let wait):
            // The cause is for the operator's log: it may name what is inside the installation.
            throw RTMError(
                .channelPublishMessageFailed,
                "the app's hook, which decides about messages, gave no answer that can be used",
                retryAfter: .nanoseconds(wait.nanoseconds))
        }
    }
}
