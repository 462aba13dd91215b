import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// A server with one channel, as simple as possible: it knows who is there now and what happened.
private struct NaiveServer {
    static let names = (0..<8).map { "user\($0)" }

    var members: [String: [String: String]] = [:]
    var log: [(offset: UInt64, update: PresenceUpdate)] = []

    var head: UInt64 { log.last?.offset ?? 0 }

    mutating func step(_ random: inout SeededGenerator) {
        guard !random.chance(1, in: 4) else { return batch(&random) }
        guard let change = change(&random) else { return }
        guard case .joined(let user) = change, random.chance(1, in: 2) else { return append(change) }
        let states = ["key0": "brought"]
        members[user] = states
        append(.joinedWithStates(user))
        append(.states(.init(userID: user, items: states, isWhole: true)))
    }

    private mutating func append(_ change: PresenceUpdate.Change) {
        // Messages lie between presence events.
        let offset = head + 1 + UInt64(log.count % 3)
        log.append((offset, PresenceUpdate(change: change, timestampMilliseconds: offset)))
    }

    private mutating func change(_ random: inout SeededGenerator) -> PresenceUpdate.Change? {
        guard let user = Self.names.randomElement(using: &random) else { return nil }
        guard members[user] != nil else {
            members[user] = [:]
            return .joined(user)
        }
        let key = "key\(Int.random(in: 0..<3, using: &random))"
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            members[user] = nil
            return .left(user)
        case 1:
            members[user] = nil
            return .timedOut(user)
        case 2:
            let isThere = members[user]?.removeValue(forKey: key) != nil
            return .states(.init(userID: user, removed: isThere ? [key] : []))
        case 3:
            members[user] = [key: "whole"]
            return .states(.init(userID: user, items: [key: "whole"], isWhole: true))
        default:
            let value = "\(random.next() % 5)"
            members[user]?[key] = value
            return .states(.init(userID: user, items: [key: value]))
        }
    }

    /// Several changes as one interval, each user at most once.
    private mutating func batch(_ random: inout SeededGenerator) {
        var interval = PresenceUpdate.Interval()
        var seen: Set<String> = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let before = members
            guard let change = change(&random), let user = change.user, seen.insert(user).inserted else {
                members = before
                continue
            }
            switch change {
            case .joined: interval.joined.append(user)
            case .left: interval.left.append(user)
            case .timedOut: interval.timedOut.append(user)
            case .states(let change): interval.states.append(change)
            case .interval, .joinedWithStates: break
            }
        }
        append(.interval(interval))
    }

    /// The channel as it is now, cut into frames of a random order.
    func snapshot(_ random: inout SeededGenerator) -> [ChannelRoster.Page] {
        var users = members.sortedUsers.shuffled(using: &random)
        var pages: [ChannelRoster.Page] = []
        repeat {
            let count = min(users.count, Int.random(in: 1...4, using: &random))
            pages.append(
                ChannelRoster.Page(
                    position: StreamPosition(epoch: 1, offset: head), users: Array(users.prefix(count)),
                    more: true, timestampMilliseconds: head))
            users.removeFirst(count)
        } while !users.isEmpty
        pages[pages.count - 1].more = false
        return pages
    }
}

extension PresenceUpdate.Change {
    fileprivate var user: String? {
        switch self {
        case .joined(let user), .joinedWithStates(let user), .left(let user), .timedOut(let user): user
        case .states(let change): change.userID
        case .interval: nil
        }
    }
}

/// One app that believes nothing but the events, and one that watches updates.
private struct Followers {
    var shown: [String: [String: String]]?
    var watched = RosterUpdate(members: [:], changes: [])

    mutating func receive(_ outcome: ChannelRoster.Outcome, _ members: [String: [String: String]]?) {
        for event in outcome.events { receive(event.change) }
        guard !outcome.changes.isEmpty else { return }
        watched.merge(RosterUpdate(members: members ?? [:], changes: outcome.changes))
    }

    private mutating func receive(_ change: PresenceEvent.Change) {
        switch change {
        case .snapshot(let users): shown = Dictionary(users.map { ($0.userID, $0.states) }) { $1 }
        case .joined(let user, let states): shown?[user] = states
        case .left(let user), .timedOut(let user): shown?[user] = nil
        case .statesChanged(let user): shown?[user.userID] = user.states
        case .interval(let interval):
            for user in interval.joined { shown?[user] = [:] }
            for user in interval.left + interval.timedOut { shown?[user] = nil }
            for user in interval.states { shown?[user.userID] = user.states }
        case .outage: shown = nil
        }
    }
}

@Suite("Rosters through generated histories")
struct RosterHistoryTests {
    @Test(
        "whatever the server sends in which order, roster, events and updates agree with it",
        arguments: 0..<400)
    func histories(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var server = NaiveServer()
        var roster = ChannelRoster(
            of: ChannelID(type: .message, name: "lobby"), userID: "me")
        var followers = Followers()
        var delivered = 0
        for _ in 0..<Int.random(in: 1...60, using: &random) {
            for _ in 0..<Int.random(in: 0...8, using: &random) { server.step(&random) }
            if roster.members == nil || random.chance(1, in: 4) {
                // A snapshot comes. Before, amid and after its frames come events that it contains, and later
                // ones.
                let pages = server.snapshot(&random)
                for page in pages {
                    deliver(server, &delivered, to: &roster, &followers, &random)
                    if random.chance(1, in: 2) { server.step(&random) }
                    let outcome = roster.received(page)
                    followers.receive(outcome, roster.members)
                }
            }
            deliver(server, &delivered, to: &roster, &followers, &random)
        }
        while delivered < server.log.count {
            deliver(server, &delivered, to: &roster, &followers, &random)
        }
        guard roster.members != nil else { return }
        #expect(roster.members == server.members)
        #expect(followers.shown == server.members)
        #expect(followers.watched.members == server.members)
    }

    /// The next entries of the log, some of which the snapshot contains already.
    private func deliver(
        _ server: NaiveServer, _ delivered: inout Int, to roster: inout ChannelRoster,
        _ followers: inout Followers,
        _ random: inout SeededGenerator
    ) {
        let count = Int.random(in: 0...(server.log.count - delivered), using: &random)
        for entry in server.log[delivered..<(delivered + count)] {
            let outcome = roster.received(entry.update, offset: entry.offset)
            followers.receive(outcome, roster.members)
        }
        delivered += count
    }
}
