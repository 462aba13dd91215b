import RTMClient
import RTMModel

@testable import RTMTestKit

/// What subscribers are informed of each other: nobody stays who is gone, nobody is said to be gone who
/// isn't, everything once, and in the end what was told is what is so (P-1 to P-6, P-30, S-42 to S-44).
///
/// While services can't reach each other some of it comes late, and is judged when all has settled; what may
/// come late, and never what is wrong, is excused.
struct PresenceCheck: Check {
    /// A heartbeat's deadline, at the server or at the client (S-40, S-41).
    private static let heartbeat = Duration.seconds(16)
    private static let lease = Duration.seconds(15)
    /// A held-back leave, a collected interval, packets that are late.
    private static let slack = Duration.seconds(20)

    private let timeout: Duration
    private var whereabouts = Whereabouts()
    private var disturbances = Disturbances()
    private var moods = Moods()
    private var edgeEnds: [Duration] = []
    /// What each app was told, by user; nil: nothing yet, or that nothing can be told.
    private var rosters: [Member: [String: [String: String]]] = [:]
    /// Rosters of which events may have been missed, until the next snapshot.
    private var torn: Set<Member> = []
    private var asked: [DeviceID: [Int: (channel: String, time: Duration)]] = [:]
    private var reported: Set<Spot> = []
    private var nextLook = Duration.zero
    private var found: [Finding] = []

    init(timeout: Duration) { self.timeout = timeout }

    mutating func observe(_ entry: HistoryEntry) {
        let time = entry.time
        whereabouts.observe(entry)
        disturbances.observe(entry)
        moods.observe(entry)
        switch entry.what {
        case .presence(let device, let channel, let change, let timestamp):
            let at = Duration.milliseconds(timestamp - min(timestamp, VirtualWorld.startMilliseconds))
            reported(Member(device: device, channel: channel), change, at, time)
        case .gap(let device, let place, _, _): torn.insert(Member(device: device, channel: place.name))
        case .link(let device, .connected, _, _): tear(device)
        case .called(let device, let number, .whoNow(let channel)):
            asked[device, default: [:]][number] = (channel, time)
        case .called(let device, _, .unsubscribe(let channel)):
            rosters[Member(device: device, channel: channel)] = nil
        case .called(let device, _, .logout), .died(let device): forget(device)
        case .ended(let device, let number, .online(let users)):
            guard let (channel, since) = asked[device]?[number] else { return }
            answered(device, channel, users, since, time)
        case .edgeEnded: edgeEnds.append(time)
        case .leaving: settled(time)
        default: break
        }
        if time >= nextLook {
            nextLook = time + .seconds(1)
            lookForGhosts(time)
        }
    }

    mutating func findings() -> [Finding] { found }

    private mutating func find(_ text: String, _ time: Duration) {
        found.append(Finding(time: time, text: text))
    }

    private mutating func forget(_ device: DeviceID) {
        for member in rosters.keys where member.device == device { rosters[member] = nil }
    }

    private mutating func tear(_ device: DeviceID) {
        for member in rosters.keys where member.device == device { torn.insert(member) }
    }

    // MARK: Events

    private mutating func reported(
        _ member: Member, _ change: PresenceEvent.Change, _ at: Duration, _ time: Duration
    ) {
        switch change {
        case .snapshot(let users):
            rosters[member] = Dictionary(uniqueKeysWithValues: users.map { ($0.userID, $0.states) })
            torn.remove(member)
        case .outage: rosters[member] = nil
        case .joined(let user, let states):
            if rosters[member]?[user] != nil, !torn.contains(member) {
                find(
                    "\(member.device) is told that \(user) joins #\(member.channel), and has him there", time)
            }
            rosters[member]?[user] = states
        case .left(let user): depart(user, member, isTimeout: false, at, time)
        case .timedOut(let user): depart(user, member, isTimeout: true, at, time)
        case .statesChanged(let user):
            if rosters[member] != nil, rosters[member]?[user.userID] == nil, !torn.contains(member) {
                find(
                    "\(member.device) is told a state of \(user.userID), who isn't in #\(member.channel)",
                    time)
            }
            show(user, member)
        case .interval(let interval):
            for user in interval.joined { rosters[member]?[user] = [:] }
            for user in interval.left { judgeLeave(user, member, at, time) }
            for user in interval.timedOut { judgeTimeout(user, member, at, time) }
            for user in interval.left + interval.timedOut { rosters[member]?[user] = nil }
            for user in interval.states { show(user, member) }
        }
    }

    private mutating func show(_ user: UserState, _ member: Member) {
        if rosters[member]?[user.userID] != nil { rosters[member]?[user.userID] = user.states }
    }

    private mutating func depart(
        _ user: String, _ member: Member, isTimeout: Bool, _ at: Duration, _ time: Duration
    ) {
        if rosters[member] != nil, rosters[member]?[user] == nil, !torn.contains(member) {
            find(
                "\(member.device) is told that \(user) goes from #\(member.channel), and he isn't there", time
            )
        }
        rosters[member]?[user] = nil
        if isTimeout { judgeTimeout(user, member, at, time) } else { judgeLeave(user, member, at, time) }
    }

    /// A leave has a cause: something that the user did, not long before.
    private mutating func judgeLeave(_ user: String, _ member: Member, _ at: Duration, _ time: Duration) {
        let earliest = disturbances.beginning(of: at) - Self.slack
        let spot = Spot(user: user, channel: member.channel)
        let causes = (whereabouts.leaves[spot] ?? []) + (whereabouts.leavesEverywhere[user] ?? [])
        guard !causes.contains(where: { $0 >= earliest && $0 <= at + .milliseconds(1) }) else { return }
        find("\(member.device) is told that \(user) left #\(member.channel) at \(at), and he didn't", time)
    }

