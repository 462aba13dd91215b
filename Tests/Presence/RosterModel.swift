import RTMModel
import RTMWire

@testable import RTMPresenceServer

/// The rules of behaviour.md, section 5, in the plainest form, for one channel: lists that are searched from
/// end to end, and a batch that remembers everything and decides at its end what to announce.
struct RosterModel {
    enum Phase: Equatable {
        case online
        case away(UInt64)
        case leaving(UInt64, hadStates: Bool)
    }

    struct Person {
        var entry: Entry
        var phase = Phase.online
        var states: [String: String] = [:]
    }

    enum Happening {
        case joined(String, hasStates: Bool)
        case left(String)
        case timedOut(String)
        case states(String, StateChange)

        var isStates: Bool { if case .states = self { true } else { false } }
        var isLeave: Bool {
            switch self {
            case .left, .timedOut: true
            case .joined, .states: false
            }
        }

        var user: String {
            switch self {
            case .joined(let user, _), .left(let user), .timedOut(let user), .states(let user, _): user
            }
        }
    }

    let rules: AnnounceRules
    var people: [Person] = []
    var batch: [Happening] = []
    /// The changes of states that no interval has announced yet; `nil` stands for all states of the user.
    var unannounced: [(user: String, keys: Set<String>?)] = []
    /// The user who was the last one to fit into an interval.
    var lastTurn: String?
    var batchEnd: UInt64?
    var isInterval = false
    var events: [RosterEvent] = []

    var visible: [Person] { people.filter { !$0.entry.isQuiet } }
    var listed: [UserState] {
        visible.filter { if case .leaving = $0.phase { false } else { true } }.map(\.state).sorted()
    }
    var snapshot: [UserState] { visible.map(\.state).sorted() }

    mutating func enter(_ entry: Entry, now: UInt64) {
        if let place = people.firstIndex(where: { $0.entry.user == entry.user }) {
            let old = people[place]
            if old.phase == .online, old.entry.session != entry.session, entry.ownership > 0,
                old.entry.ownership > entry.ownership
            {
                return
            }
            var isBack = old.entry.session == entry.session
            if entry.instance != 0, entry.instance == old.entry.instance { isBack = true }
            var hadStates = false
            if case .leaving(_, let had) = old.phase { (isBack, hadStates) = (true, had) }
            if isBack {
                people[place].entry = entry
                people[place].phase = .online
                var isLeaving = false
                if case .leaving = old.phase { isLeaving = true }
                // A session that is there already keeps what it shows (P-46).
                let isKnown = old.entry.session == entry.session && !isLeaving
                let changed = isKnown ? [] : entry.states.filter { old.states[$0.key] != $0.value }
                for item in changed { people[place].states[item.key] = item.value }
                let isEmpty = people[place].states.isEmpty
                if old.entry.isQuiet, !entry.isQuiet {
                    come(entry, now)
                } else if !old.entry.isQuiet, entry.isQuiet {
                    happen(.left(entry.user), except: entry.session, now)
                } else if case .leaving = old.phase {
                    if hadStates || !isEmpty { announceAllStates(entry.user, now) }
                } else if !changed.isEmpty {
                    announce(StateChange(items: changed), place, now)
                }
                return
            }
            people.remove(at: place)
            if !old.entry.isQuiet { happen(.left(entry.user), except: entry.session, now) }
        }
        let states = entry.states.map { ($0.key, $0.value) }
        people.append(Person(entry: entry, states: Dictionary(uniqueKeysWithValues: states)))
        if !entry.isQuiet { come(entry, now) }
    }

    /// The user brings its states along (P-46).
    private mutating func come(_ entry: Entry, _ now: UInt64) {
        let hasStates = people.contains { $0.entry.user == entry.user && !$0.states.isEmpty }
        happen(.joined(entry.user, hasStates: hasStates), except: entry.session, now)
        if hasStates { announceAllStates(entry.user, now) }
    }

    mutating func leave(_ user: String, session: UInt64, isSuperseded: Bool, now: UInt64) {
        guard let place = place(user, session) else { return }
        if people[place].entry.isQuiet || isSuperseded || rules.debounce == 0 {
            go(place, .left(user), except: session, now)
        } else {
            people[place].phase = .leaving(now + rules.debounce, hadStates: !people[place].states.isEmpty)
            people[place].states = [:]
        }
    }

