// Knows who is in one subscribed channel, from a snapshot and the events that follow it.
//
// A snapshot names the position of the channel's log at which it is true. Presence events up to there are
// contained in it and passed over, and the later ones change it. A snapshot may come in several frames, and
// again at any time. Then it replaces everything (P-1, P-27). The roster is a value without I/O. It turns
// what it is given into the events for the app, each once, and into changes for those who watch the roster.

import RTMModel

struct ChannelRoster: Sendable {
    /// Limit: users of one snapshot. A bigger snapshot is dropped, and presence is reported as out of
    /// service.
    static let usersMax = 1_000_000

    /// A frame of a snapshot.
    struct Page: Sendable {
        var position: StreamPosition
        var users: [UserState]
        /// What this user has set, which the server may lack: it sets what waited for the subscription after
        /// the join, and forgets everything while a user is away for too long (P-41, P-42).
        var ownStates: [String: String] = [:]
        /// Further frames of this snapshot follow.
        var more: Bool
        var timestampMilliseconds: UInt64
    }

    struct Outcome: Sendable, Equatable {
        /// For the app, in this order.
        var events: [PresenceEvent] = []
        /// How `members` changed.
        var changes: [RosterChange] = []
    }

    private struct Arriving {
        var position: StreamPosition
        var users: [String: [String: String]] = [:]
        /// Events that are later than the snapshot, but came before its last frame.
        var held: [(offset: UInt64, update: PresenceUpdate)] = []
    }

    let channel: ChannelID
    /// The own user. It gets no event of what it did itself, and shows what it has set (P-8).
    let userID: String
    /// States by user id, or `nil` until the first snapshot is complete.
    private(set) var members: [String: [String: String]]?
    /// What the server shows of the own user, which may be less than the user sees of itself in `members`.
    /// `nil` if the server doesn't list it.
    private(set) var listedStates: [String: String]?
    /// The snapshot contains the presence events up to here.
    private var position: StreamPosition?
    /// The epoch of the log that events come from. An event of another log says nothing about a snapshot.
    private var epoch: UInt64?
    private var arriving: Arriving?
    /// Who has come with states, which are the next update, and when (P-46).
    private var coming: (userID: String, timestampMilliseconds: UInt64)?

    init(of channel: ChannelID, userID: String) {
        self.channel = channel
        self.userID = userID
    }

    /// The subscription runs in the log of this epoch from here on, perhaps on a new connection. A snapshot
    /// that was arriving comes anew.
    mutating func follow(epoch: UInt64) {
        arriving = nil
        coming = nil
        self.epoch = epoch
    }

    /// Others see the own subscription, or they don't because it is quiet. A snapshot says so itself.
    ///
    /// - Parameter states: what this user has set in the channel.
    mutating func showSelf(_ isShown: Bool, _ states: [String: String] = [:]) -> [RosterChange] {
        guard isShown else { return leave(userID, .left(userID)) }
        guard members?[userID] == nil else { return [] }
        return join(userID) + changeOwnStates { $0 = states }
    }

    // MARK: Snapshots

    mutating func received(_ page: Page) -> Outcome {
        var snapshot = Arriving(position: page.position)
        if let arriving {
            // A frame of another snapshot begins anew, but what happened since the earlier one still counts.
            if arriving.position == page.position {
                snapshot = arriving
            } else {
                snapshot.held = arriving.held
            }
        }
        // Now the users have one owner, and are added to in place.
        arriving = nil
        for user in page.users { snapshot.users[user.userID] = user.states }
        guard snapshot.users.count + snapshot.held.count <= Self.usersMax else {
            return outOfService(at: page.timestampMilliseconds)
        }
        guard !page.more else {
            arriving = snapshot
            return Outcome()
        }
        coming = nil
        position = page.position
        listedStates = snapshot.users[userID]
        snapshot.users[userID]?.merge(page.ownStates) { $1 }
        members = snapshot.users
        var outcome = Outcome(
            events: [event(.snapshot(snapshot.users.sortedUsers), at: page.timestampMilliseconds)],
            changes: [.replaced])
        for (offset, update) in snapshot.held {
            let next = received(update, offset: offset)
            outcome.events += next.events
            outcome.changes += next.changes
        }
        return outcome
    }

    /// Presence can't be given, so that nobody is known any more.
    mutating func outOfService(at milliseconds: UInt64) -> Outcome {
        arriving = nil
        coming = nil
        position = nil
        let wasKnown = members != nil
        members = nil
        listedStates = nil
        return Outcome(
            events: [event(.outage(.unavailable), at: milliseconds)],
            changes: wasKnown ? [.cleared] : [])
    }

    private func event(_ change: PresenceEvent.Change, at milliseconds: UInt64) -> PresenceEvent {
        PresenceEvent(
            channelType: channel.type, channelName: channel.name, change: change,
            timestampMilliseconds: milliseconds)
    }

    // MARK: Events