    /// A timeout has a cause, a loss, that is as old as the presence timeout; and the user hasn't come back.
    private mutating func judgeTimeout(_ user: String, _ member: Member, _ at: Duration, _ time: Duration) {
        let beginning = disturbances.beginning(of: at)
        let spot = Spot(user: user, channel: member.channel)
        let isCalm = beginning == at
        var causes = whereabouts.losses[user] ?? []
        // Who has left without presence hearing of it is lost for presence, too: when his edge ended before
        // it could say so. Without that it says so again and again, however long presence is away (P-4).
        causes += (whereabouts.leaves[spot] ?? []).filter { leave in
            edgeEnds.contains { leave <= $0 && $0 <= at }
        }
        causes += whereabouts.leavesEverywhere[user] ?? []
        let latest = at - timeout + Self.heartbeat
        let earliest = min(beginning, disturbances.beginning(of: at - timeout)) - timeout - .seconds(60)
        let isDue = causes.contains { $0 >= earliest && $0 <= latest }
        // An edge that presence doesn't receive is gone for it.
        let isCutOff =
            !isCalm && beginning + timeout <= at + Self.heartbeat
            || disturbances.beginning(of: latest) != latest
        if !isDue, !isCutOff {
            find(
                "\(member.device) is told that \(user) timed out in #\(member.channel) at \(at), too early",
                time)
        }
        guard isCalm, let since = whereabouts.presentSince(spot, at: at), since < at - Self.slack,
            disturbances.areAbsent(from: since, to: at)
        else { return }
        find("\(member.device) is told that \(user) timed out in #\(member.channel), who is there", time)
    }

    // MARK: Ghosts

    private var goneBound: Duration { Self.heartbeat + timeout + Self.lease + Self.slack }

    private mutating func lookForGhosts(_ time: Duration) {
        for spot in whereabouts.spots where !reported.contains(spot) {
            guard let gone = whereabouts.goneSince[spot], gone + goneBound < time,
                disturbances.areAbsent(from: gone, to: time)
            else { continue }
            for (member, roster) in rosters where member.channel == spot.channel && roster[spot.user] != nil {
                guard member.device.user != spot.user else { continue }
                guard let since = whereabouts.connected[member.device], since + Self.slack < time,
                    whereabouts.attendances[member]?.seesPresence == true, !torn.contains(member)
                else { continue }
                reported.insert(spot)
                find("\(member.device) has \(spot.user) in #\(spot.channel), who is gone since \(gone)", time)
                break
            }
        }
    }

    private mutating func answered(
        _ device: DeviceID, _ channel: String, _ users: [UserState], _ asked: Duration, _ time: Duration
    ) {
        let names = Set(users.map(\.userID))
        for spot in whereabouts.spots where spot.channel == channel {
            if names.contains(spot.user) {
                guard let gone = whereabouts.goneSince[spot], gone + goneBound < asked,
                    disturbances.areAbsent(from: gone, to: time)
                else { continue }
                find("\(device) hears that \(spot.user) is in #\(channel), who is gone since \(gone)", time)
            } else if let since = whereabouts.presentSince(spot, at: time), since + Self.slack < asked,
                disturbances.areAbsent(from: since, to: time)
            {
                find("\(device) doesn't hear that \(spot.user) is in #\(channel), since \(since)", time)
            }
        }
    }

    // MARK: In the end

    /// Two minutes after everything was healed nothing has an excuse any more.
    private mutating func settled(_ time: Duration) {
        let channels = Set(whereabouts.spots.map(\.channel)).sorted()
        for channel in channels {
            let spots = whereabouts.spots.filter { $0.channel == channel }
            let truth = spots.filter { whereabouts.isThere($0) == true }.map(\.user)
            let unknown = Set(spots.filter { whereabouts.isThere($0) == nil }.map(\.user))
            for (member, attendance) in whereabouts.attendances.sorted(by: { $0.key.device < $1.key.device })
            where member.channel == channel && attendance.seesPresence {
                guard whereabouts.connected[member.device] != nil, attendance.isVisible != nil else {
                    continue
                }
                compare(member, Set(truth), unknown, time)
            }
        }
    }

    private mutating func compare(
        _ member: Member, _ truth: Set<String>, _ unknown: Set<String>, _ time: Duration
    ) {
        guard let roster = rosters[member] else {
            return find("\(member.device) is never told who is in #\(member.channel)", time)
        }
        let shown = Set(roster.keys)
        // Of oneself one isn't told when one becomes visible or quiet.
        let unknown = unknown.union([member.device.user])
        for user in truth.subtracting(shown).subtracting(unknown).sorted() {
            find("\(member.device) doesn't have \(user) in #\(member.channel), who is there", time)
        }
        for user in shown.subtracting(truth).subtracting(unknown).sorted() {
            find("\(member.device) has \(user) in #\(member.channel), who isn't there", time)
        }
        for user in truth.intersection(shown).sorted() where user != member.device.user {
            guard let mood = moods.certain(user, in: member.channel, whereabouts) else { continue }
            guard roster[user]?["mood"] != mood else { continue }
            let shown = roster[user]?["mood"] ?? "nothing"
            let wanted = mood ?? "nothing"
            find("\(member.device) sees \(user) show \(shown), not \(wanted), in #\(member.channel)", time)
        }
    }
}
