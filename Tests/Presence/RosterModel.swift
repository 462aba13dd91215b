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
        case joined(String)
        case left(String)
        case timedOut(String)
        case states(String, [StateItem])

        var isStates: Bool { if case .states = self { true } else { false } }

        var user: String {
            switch self {
            case .joined(let user), .left(let user), .timedOut(let user), .states(let user, _): user
            }
        }
    }

    let rules: AnnounceRules
    var people: [Person] = []
    var batch: [Happening] = []
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
            if old.phase == .online, old.entry.session != entry.session, entry.claim > 0,
                old.entry.claim > entry.claim
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
                if old.entry.isQuiet, !entry.isQuiet {
                    happen(.joined(entry.user), except: entry.session, now)
                    if !old.states.isEmpty { tellStates(entry.user, now) }
                } else if !old.entry.isQuiet, entry.isQuiet {
                    happen(.left(entry.user), except: entry.session, now)
                } else if hadStates, !entry.isQuiet {
                    tellStates(entry.user, now)
                }
                return
            }
            people.remove(at: place)
            if !old.entry.isQuiet { happen(.left(entry.user), except: entry.session, now) }
        }
        people.append(Person(entry: entry))
        if !entry.isQuiet { happen(.joined(entry.user), except: entry.session, now) }
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
        if !people[place].entry.isQuiet { tellStates(user, now) }
        return true
    }

    mutating func removeStates(_ user: String, session: UInt64, _ keys: [String], now: UInt64) -> Bool {
        guard let place = place(user, session) else { return false }
        for key in keys.isEmpty ? Array(people[place].states.keys) : keys {
            people[place].states[key] = nil
        }
        if !people[place].entry.isQuiet { tellStates(user, now) }
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
        if let batchEnd, batchEnd <= now { flush() }
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

    private mutating func tellStates(_ user: String, _ now: UInt64) {
        guard let person = people.first(where: { $0.entry.user == user }) else { return }
        happen(.states(user, person.state.items), except: person.entry.session, now)
    }

    private mutating func happen(_ happening: Happening, except session: UInt64, _ now: UInt64) {
        // A takeover passes through a moment in which the user isn't there.
        var count = visible.count
        if case .joined = happening {
        } else if case .states = happening {
        } else {
            count = visible.filter { $0.entry.user != happening.user }.count
        }
        let shallBeInterval = count > rules.announceMax
        if isInterval, !shallBeInterval { flush() }
        isInterval = shallBeInterval
        if isInterval {
            batch.append(happening)
            batchEnd = batchEnd ?? now + rules.interval
            return
        }
        let event: PresenceEvent =
            switch happening {
            case .joined: .joined
            case .left: .left
            case .timedOut: .timedOut
            case .states(_, let items): .statesChanged(items)
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

    private mutating func flush() {
        batchEnd = nil
        guard !batch.isEmpty else { return }
        var interval = PresenceInterval()
        let moved = Set(batch.map(\.user)).sorted().map { user in
            (user, batch.filter { $0.user == user && !$0.isStates })
        }.filter { !$1.isEmpty }
        for kind in 1...5 {
            for (user, moves) in moved where Self.kind(of: moves) == kind {
                if kind <= 3 { interval.joined.append(user) }
                if kind == 2 || kind == 4 { interval.left.append(user) }
                if kind == 3 || kind == 5 { interval.timedOut.append(user) }
            }
        }
        let gone = Set(interval.left + interval.timedOut)
        var departed: Set<String> = []
        for happening in batch {
            switch happening {
            case .left(let user), .timedOut(let user): departed.insert(user)
            case .joined(let user):
                if departed.contains(user), !gone.contains(user) {
                    interval.states.append(UserState(userID: user))
                }
            case .states(let user, let items):
                if !gone.contains(user) { interval.states.append(UserState(userID: user, items: items)) }
            }
        }
        batch = []
        if interval != PresenceInterval() {
            events.append(RosterEvent(.interval(interval), user: "", exceptSession: 0))
        }
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
        case .joined: users[event.user] = []
        case .left, .timedOut: users[event.user] = nil
        case .statesChanged(let items): users[event.user] = items
        case .interval(let interval):
            for user in interval.joined where users[user] == nil { users[user] = [] }
            for user in interval.left + interval.timedOut { users[user] = nil }
            for state in interval.states where users[state.userID] != nil {
                users[state.userID] = state.items
            }
        }
    }

    var states: [UserState] { users.map { UserState(userID: $0, items: $1) }.sorted() }
}
