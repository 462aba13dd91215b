// When a client continues over its second path (N-5).
//
// The client sends a heartbeat on the path in use every second. When an answer stays out, the connection that
// stands by is asked, too. If its answer comes first, it is the better path, however slow it is by itself,
// and the client changes to it. So a pause of both paths, as of a device that slept, changes nothing.

/// Decides when a client continues over its second path, and when the connection that stands by is opened
/// anew. Pure: it gets the time.
struct PathChoice: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Action: Sendable, Equatable {
        /// Open a connection that is to stand by. One that stands by already stays until the new one is
        /// ready.
        case dial
        /// The connection that is being opened takes too long.
        case giveUpDial
        /// Send a heartbeat on the connection that stands by.
        case sendHeartbeat
        /// Close the connection that stands by: it is as silent as the one in use.
        case closeStandby
    }

    private enum StandbyState: Equatable {
        case none
        /// Its server keeps it until then.
        case ready(until: Instant)
        case asked(at: Instant, until: Instant)
    }

    private let timing: PathTiming
    /// The link is connected. Otherwise there is nothing to choose.
    private var isConnected = false
    /// What the path in use has not answered, the oldest first.
    private var unanswered: [(id: UInt64, sentAt: Instant)] = []
    private var standby = StandbyState.none
    /// When the dial under way is given up; `nil` if there is none.
    private var dialEndsAt: Instant?
    /// When the next dial begins; `nil` while one is under way.
    private var dialAt: Instant?
    private var rounds = DialRounds()
    private var changedAt: Instant?
    /// How long a path is kept after the latest change, which grows while changes follow one another.
    private var hold: Duration = .zero

    init(_ timing: PathTiming) { self.timing = timing }

    // MARK: The path in use

    /// The link is connected over a path.
    mutating func connected(now: Instant) {
        isConnected = true
        unanswered = []
        standby = .none
        dialEndsAt = nil
        dialAt = now
    }

    /// The link isn't connected any more, or changes its path. What stands by or is being opened is closed.
    mutating func disconnected() {
        isConnected = false
        unanswered = []
        standby = .none
        (dialAt, dialEndsAt) = (nil, nil)
    }

    /// A heartbeat was sent on the path in use.
    mutating func sent(_ id: UInt64, now: Instant) {
        if isConnected { unanswered.append((id, now)) }
    }

    /// The path in use has answered. An answer speaks for all heartbeats before it.
    mutating func answered(_ id: UInt64) {
        guard let index = unanswered.firstIndex(where: { $0.id == id }) else { return }
        unanswered.removeSubrange(...index)
    }

    /// The connection in use has ended.
    ///
    /// - Returns: whether to continue over the connection that stands by.
    func mayReplaceLost(now: Instant) -> Bool { isConnected && standby != .none && now >= heldUntil(now) }

    /// The client changes to the connection that stood by.
    mutating func changed(now: Instant) {
        let isSoon = changedAt.map { now - $0 < timing.calm } ?? false
        hold = isSoon ? min(hold * 2, timing.holdMax) : timing.hold
        changedAt = now
        disconnected()
    }

    private func heldUntil(_ now: Instant) -> Instant { changedAt.map { $0 + hold } ?? now }

    /// When the path in use counts as stalled; `nil` if it has answered everything.
    private func stalls(_ now: Instant) -> Instant? {
        unanswered.first.map { max($0.sentAt + timing.stall, heldUntil(now)) }
    }

    private func isStalled(_ now: Instant) -> Bool { stalls(now).map { now >= $0 } ?? false }

    // MARK: The path that stands by

    /// The dial under way has led to a connection.
    ///
    /// - Parameter lifetime: how long its server waits for a login.
    mutating func ready(lifetime: Duration, now: Instant) {
        guard isConnected else { return }
        rounds.succeeded()
        dialEndsAt = nil
        standby = .ready(until: now + lifetime * 0.9)
        // The next one is to be ready before the server ends this one.
        dialAt = now + lifetime * 0.75
    }

    /// The dial that is due takes the way with this number, of so many that there are. It is the same one for
    /// as long as it leads somewhere.
    mutating func way(of count: Int) -> Int? { rounds.way(of: count) }

    /// The dial under way has failed. Another way is tried at once, and the pause comes when all have failed.
    mutating func dialFailed(now: Instant) {
        guard isConnected, dialEndsAt != nil else { return }
        dialEndsAt = nil
        dialAt = now + timing.firstPause * rounds.failed()
    }

    /// The connection that stood by has ended.
    mutating func standbyLost(now: Instant) {
        guard isConnected else { return }
        standby = .none
        rounds.lost()
        if dialEndsAt == nil { dialAt = now + timing.firstPause }
    }

    /// The connection that stands by has answered.
    ///
    /// - Returns: whether to continue over it.
    mutating func standbyAnswered(now: Instant) -> Bool {
        guard case .asked(_, let until) = standby else { return false }
        standby = .ready(until: until)
        return isStalled(now)
    }

    // MARK: Time

    /// When `due` has something to do; `nil` if never.
    func deadline(now: Instant) -> Instant? {
        guard isConnected else { return nil }
        let standbyDeadline: Instant? =
            switch standby {
            case .none: nil
            case .ready(let until): min(until, stalls(now) ?? until)
            case .asked(let at, let until): min(until, at + timing.stall)
            }
        return [dialAt, dialEndsAt, standbyDeadline].lazy.compactMap { $0 }.min()
    }

    mutating func due(now: Instant) -> [Action] {
        guard isConnected else { return [] }
        var actions: [Action] = []
        if let end = dialEndsAt, now >= end {
            actions.append(.giveUpDial)
            dialFailed(now: now)
        }
        switch standby {
        case .ready(let until) where now >= until, .asked(_, let until) where now >= until:
            closeStandby(now, &actions)
        case .asked(let at, _) where now >= at + timing.stall:
            closeStandby(now, &actions)
        case .ready(let until) where isStalled(now):
            standby = .asked(at: now, until: until)
            actions.append(.sendHeartbeat)
        case .none, .ready, .asked: break
        }
        if let time = dialAt, now >= time {
            dialAt = nil
            dialEndsAt = now + timing.dial
            actions.append(.dial)
        }
        return actions
    }

    private mutating func closeStandby(_ now: Instant, _ actions: inout [Action]) {
        standby = .none
        if dialEndsAt == nil { dialAt = now }
        actions.append(.closeStandby)
    }
}

