package import RTMModel
package import RTMWire

/// Who is in one channel, and which events its subscribers get about it (P-1 to P-27). Pure: every call gets
/// the time in milliseconds, and the caller takes the events with `takeEvents`.
///
/// A member has one of three phases. It is **online**. It is **away** from the loss of its session until
/// its presence timeout, and nobody is informed of that (S-42 to S-44). It is **leaving** when it has left
/// and the leave is held back for a quick return (P-25). Queries show members that are online or away. A
/// snapshot shows all three, because it must agree with the events that follow it, and a return within the
/// debounce time is not an event.
package struct Roster: Sendable {
    package enum Phase: Sendable, Hashable {
        case online
        case away(until: UInt64)
        /// `hadStates`: the loss of the states is announced if the user returns.
        case leaving(until: UInt64, hadStates: Bool)
    }

    package struct Member: Sendable {
        package fileprivate(set) var entry: Entry
        package fileprivate(set) var phase = Phase.online
        /// The states in the order of their keys.
        package fileprivate(set) var states: [StateItem] = []

        package var isLeaving: Bool {
            if case .leaving = phase { true } else { false }
        }
    }

    private var rules: AnnounceRules
    private var members = RosterMembers()
    /// How many members other users know of: those that aren't quiet, including the leaving ones.
    private var visibleCount = 0
    private var batch = IntervalBatch()
    private var deadlines = DeadlineQueue<String>()
    private var events: [RosterEvent] = []
    /// The members that have gone since `takeGone` was last called.
    private var gone: [Entry] = []
    private var flushAt: UInt64?
    private var isInterval = false
    /// Whether a subscriber has received a snapshot.
    package private(set) var isShown = false
    /// The number that the store gave the last event of the channel.
    package var lastNumber: UInt64 = 0

    package init(_ rules: AnnounceRules) { self.rules = rules }

    package var isEmpty: Bool { members.isEmpty && batch.isEmpty }
    package var memberCount: Int { members.count }
    /// How many users are online (P-32). Quiet users aren't counted (M-7).
    package var onlineCount: Int { members.listedCount }
    package subscript(user: String) -> Member? { members[user] }

    package mutating func takeEvents() -> [RosterEvent] {
        defer { events = [] }
        return events
    }

    package mutating func takeGone() -> [Entry] {
        defer { gone = [] }
        return gone
    }

    // MARK: - Coming

    /// A session's user comes into the channel, returns, or becomes quiet or visible.
    ///
    /// - Parameters:
    ///   - statesMax: how many states the user may have.
    ///   - silently: whether the other users know of this user already, because the roster is filled again.
    /// - Returns: the cost of the entry's states (`announce`); nil if they weren't set.
    @discardableResult
    package mutating func enter(
        _ entry: Entry, statesMax: Int = .max, silently: Bool = false, now: UInt64
    ) -> Int? {
        var entry = entry
        let states = entry.states
        entry.states = []
        guard let present = members[entry.user] else {
            return arrive(entry, states, statesMax, silently: silently, now)
        }
        guard !hasNewer(than: entry) else { return nil }
        let isSame =
            present.entry.session == entry.session
            || (entry.instance != 0 && present.entry.instance == entry.instance)
        guard isSame || present.isLeaving else {
            // Another client object of the same user takes over, so the earlier session leaves (S-12).
            depart(entry.user, .left, except: entry.session, now)
            return arrive(entry, states, statesMax, silently: false, now)
        }
        return comeBack(present, as: entry, states, statesMax, now)
    }

    /// Whether a newer login of the user is online in the channel: what comes of an older session comes late,
    /// perhaps over an edge that doesn't know yet that it was superseded (S-12).
    package func hasNewer(than entry: Entry) -> Bool {
        guard let present = members[entry.user], present.phase == .online else { return false }
        return present.entry.isNewer(than: entry)
    }

    private mutating func arrive(
        _ entry: Entry, _ states: [StateItem], _ statesMax: Int, silently: Bool, _ now: UInt64
    ) -> Int? {
        let areSet = states.count <= statesMax
        let member = Member(entry: entry, states: areSet ? states : [])
        members[entry.user] = member
        let cost = entry.isQuiet ? 0 : appear(member, silently: silently, now)
        return areSet ? cost : nil
    }

    /// The user returns in time: the states are kept, and there is no event but of those that the user brings
    /// and didn't show before (S-43). A session that is in the channel already keeps the states that it has,
    /// because a call may have changed them while its subscribe, or the report of its edge, was on the way
    /// (P-46).
    private mutating func comeBack(
        _ present: Member, as entry: Entry, _ states: [StateItem], _ statesMax: Int, _ now: UInt64
    ) -> Int? {
        var changed = states.filter { !present.states.contains($0) }
        let merged = StateLimits.merge(changed, into: present.states)
        let isKnown = present.entry.session == entry.session && !present.isLeaving
        let areSet = changed.isEmpty || !isKnown && merged.count <= statesMax
        if !areSet { changed = [] }
        let member = Member(entry: entry, states: areSet ? merged : present.states)
        members[entry.user] = member
        deadlines.set(nil, for: entry.user)
        var cost = 0
        switch (present.entry.isQuiet, entry.isQuiet) {
        case (false, false):
            if case .leaving(_, let hadStates) = present.phase {
                if hadStates || !member.states.isEmpty { cost = announceAllStates(of: member, now) }
            } else if !changed.isEmpty {
                cost = announce(StateChange(items: changed), of: entry, now)
            }
        case (true, false): cost = appear(member, silently: false, now)
        case (false, true): disappear(entry.user, .left, except: entry.session, now)
        case (true, true): break
        }
        return areSet ? cost : nil
    }

    // MARK: - Going

    /// The session has unsubscribed or logged out. The leave isn't held back if the session was superseded
    /// (S-12).
    package mutating func leave(_ user: String, session: UInt64, isSuperseded: Bool = false, now: UInt64) {
        guard var member = members[user], member.entry.session == session, !member.isLeaving else { return }
        guard !member.entry.isQuiet, !isSuperseded, rules.debounce > 0 else {
            return depart(user, .left, except: session, now)
        }
        // The states are gone at once (M-6).
        member.phase = .leaving(until: now + rules.debounce, hadStates: !member.states.isEmpty)
        member.states = []
        members[user] = member
        deadlines.set(now + rules.debounce, for: user)
    }

    /// The session is lost. From now on its user has the presence timeout to come back (S-42).
    package mutating func lose(_ user: String, session: UInt64, now: UInt64) {
        guard let member = members[user], member.entry.session == session, member.phase == .online else {
            return
        }
        let until = now + member.entry.timeout
        members[user]?.phase = .away(until: until)
        deadlines.set(until, for: user)
    }

    private mutating func depart(
        _ user: String, _ cause: IntervalBatch.LeaveCause, except session: UInt64, _ now: UInt64
    ) {
        guard let member = members[user] else { return }
        members[user] = nil
        deadlines.set(nil, for: user)
        gone.append(member.entry)
        if !member.entry.isQuiet { disappear(user, cause, except: session, now) }
    }

    // MARK: - Time

    /// When `advance` has something to do, or nil if there is nothing to wait for.
    package mutating func nextDeadline() -> UInt64? {
        switch (deadlines.next(), flushAt) {
        case (let first?, let second?): min(first, second)
        case (let first, let second): first ?? second
        }
    }

    package mutating func advance(now: UInt64) {
        while let user = deadlines.popDue(now: now) {
            switch members[user]?.phase {
            case .away: depart(user, .timedOut, except: 0, now)
            case .leaving: depart(user, .left, except: 0, now)
            case .online, nil: break
            }
        }
        if let flushAt, flushAt <= now {
            flush(now)
            isInterval = shallBeInterval
        }
    }

    // MARK: - States

    /// Merges items, in the order of their keys, into the states of the session's user (P-40). Returns the
    /// cost (`announce`), or `nil` when that session isn't in the channel.
    ///
    /// - Throws: `.presenceStateCountOverflow` (-13005) when the user would have too many states (L-31).
    package mutating func setStates(
        _ user: String, session: UInt64, _ items: [StateItem], _ limits: StateLimits, now: UInt64
    ) throws(RTMError) -> Int? {
        guard let member = members[user], member.entry.session == session, !member.isLeaving else {
            return nil
        }
        let states = StateLimits.merge(items, into: member.states)
        guard states.count <= limits.countMax else { throw limits.tooMany(states.count) }
        members[user]?.states = states
        return announce(StateChange(items: items), of: member.entry, now)
    }

    /// Removes the named states of the session's user, or all states when no key is named (P-44). Returns
    /// what `setStates` returns.
    package mutating func removeStates(
        _ user: String, session: UInt64, _ keys: [String], now: UInt64
    ) -> Int? {
        guard let member = members[user], member.entry.session == session, !member.isLeaving else {
            return nil
        }
        guard !keys.isEmpty else {
            members[user]?.states = []
            return announce(StateChange(isWhole: true), of: member.entry, now)
        }
        let named = Set(keys)
        members[user]?.states = member.states.filter { !named.contains($0.key) }
        // A key that the user doesn't have isn't passed on: nothing bounds how many of them a call names.
        let removed = member.states.lazy.map(\.key).filter(named.contains)
        return announce(StateChange(removed: Array(removed)), of: member.entry, now)
    }

    // MARK: - Queries

    /// The states of a user; nil for a user who isn't in the channel (P-43), and for another user who is
    /// quiet (P-45).
    package func states(of user: String, askedBy asker: String) -> [StateItem]? {
        guard let member = members[user], !member.isLeaving, !member.entry.isQuiet || user == asker else {
            return nil
        }
        return member.states
    }

    /// Users that come after the given one, in the order of their bytes (P-35).
    package func users(after user: String?, countMax: Int) -> [UserState] {
        members.names(after: user, countMax: countMax)
            .map { UserState(userID: $0, items: members[$0]?.states ?? []) }
    }

    /// The snapshot for a subscriber. From now on somebody knows this roster.
    package mutating func show() -> [UserState] {
        isShown = true
        return snapshot()
    }

    /// The users in the channel according to the events so far (P-1), in the order of their bytes.
    package func snapshot() -> [UserState] {
        let present = users(after: nil, countMax: members.count)
        guard visibleCount > present.count else { return present }
        let leaving = members.all.filter { $0.isLeaving }.map { UserState(userID: $0.entry.user) }
        return (present + leaving).sorted { $0.userID < $1.userID }
    }

    /// Members under a lease.
    package func members(under lease: UInt64) -> [Entry] {
        members.all.map(\.entry).filter { $0.lease == lease }
    }
}