    mutating func lose(_ user: String, session: UInt64, now: UInt64) {
        guard let place = place(user, session), people[place].phase == .online else { return }
        people[place].phase = .away(now + people[place].entry.timeout)
    }

    mutating func setStates(_ user: String, session: UInt64, _ items: [StateItem], now: UInt64) -> Bool {
        guard let place = place(user, session) else { return false }
        for item in items { people[place].states[item.key] = item.value }
        announce(StateChange(items: items), place, now)
        return true
    }

    mutating func removeStates(_ user: String, session: UInt64, _ keys: [String], now: UInt64) -> Bool {
        guard let place = place(user, session) else { return false }
        let removed = keys.filter { people[place].states[$0] != nil }.sorted()
        for key in keys.isEmpty ? Array(people[place].states.keys) : keys {
            people[place].states[key] = nil
        }
        announce(keys.isEmpty ? StateChange(isWhole: true) : StateChange(removed: removed), place, now)
        return true
    }

    /// Does everything up to now in the order of its times.
    mutating func advance(now: UInt64) {
        while let place = people.indices.filter({ due($0) != nil })
            .min(by: { (due($0) ?? 0, people[$0].entry.user) < (due($1) ?? 0, people[$1].entry.user) }),
            let time = due(place), time <= now
        {
            let user = people[place].entry.user
            if case .away = people[place].phase {
                go(place, .timedOut(user), except: 0, now)
            } else {
                go(place, .left(user), except: 0, now)
            }
        }
        if let batchEnd, batchEnd <= now {
            flush(now)
            isInterval = visible.count > rules.announceMax || !unannounced.isEmpty
        }
    }

    // MARK: -

    private func due(_ place: Int) -> UInt64? {
        switch people[place].phase {
        case .online: nil
        case .away(let time), .leaving(let time, _): time
        }
    }

    private func place(_ user: String, _ session: UInt64) -> Int? {
        people.firstIndex { person in
            if case .leaving = person.phase { return false }
            return person.entry.user == user && person.entry.session == session
        }
    }

    private mutating func go(_ place: Int, _ happening: Happening, except session: UInt64, _ now: UInt64) {
        let person = people.remove(at: place)
        if !person.entry.isQuiet { happen(happening, except: session, now) }
    }

    private mutating func announceAllStates(_ user: String, _ now: UInt64) {
        guard let place = people.firstIndex(where: { $0.entry.user == user }) else { return }
        announce(StateChange(items: people[place].state.items, isWhole: true), place, now)
    }

    private mutating func announce(_ change: StateChange, _ place: Int, _ now: UInt64) {
        let entry = people[place].entry
        if !entry.isQuiet { happen(.states(entry.user, change), except: entry.session, now) }
    }

    private mutating func happen(_ happening: Happening, except session: UInt64, _ now: UInt64) {
        // A takeover passes through a moment in which the user isn't there.
        var count = visible.count
        if case .joined = happening {
        } else if case .states = happening {
        } else {
            count = visible.filter { $0.entry.user != happening.user }.count
        }
        if happening.isLeave { unannounced.removeAll { $0.user == happening.user } }
        if !happening.isStates {
            if isInterval, count == rules.announceMax { flush(now) }
            isInterval = count > rules.announceMax || !batch.isEmpty || !unannounced.isEmpty
        }
        if isInterval {
            switch happening {
            case .states(let user, let change) where change.isWhole: unannounced.append((user, nil))
            case .states(let user, let change):
                let keys = Set(change.items.map(\.key) + change.removed)
                if !keys.isEmpty { unannounced.append((user, keys)) }
            case .joined(let user, _):
                // Subscribers have the states from before the user went.
                let before = batch.last { $0.user == user }
                if before?.isLeave == true { unannounced.append((user, nil)) }
                batch.append(happening)
            case .left, .timedOut: batch.append(happening)
            }
            batchEnd = batchEnd ?? now + rules.interval
            return
        }
        let event: PresenceEvent =
            switch happening {
            case .joined(_, let hasStates): hasStates ? .joinedWithStates : .joined
            case .left: .left
            case .timedOut: .timedOut
            case .states(_, let change): .statesChanged(change)
            }
        events.append(RosterEvent(event, user: happening.user, exceptSession: session))
    }