/// Which of the ways that there are is dialled. They are tried one after the other, in rounds. Pure.
private struct DialRounds: Sendable {
    private var way = 0
    /// How many ways there were at the latest dial.
    private var ways = 0
    /// How many dials of this round have failed.
    private var failures = 0
    /// How many rounds have failed since a dial succeeded.
    private var failedRounds = 0

    mutating func way(of count: Int) -> Int? {
        ways = count
        return count > 0 ? way % count : nil
    }

    mutating func succeeded() { (failures, failedRounds) = (0, 0) }

    /// What was dialled successfully has ended before its time.
    mutating func lost() { way += 1 }

    /// A dial has failed.
    ///
    /// - Returns: how many times the first pause comes before the next dial: none within a round, and then 1,
    ///   2, 4 … 32.
    mutating func failed() -> Int {
        way += 1
        failures += 1
        guard failures >= ways else { return 0 }
        failures = 0
        defer { failedRounds += 1 }
        return 1 << min(failedRounds, 5)
    }
}

/// The times of a choice between two paths. Tests shorten them.
package struct PathTiming: Sendable, Hashable {
    /// How often a heartbeat is sent on the path in use.
    package var beat: Duration = .seconds(1)
    /// A path that has left a question open for so long has stalled.
    package var stall: Duration = .seconds(1)
    /// How long a connection that is to stand by may take until its server has answered Hello.
    package var dial: Duration = .seconds(5)
    /// The first pause after all ways have failed, which doubles up to 32 times as much.
    package var firstPause: Duration = .seconds(1)
    /// How long a path is kept after a change, which doubles with each change that follows within `calm`.
    package var hold: Duration = .seconds(2)
    package var holdMax: Duration = .seconds(30)
    package var calm: Duration = .seconds(60)

    package init() {}
}
