import NIOCore
import RTMModel
import RTMWire

/// Finds what is largest and busiest in one app on a loop, when a gateway asks (W-79): the sessions for which
/// most waits, the channels with most deliveries, the sessions that publish most, and the users of whom most
/// was refused.
///
/// A loop measures one app at a time. Whoever asks for the same app meanwhile gets the same answer. What is
/// published and what arrives is counted while a question waits. Offsets say nothing of it, since they belong
/// to partitions. Each turn looks at a limited number of sessions, and messages pass in between.
final class TopQuestions {
    /// Limit: rows of a list.
    static let rowsMax = 100
    /// Limit: how long channels and publishers are watched. Storage waits two seconds for the answer.
    static let measureMax = Duration.seconds(1)
    /// A channel has subscribers on several loops, and isn't among the busiest on each of them. So each names
    /// more channels than there will be rows.
    private static let channelsPerRow = 10

    private let sessions: Sessions
    private let subscribing: Subscribing
    private let refusals: RefusalLog
    private let userLog: UserLog
    private let eventLoop: any EventLoop
    private var measurement: Measurement?

    private struct Measurement {
        let appID: String
        var askers: [(limit: Int, answer: (EdgeTopFindings) -> Void)]
        let began: NIODeadline
        var queues = TopList<SessionKey>(rowsMax)
    }

    /// What was counted, and for how long.
    private struct Watch {
        let time: Duration
        let publishes: LoudCounts<SessionKey>
        /// By the interests of the channels.
        let arrivals: LoudCounts<UInt64>
    }

    init(
        sessions: Sessions, subscribing: Subscribing, refusals: RefusalLog, userLog: UserLog,
        eventLoop: any EventLoop
    ) {
        self.sessions = sessions
        self.subscribing = subscribing
        self.refusals = refusals
        self.userLog = userLog
        self.eventLoop = eventLoop
    }

    func answer(_ question: EdgeTop, of appID: String, _ answer: @escaping (EdgeTopFindings) -> Void) {
        let asker = (limit: Int(min(question.limit, UInt32(Self.rowsMax))), answer: answer)
        if let appMeasured = measurement?.appID {
            guard appMeasured == appID else { return answer(EdgeTopFindings(isBusy: true)) }
            measurement?.askers.append(asker)
            return
        }
        measurement = Measurement(appID: appID, askers: [asker], began: eventLoop.now)
        userLog.publishes = LoudCounts(of: appID)
        subscribing.arrivals = LoudCounts(of: appID)
        eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(min(question.measure, Self.measureMax))) {
            self.end()
        }
    }

    // MARK: - Turns

    private func end() {
        guard let began = measurement?.began, let publishes = userLog.publishes,
            let arrivals = subscribing.arrivals
        else { return }
        (userLog.publishes, subscribing.arrivals) = (nil, nil)
        let watch = Watch(
            time: .nanoseconds((eventLoop.now - began).nanoseconds), publishes: publishes, arrivals: arrivals)
        lookAtQueues(from: 0, watch)
    }

    private func lookAtQueues(from slot: Int, _ watch: Watch) {
        guard let appID = measurement?.appID else { return }
        let stop = min(sessions.slotCount, slot + SessionScan.slotsPerTurn)
        for index in slot..<max(slot, stop) {
            guard let session = sessions[slot: index], session.appID == appID else { continue }
            measurement?.queues.add(session.key, Double(session.connection?.waitingBytes ?? 0))
        }
        if stop < sessions.slotCount {
            return eventLoop.assumeIsolated().execute { self.lookAtQueues(from: stop, watch) }
        }
        finish(watch)
    }

    // MARK: - The answer

    private func finish(_ watch: Watch) {
        guard let measurement = measurement.take() else { return }
        let queues = measurement.queues.largest().compactMap { bytes, key in
            row(of: key).map { session in
                var session = session
                session.queuedBytes = UInt64(bytes)
                return session
            }
        }
        let publishers = watch.publishes.loudest(Self.rowsMax).compactMap { key, count in
            row(of: key).map { LoudSession(session: $0, messages: count.weight, bytes: count.amount) }
        }
        let channels = busiest(watch.arrivals)
        let refused = RefusedUser.most(of: measurement.appID, refusals.latest.newestFirst, Self.rowsMax)
        for asker in measurement.askers {
            asker.answer(
                EdgeTopFindings(
                    measured: watch.time, queues: Array(queues.prefix(asker.limit)),
                    channels: Array(channels.prefix(asker.limit * Self.channelsPerRow)),
                    publishers: Array(publishers.prefix(asker.limit)),
                    refused: Array(refused.prefix(asker.limit)),
                    refusedSinceMilliseconds: refusals.latest.since,
                    channelsOmitted: UInt32(clamping: watch.arrivals.omitted)))
        }
    }

    /// Nil if the session has ended.
    private func row(of key: SessionKey) -> EdgeSession? {
        sessions[key].map { $0.row(channelCount: subscribing.overview(of: key, limit: 0).count) }
    }

    private func busiest(_ arrivals: LoudCounts<UInt64>) -> [BusyChannel] {
        let found = arrivals.loudest(Self.rowsMax * Self.channelsPerRow)
        return zip(found, subscribing.keys(of: found.map(\.key))).compactMap { loud, key in
            key.map {
                BusyChannel(
                    channel: $0, entries: loud.count.amount,
                    subscribers: UInt32(subscribing.subscriberCount(of: $0)))
            }
        }
    }
}