    mutating func received(_ update: PresenceUpdate, offset: UInt64) -> Outcome {
        if let arriving {
            // While a snapshot arrives, an event that it contains is passed over, and a later one comes
            // behind it.
            guard !isContained(offset, in: arriving.position) else { return Outcome() }
            self.arriving?.held.append((offset, update))
            return Outcome()
        }
        if let position, isContained(offset, in: position) { return Outcome() }
        guard let coming else { return received(update) }
        self.coming = nil
        if case .states(let change) = update.change, change.userID == coming.userID,
            coming.userID != userID, members?[coming.userID] == nil
        {
            return joined(change, at: coming.timestampMilliseconds)
        }
        let joined = received(
            PresenceUpdate(
                change: .joined(coming.userID), timestampMilliseconds: coming.timestampMilliseconds))
        let next = received(update)
        return Outcome(events: joined.events + next.events, changes: joined.changes + next.changes)
    }

    private mutating func received(_ update: PresenceUpdate) -> Outcome {
        if case .joinedWithStates(let user) = update.change {
            coming = (user, update.timestampMilliseconds)
            return Outcome()
        }
        let isChange = self.isChange(update.change)
        let changes = apply(update.change)
        guard isChange, let change = shown(update.change) else { return Outcome(changes: changes) }
        return Outcome(events: [event(change, at: update.timestampMilliseconds)], changes: changes)
    }

    /// Somebody comes, and nobody is shown the user without its states (P-46).
    private mutating func joined(
        _ change: PresenceUpdate.StateChange, at milliseconds: UInt64
    ) -> Outcome {
        let user = change.userID
        let states = change.applied(to: [:])
        members?[user] = states
        return Outcome(
            events: [event(.joined(user, states: states), at: milliseconds)],
            changes: members == nil ? [] : [.joined(user)])
    }

    /// What the app gets of a change that has been applied; `nil` if it gets nothing.
    private func shown(_ change: PresenceUpdate.Change) -> PresenceEvent.Change? {
        switch change {
        case .joined(let user), .joinedWithStates(let user):
            return user == userID ? nil : .joined(user)
        case .left(let user): return user == userID ? nil : .left(user)
        case .timedOut(let user): return user == userID ? nil : .timedOut(user)
        case .states(let change):
            return change.userID == userID ? nil : state(of: change.userID).map { .statesChanged($0) }
        case .interval(let interval):
            return .interval(
                PresenceInterval(
                    joined: interval.joined, left: interval.left, timedOut: interval.timedOut,
                    states: interval.states.compactMap { state(of: $0.userID) },
                    occupancy: members?.count))
        }
    }

    /// All states of a user (P-6), as far as they are known.
    private func state(of user: String) -> UserState? {
        members?[user].map { UserState(userID: user, states: $0) }
    }

    private func isContained(_ offset: UInt64, in position: StreamPosition) -> Bool {
        (epoch ?? position.epoch) == position.epoch && offset <= position.offset
    }

    /// After presence was started anew, and until its snapshot is here, an event may say that a user comes
    /// who has been there all the time, or that a user shows something who isn't there yet.
    private func isChange(_ change: PresenceUpdate.Change) -> Bool {
        guard let members else { return true }
        return switch change {
        case .joined(let user), .joinedWithStates(let user): members[user] == nil
        case .left(let user), .timedOut(let user): members[user] != nil
        case .states(let change): members[change.userID] != nil
        case .interval: true
        }
    }

    /// The own user has changed what it shows. It gets no event of that.
    mutating func changeOwnStates(_ change: (inout [String: String]) -> Void) -> [RosterChange] {
        guard let shown = members?[userID] else { return [] }
        var states = shown
        change(&states)
        guard states != shown else { return [] }
        members?[userID] = states
        return [.statesChanged(UserState(userID: userID, states: states))]
    }

    private mutating func apply(_ change: PresenceUpdate.Change) -> [RosterChange] {
        switch change {
        case .joined(let user), .joinedWithStates(let user): join(user)
        case .left(let user): leave(user, .left(user))
        case .timedOut(let user): leave(user, .timedOut(user))
        case .states(let change): show(change)
        case .interval(let interval):
            interval.joined.flatMap { join($0) }
                + interval.left.flatMap { leave($0, .left($0)) }
                + interval.timedOut.flatMap { leave($0, .timedOut($0)) }
                + interval.states.flatMap { show($0) }
        }
    }

    private mutating func join(_ user: String) -> [RosterChange] {
        guard members != nil else { return [] }
        if user == userID {
            listedStates = [:]
            // What this user has set is set again, so that it doesn't see itself without.
            if members?[user] != nil { return [] }
        }
        guard let shown = members?.updateValue([:], forKey: user) else { return [.joined(user)] }
        return shown.isEmpty ? [] : [.statesChanged(UserState(userID: user))]
    }

    private mutating func leave(_ user: String, _ change: RosterChange) -> [RosterChange] {
        if user == userID { listedStates = nil }
        return members?.removeValue(forKey: user) == nil ? [] : [change]
    }

    /// The own states come from the own calls, because an event of an earlier call may be late.
    private mutating func show(_ change: PresenceUpdate.StateChange) -> [RosterChange] {
        let user = change.userID
        guard user != userID, let shown = members?[user] else { return [] }
        let states = change.applied(to: shown)
        guard states != shown else { return [] }
        members?[user] = states
        return [.statesChanged(UserState(userID: user, states: states))]
    }
}

extension [String: [String: String]] {
    /// The users by id, in the order of the bytes, which are all ASCII.
    var sortedUsers: [UserState] {
        map { UserState(userID: $0.key, states: $0.value) }.sorted { $0.userID < $1.userID }
    }
}