// MARK: - Events for other users

extension Roster {
    /// The states with which a user comes are the event behind that of the join, or stand in the same
    /// interval (P-46). Returns their cost (`announce`).
    private mutating func appear(_ member: Member, silently: Bool, _ now: UInt64) -> Int {
        visibleCount += 1
        chooseMode(now)
        guard !silently else { return 0 }
        let (user, hasStates) = (member.entry.user, !member.states.isEmpty)
        if isInterval {
            batch.joined(user)
            scheduleFlush(now)
        } else {
            let event: PresenceEvent = hasStates ? .joinedWithStates : .joined
            events.append(RosterEvent(event, user: user, exceptSession: member.entry.session))
        }
        return hasStates ? announceAllStates(of: member, now) : 0
    }

    private mutating func disappear(
        _ user: String, _ cause: IntervalBatch.LeaveCause, except session: UInt64, _ now: UInt64
    ) {
        visibleCount -= 1
        batch.forgetStates(of: user)
        chooseMode(now)
        guard isInterval else {
            let event: PresenceEvent = cause == .left ? .left : .timedOut
            return events.append(RosterEvent(event, user: user, exceptSession: session))
        }
        batch.departed(user, cause)
        scheduleFlush(now)
    }

    private mutating func announceAllStates(of member: Member, _ now: UInt64) -> Int {
        announce(StateChange(items: member.states, isWhole: true), of: member.entry, now)
    }