    /// 1 joined; 2 joined and left; 3 joined and timed out; 4 left; 5 timed out.
    private static func kind(of moves: [Happening]) -> Int {
        let hasJoined = moves.contains { if case .joined = $0 { true } else { false } }
        return switch moves.last {
        case .left: hasJoined ? 2 : 4
        case .timedOut: hasJoined ? 3 : 5
        default: 1
        }
    }

    private mutating func flush(_ now: UInt64) {
        var interval = PresenceInterval()
        let moved = Set(batch.map(\.user)).sorted().map { user in
            (user, batch.filter { $0.user == user })
        }
        for kind in 1...5 {
            for (user, moves) in moved where Self.kind(of: moves) == kind {
                if kind <= 3 { interval.joined.append(user) }
                if kind == 2 || kind == 4 { interval.left.append(user) }
                if kind == 3 || kind == 5 { interval.timedOut.append(user) }
            }
        }
        batch = []
        interval.states = takeStates()
        batchEnd = unannounced.isEmpty ? nil : now + rules.interval
        if interval != PresenceInterval() {
            events.append(RosterEvent(.interval(interval), user: "", exceptSession: 0))
        }
    }

    /// The next users in turn whose changes fit into an interval, at least one.
    private mutating func takeStates() -> [StateChange] {
        let users = Set(unannounced.map(\.user)).sorted()
        let behind = users.filter { $0 > lastTurn ?? "" }
        var taken: [StateChange] = []
        for user in behind + users.filter({ !behind.contains($0) }) {
            let change = change(of: user)
            let bytes = (taken + [change]).map(\.cost).reduce(0, +)
            if !taken.isEmpty, bytes > rules.statesBytesMax { break }
            taken.append(change)
        }
        unannounced.removeAll { entry in taken.contains { $0.userID == entry.user } }
        lastTurn = unannounced.isEmpty ? nil : taken.last?.userID
        return taken
    }

    private func change(of user: String) -> StateChange {
        let states = people.first { $0.entry.user == user }?.state.items ?? []
        let changed = unannounced.filter { $0.user == user }.map(\.keys)
        guard !changed.contains(nil) else { return StateChange(userID: user, items: states, isWhole: true) }
        let keys = Set(changed.flatMap { $0 ?? [] })
        return StateChange(
            userID: user, items: states.filter { keys.contains($0.key) },
            removed: keys.filter { key in !states.contains { $0.key == key } }.sorted())
    }
}

extension RosterModel.Person {
    var state: UserState {
        UserState(
            userID: entry.user,
            items: states.sorted { $0.key < $1.key }.map { StateItem(key: $0.key, value: $0.value) })
    }
}

extension [UserState] {
    func sorted() -> [UserState] { sorted { $0.userID < $1.userID } }
}

/// The users as a subscriber sees them: a snapshot and the events after it.
struct SubscriberView {
    private(set) var users: [String: [StateItem]]

    init(_ snapshot: [UserState]) {
        users = Dictionary(uniqueKeysWithValues: snapshot.map { ($0.userID, $0.items) })
    }

    mutating func receive(_ event: RosterEvent) {
        switch event.event {
        case .joined, .joinedWithStates: users[event.user] = []
        case .left, .timedOut: users[event.user] = nil
        case .statesChanged(let change): apply(change, to: event.user)
        case .interval(let interval):
            for user in interval.joined where users[user] == nil { users[user] = [] }
            for user in interval.left + interval.timedOut { users[user] = nil }
            for change in interval.states { apply(change, to: change.userID) }
        }
    }

    private mutating func apply(_ change: StateChange, to user: String) {
        guard let known = users[user] else { return }
        let kept = change.isWhole ? [] : known.filter { !change.removed.contains($0.key) }
        users[user] = StateLimits.merge(change.items, into: kept)
    }

    var states: [UserState] { users.map { UserState(userID: $0, items: $1) }.sorted() }
}
