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
        /// Open a connection that is to stand by, over another way than those that are being tried. One that
        /// stands by already stays until a new one is ready.
        case dial
        /// The connections that are being opened take too long.
        case giveUpDials
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
    /// How many dials are under way.
    private var dialCount = 0
    /// When the dials under way are given up; `nil` if there is none.
    private var dialEndsAt: Instant?
    /// When the next dial begins; `nil` while all ways are being tried.
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
        endDials(next: now)
    }

    /// The link isn't connected any more, or changes its path. What stands by or is being opened is closed.
    mutating func disconnected() {
        isConnected = false
        unanswered = []
        standby = .none
        endDials(next: nil)
    }

    private mutating func endDials(next: Instant?) {
        (dialCount, dialEndsAt, dialAt) = (0, nil, next)
        rounds.ended()
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

    /// A dial has led to a connection, and the others that are under way aren't needed.
    ///
    /// - Parameters:
    ///   - way: the number of its way.
    ///   - lifetime: how long its server waits for a login.
    mutating func ready(_ way: Int, lifetime: Duration, now: Instant) {
        guard isConnected else { return }
        // The next one is to be ready before the server ends this one.
        endDials(next: now + lifetime * 0.75)
        rounds.succeeded(way)
        standby = .ready(until: now + lifetime * 0.9)
    }

    /// The dial that has begun takes the way with this number, of so many that there are. The first is the
    /// same one for as long as it leads somewhere. While it says nothing, the others follow.
    mutating func way(of count: Int, now: Instant) -> Int? {
        let way = rounds.way(of: count)
        if rounds.hasMore { dialAt = now + timing.stagger }
        return way
    }

    /// A dial has failed. Another way is tried at once, and the pause comes when all have failed.
    mutating func dialFailed(now: Instant) {
        guard isConnected, dialCount > 0 else { return }
        dialCount -= 1
        if rounds.hasMore { dialAt = now }
        guard dialCount == 0 else { return }
        dialEndsAt = nil
        if !rounds.hasMore { roundFailed(now) }
    }

    private mutating func roundFailed(_ now: Instant) {
        let pauses = rounds.failed()
        endDials(next: now + timing.firstPause * pauses)
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
            actions.append(.giveUpDials)
            roundFailed(now)
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
            dialCount += 1
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

/// Which of the ways that there are is dialled. A round tries each of them once. Pure.
private struct DialRounds: Sendable {
    /// With which way a round begins.
    private var first = 0
    /// How many ways there were at the latest dial.
    private var ways = 0
    /// How many of them this round has tried.
    private var tried = 0
    /// How many rounds have failed since a dial succeeded.
    private var failedRounds = 0

    /// Whether this round has ways that it hasn't tried.
    var hasMore: Bool { tried < ways }

    mutating func way(of count: Int) -> Int? {
        ways = count
        guard count > 0 else { return nil }
        defer { tried += 1 }
        return (first + tried) % count
    }

    mutating func succeeded(_ way: Int) { (first, failedRounds) = (way, 0) }

    /// What was dialled successfully has ended before its time.
    mutating func lost() { first += 1 }

    /// The next dial begins a round.
    mutating func ended() { (tried, ways) = (0, 0) }

    /// All dials of the round have failed.
    ///
    /// - Returns: how many times the first pause comes before the next round: 1, 2, 4 … 32.
    mutating func failed() -> Int {
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
    /// How long a dial may take until the next way is tried beside it.
    package var stagger: Duration = .milliseconds(250)
    /// The first pause after all ways have failed, which doubles up to 32 times as much.
    package var firstPause: Duration = .seconds(1)
    /// How long a path is kept after a change, which doubles with each change that follows within `calm`.
    package var hold: Duration = .seconds(2)
    package var holdMax: Duration = .seconds(30)
    package var calm: Duration = .seconds(60)

    package init() {}
}
