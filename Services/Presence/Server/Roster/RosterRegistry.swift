import OrderedCollections
package import RTMModel
package import RTMWire

/// All rosters of a process, and what connects users and leases across them. Pure: every call gets the time
/// in milliseconds, and the caller takes the events with `takeChanges`.
///
/// A member is found from three sides. The channel leads to it through the roster. The user leads to the
/// channels that the user is in, which have to be left when the session ends. The lease of the edge that
/// holds the session leads to all members that are lost together when it ends. A sweep touches only what is
/// due.
package struct RosterRegistry: Sendable {
    /// A lease without a deadline has ended. It is kept only for the members that still count under it,
    /// because the same edge may report them again before they are gone.
    private struct Lease: Sendable {
        /// Whether the edge has reported all members under the lease, and hasn't only renewed it or named it
        /// in a join.
        var isKnown = false
        /// The newest link of the edge that has renewed the lease; 0 if it is unknown.
        var link: UInt64 = 0
        /// Under this lease: in how many channels each user is.
        var users: [UserKey: Int] = [:]
    }

    /// Limit: free places whose memory one sweep gives back.
    private static let placesPerSweep = 4_096

    private let rules: PresenceRules
    /// Until this time the edges fill the rosters of a started process again.
    private let graceEnd: UInt64
    private var rosters: RosterTable
    private var channels: [UserKey: OrderedSet<ChannelKey>] = [:]
    private var leases: [UInt64: Lease] = [:]
    private var dueRosters = DeadlineQueue<ChannelKey>()
    private var dueLeases = DeadlineQueue<UInt64>()
    private var changed: [(ChannelKey, [RosterEvent])] = []
    private var memberCount = 0

    package init(_ rules: PresenceRules, now: UInt64) {
        self.rules = rules
        rosters = RosterTable(rules)
        graceEnd = now + rules.grace
    }

    /// How many rosters there is memory for.
    var slotCount: Int { rosters.slotCount }

    package var totals: PresenceTotals {
        PresenceTotals(channels: rosters.count, members: memberCount, leases: dueLeases.count)
    }

    /// The events in the order in which they happened. A roster that has become empty without an event is
    /// listed without events.
    package mutating func takeChanges() -> [(ChannelKey, [RosterEvent])] {
        defer { changed = [] }
        return changed
    }

    // MARK: - Sessions

    /// Whether a session is the member now, and what its states cost; nil if they weren't set.
    package struct Arrival: Sendable, Hashable {
        package let isMember: Bool
        package let statesCost: Int?
    }

    package mutating func enter(
        _ entry: Entry, _ channel: ChannelKey, now: UInt64
    ) throws(RTMError) -> Arrival {
        guard canJoin(for: entry.user, in: channel) else { throw rules.isFull(channel.type) }
        return try enter(entry, channel, silently: false, now)
    }

    /// Whoever is a member already stays one.
    private func canJoin(for user: String, in channel: ChannelKey) -> Bool {
        let usersMax = rules.usersMax(in: channel.type)
        guard usersMax > 0, let roster = rosters[channel] else { return true }
        return roster[user] != nil || roster.memberCount < usersMax
    }

    package mutating func adopt(
        _ entry: Entry, _ channel: ChannelKey, isAnnounced: Bool, now: UInt64
    ) throws(RTMError) -> Bool {
        // Subscribers need an event who have seen the roster without this user, or got no event of the join.
        let isUnseen = rosters[channel]?.isShown != true
        return try enter(entry, channel, silently: isAnnounced && now < graceEnd && isUnseen, now).isMember
    }

    private mutating func enter(
        _ entry: Entry, _ channel: ChannelKey, silently: Bool, _ now: UInt64
    ) throws(RTMError) -> Arrival {
        guard rosters.contains(channel) || rosters.count < rules.channelsMax else {
            throw RTMError(
                .presenceOperationFailed, "there are rosters of \(rosters.count) channels",
                limit: .init(name: "presence channels", value: UInt64(rules.channelsMax)))
        }
        let user = UserKey(appID: channel.appID, userID: entry.user)
        let present = rosters[channel]?[entry.user]?.entry
        if rosters[channel]?.hasNewer(than: entry) == true {
            name(entry.lease, now)
            return Arrival(isMember: false, statesCost: nil)
        }
        var statesCost: Int?
        let statesMax = rules.states(in: channel.type).countMax
        change(channel) {
            statesCost = $0.enter(entry, statesMax: statesMax, silently: silently, now: now)
        }
        // If this is a takeover, the going of the earlier session was counted already.
        if let present, channels[user]?.contains(channel) == true {
            removeFromLease(present.lease, user)
            memberCount -= 1
        }
        channels[user, default: []].append(channel)
        addToLease(entry.lease, user, now)
        memberCount += 1
        return Arrival(isMember: true, statesCost: statesCost)
    }

    package mutating func leave(_ caller: Caller, _ channel: ChannelKey, now: UInt64) {
        guard rosters.contains(channel) else { return }
        change(channel) { $0.leave(caller.userID, session: caller.session.rawValue, now: now) }
    }

    package mutating func end(_ caller: Caller, _ end: SessionEnd, now: UInt64) {
        let session = caller.session.rawValue
        let left = LeaveOrder(sorted(channels[UserKey(appID: caller.appID, userID: caller.userID)]))
        for channel in left.topics + left.channels {
            change(channel) { roster in
                switch end {
                case .lost: roster.lose(caller.userID, session: session, now: now)
                case .loggedOut: roster.leave(caller.userID, session: session, now: now)
                case .superseded:
                    roster.leave(caller.userID, session: session, isSuperseded: true, now: now)
                }
            }
        }
    }

    // MARK: - States

    /// Behaves as `Roster.setStates` does.
    package mutating func setStates(
        _ caller: Caller, _ channel: ChannelKey, _ items: [StateItem], now: UInt64
    ) throws(RTMError) -> Int? {
        guard rosters.contains(channel) else { return nil }
        var outcome: Result<Int?, RTMError> = .success(nil)
        let limits = rules.states(in: channel.type)
        change(channel) { roster in
            outcome = Result { () throws(RTMError) in
                try roster.setStates(
                    caller.userID, session: caller.session.rawValue, items, limits, now: now)
            }
        }
        return try outcome.get()
    }

    package mutating func removeStates(
        _ caller: Caller, _ channel: ChannelKey, _ keys: [String], now: UInt64
    ) -> Int? {
        guard rosters.contains(channel) else { return nil }
        var cost: Int?
        change(channel) {
            cost = $0.removeStates(caller.userID, session: caller.session.rawValue, keys, now: now)
        }
        return cost
    }

    // MARK: - Queries

    package subscript(channel: ChannelKey) -> Roster? { rosters[channel] }

    /// The store has numbered the channel's events up to this one.
    package mutating func numbered(_ channel: ChannelKey, through number: UInt64) {
        guard rosters.contains(channel) else { return }
        rosters.change(channel) { $0.lastNumber = number }
    }

    /// The users for a subscriber. From now on changes of this channel have to be announced, because somebody
    /// knows its roster.
    package mutating func show(_ channel: ChannelKey) -> [UserState] {
        rosters.contains(channel) ? rosters.change(channel) { $0.show() } : []
    }

    /// The channels in which the user is visible (P-36).
    package func channels(of user: UserKey) -> [ChannelKey] {
        sorted(channels[user]).filter { channel in
            guard let member = rosters[channel]?[user.userID] else { return false }
            return !member.isLeaving && !member.entry.isQuiet
        }
    }

    // MARK: - Leases

    /// Whether no newer link of the edge has renewed the lease.
    func isNewest(_ link: EdgeLink) -> Bool {
        link.number == 0 || link.number >= leases[link.lease]?.link ?? 0
    }

    mutating func renew(_ link: EdgeLink, now: UInt64) -> Bool {
        let lease = link.lease
        dueLeases.set(now + rules.leaseTimeToLive, for: lease)
        leases[lease, default: Lease()].link = max(link.number, leases[lease]?.link ?? 0)
        // The edge's members have to be reported first: the edge may not have received the answer before this
        // one.
        return leases[lease]?.isKnown == true
    }

    package mutating func synced(_ lease: UInt64, except kept: Set<MemberKey>, now: UInt64) {
        loseMembers(under: lease, except: kept, now: now)
        leases[lease]?.isKnown = true
    }

    private mutating func loseMembers(under lease: UInt64, except kept: Set<MemberKey>, now: UInt64) {
        for user in (leases[lease]?.users.keys).map(Array.init) ?? [] {
            for channel in sorted(channels[user]) {
                guard let entry = rosters[channel]?[user.userID]?.entry, entry.lease == lease,
                    !kept.contains(MemberKey(channel: channel, user: entry.user, session: entry.session))
                else { continue }
                change(channel) { $0.lose(entry.user, session: entry.session, now: now) }
            }
        }
    }

    private mutating func addToLease(_ lease: UInt64, _ user: UserKey, _ now: UInt64) {
        name(lease, now)
        leases[lease]?.users[user, default: 0] += 1
    }

    /// A lease that the edge hasn't renewed yet ends by itself, too.
    private mutating func name(_ lease: UInt64, _ now: UInt64) {
        if dueLeases[lease] == nil { dueLeases.set(now + rules.leaseTimeToLive, for: lease) }
        if leases[lease] == nil { leases[lease] = Lease() }
    }

    private mutating func removeFromLease(_ lease: UInt64, _ user: UserKey) {
        guard let count = leases[lease]?.users[user] else { return }
        leases[lease]?.users[user] = count > 1 ? count - 1 : nil
        forgetIfOver(lease)
    }

    private mutating func forgetIfOver(_ lease: UInt64) {
        if dueLeases[lease] == nil, leases[lease]?.users.isEmpty == true { leases[lease] = nil }
    }

    // MARK: - Time

    /// Ends leases and does what is due in rosters. Gives the number of leases that ended.
    package mutating func advance(now: UInt64) -> Int {
        var ended = 0
        while let lease = dueLeases.popDue(now: now) {
            loseMembers(under: lease, except: [], now: now)
            leases[lease]?.isKnown = false
            forgetIfOver(lease)
            ended += 1
        }
        while let channel = dueRosters.popDue(now: now) {
            change(channel) { $0.advance(now: now) }
        }
        rosters.shrink(Self.placesPerSweep)
        return ended
    }

    // MARK: -

    /// Changes a roster and updates the indexes of users, leases and deadlines.
    private mutating func change(_ channel: ChannelKey, _ body: (inout Roster) -> Void) {
        let (events, gone, deadline, isEmpty) =
            rosters.change(channel) { $0.perform(body) }
        if !events.isEmpty || isEmpty { changed.append((channel, events)) }
        for entry in gone {
            let user = UserKey(appID: channel.appID, userID: entry.user)
            memberCount -= 1
            removeFromLease(entry.lease, user)
            channels[user]?.take(channel)
            if channels[user]?.isEmpty == true { channels[user] = nil }
        }
        dueRosters.set(deadline, for: channel)
        if isEmpty { rosters.remove(channel) }
    }

    /// Sorts the channels, so that the order doesn't depend on hash seeds.
    private func sorted(_ channels: OrderedSet<ChannelKey>?) -> [ChannelKey] {
        guard let channels else { return [] }
        guard channels.count > 1 else { return Array(channels) }
        return channels.sorted()
    }
}

extension OrderedSet {
    /// Removes a member in constant time, as the order of the others means nothing.
    fileprivate mutating func take(_ member: Element) {
        guard let index = firstIndex(of: member) else { return }
        swapAt(index, count - 1)
        removeLast()
    }
}

extension Roster {
    /// Changes the roster in place, and returns what came of it.
    fileprivate mutating func perform(
        _ body: (inout Roster) -> Void
    ) -> (events: [RosterEvent], gone: [Entry], deadline: UInt64?, isEmpty: Bool) {
        body(&self)
        return (takeEvents(), takeGone(), nextDeadline(), isEmpty)
    }
}