extension RefusedUser {
    private struct Cause: Hashable {
        let userID: String
        let request: RefusalLog.Request
    }

    /// The users of an app of whom most was refused lately, each with publishes and subscribes apart.
    ///
    /// - Parameter refusals: the newest first.
    static func most(
        of appID: String, _ refusals: some Sequence<RefusalLog.Refusal>, _ limit: Int
    ) -> [RefusedUser] {
        var found: [Cause: RefusedUser] = [:]
        for refusal in refusals where refusal.appID == appID {
            let cause = Cause(userID: refusal.userID, request: refusal.request)
            // What is there already is newer.
            found[
                cause,
                default: RefusedUser(
                    userID: refusal.userID,
                    kind: refusal.request == .publish ? .publishRefused : .subscribeRefused,
                    atMilliseconds: refusal.at, reason: refusal.reason, channel: refusal.channel)
            ].count += UInt64(refusal.count)
        }
        var list = TopList<RefusedUser>(limit)
        for user in found.values { list.add(user, Double(user.count)) }
        return list.largest().map(\.element)
    }
}

/// The largest of many. It keeps about twice as many as are wanted. Pure.
struct TopList<Element> {
    private let countMax: Int
    private var found: [(value: Double, element: Element)] = []
    /// What is smaller isn't among the largest.
    private var least = 0.0

    init(_ countMax: Int) { self.countMax = countMax }

    /// What has the value 0 is left out.
    mutating func add(_ element: Element, _ value: Double) {
        guard value > least else { return }
        found.append((value, element))
        if found.count >= 2 * countMax { cut() }
    }

    private mutating func cut() {
        found.sort { $0.value > $1.value }
        guard found.count > countMax else { return }
        found.removeLast(found.count - countMax)
        least = found[countMax - 1].value
    }

    /// The largest one first.
    func largest() -> [(value: Double, element: Element)] {
        var list = self
        list.cut()
        return list.found
    }
}

/// How much each session or channel of an app does while somebody measures it. Nothing is counted at other
/// times, so they have no counters of their own. Pure.
struct LoudCounts<Key: Hashable> {
    /// Limit: keys that are counted. Twice as many are in the table before the quieter half is dropped, so
    /// what is louder than this many others is never lost.
    static var keysMax: Int { 4_096 }

    struct Count: Equatable {
        /// What the order goes by: messages of a session, deliveries of a channel.
        var weight: UInt64 = 0
        /// What is counted beside it: bytes of a session, entries of a channel.
        var amount: UInt64 = 0
    }

    let appID: String
    private var counts: [Key: Count] = [:]
    /// How often a key was dropped.
    private(set) var omitted = 0

    init(of appID: String) { self.appID = appID }

    mutating func add(_ key: Key, weight: UInt64, amount: UInt64) {
        counts[key, default: Count()].weight += weight
        counts[key, default: Count()].amount += amount
        if counts.count >= 2 * Self.keysMax { cut() }
    }

    private mutating func cut() {
        omitted += counts.count - Self.keysMax
        let loudest = counts.sorted { $0.value.weight > $1.value.weight }.prefix(Self.keysMax)
        counts = Dictionary(uniqueKeysWithValues: loudest.map { ($0.key, $0.value) })
    }

    /// The loudest first.
    func loudest(_ limit: Int) -> [(key: Key, count: Count)] {
        var list = TopList<(key: Key, count: Count)>(limit)
        for (key, count) in counts { list.add((key, count), Double(count.weight)) }
        return list.largest().map(\.element)
    }
}