    /// Returns the cost: the bytes of the event, times the users who get it. What is collected costs nothing,
    /// because an interval has a bound of its own.
    private mutating func announce(_ change: StateChange, of entry: Entry, _ now: UInt64) -> Int {
        guard !entry.isQuiet else { return 0 }
        guard isInterval else {
            events.append(RosterEvent(.statesChanged(change), user: entry.user, exceptSession: entry.session))
            return change.cost * (members.count - 1)
        }
        batch.statesChanged(change, of: entry.user)
        scheduleFlush(now)
        return 0
    }

    /// While states wait that didn't fit into the last interval, a channel stays in interval mode, so that
    /// all that was collected comes before the first single event (P-26).
    private var shallBeInterval: Bool { visibleCount > rules.announceMax || !batch.isEmpty }

    /// Chooses between announcing each change and interval mode (P-21). The pending batch is flushed before
    /// the first event of the other mode (P-26).
    private mutating func chooseMode(_ now: UInt64) {
        if isInterval, visibleCount == rules.announceMax { flush(now) }
        isInterval = shallBeInterval
    }

    private mutating func scheduleFlush(_ now: UInt64) {
        if batch.isFull { flushAt = now }
        if flushAt == nil { flushAt = now + rules.interval }
    }

    private mutating func flush(_ now: UInt64) {
        let members = self.members
        let intervals = batch.take(statesBytesMax: rules.statesBytesMax) { members[$0]?.states ?? [] }
        events += intervals.map { RosterEvent(.interval($0), user: "", exceptSession: 0) }
        flushAt = batch.isEmpty ? nil : now + rules.interval
    }
}
