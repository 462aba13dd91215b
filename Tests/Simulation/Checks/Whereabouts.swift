// Who is in a channel, as far as that follows from what apps did and how it ended for them. What can't be
// known, because a call failed in the middle, is said to be unknown.

import RTMClient
import RTMModel

/// One app in one channel.
struct Member: Hashable {
    let device: DeviceID
    let channel: String
}

/// A user in a channel.
struct Spot: Hashable {
    let user: String
    let channel: String
}

struct Whereabouts {
    struct Attendance {
        /// Nil while it isn't known.
        var isVisible: Bool?
        var seesPresence: Bool
        var since: Duration
    }

    private struct CallKey: Hashable {
        let device: DeviceID
        let number: Int
    }

    private(set) var attendances: [Member: Attendance] = [:]
    private(set) var connected: [DeviceID: Duration] = [:]
    private var lastLoss: [DeviceID: Duration] = [:]
    /// Apps that stand still, and were connected before. Nobody knows whether they are for the server.
    private var frozen: Set<DeviceID> = []
    private var lastGap: [Member: Duration] = [:]
    private var calls: [CallKey: Call] = [:]
    private var unsettled: [Member: Int] = [:]
    /// The server may hold the app in the channel though the app doesn't know.
    private var doubtful: Set<Member> = []
    /// The app that was the last of its user to ask for a place in the channel.
    private var newest: [Spot: DeviceID] = [:]
    /// When a user did something that others see as a leave, if he was there.
    private(set) var leaves: [Spot: [Duration]] = [:]
    private(set) var leavesEverywhere: [String: [Duration]] = [:]
    /// When a user's connection was lost.
    private(set) var losses: [String: [Duration]] = [:]
    /// From when to when a user was there without doubt.
    private(set) var certain: [Spot: [(from: Duration, to: Duration?)]] = [:]
    /// Since when a user is away without doubt.
    private(set) var goneSince: [Spot: Duration] = [:]

    mutating func observe(_ entry: HistoryEntry) {
        let time = entry.time
        switch entry.what {
        case .called(let device, let number, let call):
            calls[CallKey(device: device, number: number)] = call
            called(device, call, time)
        case .ended(let device, let number, let outcome):
            guard let call = calls.removeValue(forKey: CallKey(device: device, number: number)) else {
                return
            }
            ended(device, call, outcome, time)
        case .link(let device, let state, _, let unrestored):
            link(device, state, time)
            for channel in unrestored { self.unrestored(Member(device: device, channel: channel), time) }
        case .gap(let device, let place, _, _): lastGap[Member(device: device, channel: place.name)] = time
        case .died(let device):
            losses[device.user, default: []].append(time)
            connected[device] = nil
            frozen.remove(device)
            forget(device, time)
        case .frozen(let device):
            guard connected.removeValue(forKey: device) != nil else { break }
            frozen.insert(device)
            losses[device.user, default: []].append(time)
            settleAll(of: device, time)
        case .thawed(let device):
            // Unless it notices soon that it isn't.
            guard frozen.remove(device) != nil else { break }
            connected[device] = time
            settleAll(of: device, time)
        default: break
        }
    }

    // MARK: Calls

    private mutating func called(_ device: DeviceID, _ call: Call, _ time: Duration) {
        switch call {
        case .login, .logout:
            leavesEverywhere[device.user, default: []].append(time)
            if call == .logout { forget(device, time) }
        case .subscribe(let channel, let features):
            let member = Member(device: device, channel: channel)
            unsettled[member, default: 0] += 1
            // Another app takes the place of one that is lost and not timed out yet (S-12).
            let older = newest.updateValue(device, forKey: Spot(user: device.user, channel: channel))
            if features.contains(.quiet) || older != nil && older != device { left(member, time) }
            if let present = attendances[member], present.isVisible == features.contains(.quiet) {
                attendances[member]?.isVisible = nil
            }
            settle(member, time)
        case .unsubscribe(let channel):
            let member = Member(device: device, channel: channel)
            unsettled[member, default: 0] += 1
            left(member, time)
            attendances[member]?.isVisible = nil
            settle(member, time)
        default: break
        }
    }

    private mutating func ended(_ device: DeviceID, _ call: Call, _ outcome: Outcome, _ time: Duration) {
        switch call {
        case .subscribe(let channel, let features):
            let member = Member(device: device, channel: channel)
            finish(member)
            if case .subscribed = outcome {
                doubtful.remove(member)
                attendances[member] = Attendance(
                    isVisible: unsettled[member] == nil ? !features.contains(.quiet) : nil,
                    seesPresence: features.contains(.presence), since: time)
            } else {
                left(member, time)
                if attendances[member] != nil { attendances[member]?.isVisible = nil }
                if connected[device] != nil { doubtful.insert(member) }
            }
            settle(member, time)
        case .unsubscribe(let channel):
            let member = Member(device: device, channel: channel)
            finish(member)
            left(member, time)
            if outcome != .done, connected[device] != nil { doubtful.insert(member) }
            if outcome == .done { doubtful.remove(member) }
            if case .failed(.notLogin) = outcome { return }
            if case .failed(.channelNotSubscribed) = outcome { return settle(member, time) }
            end(member, time)
        default: break
        }
    }

    private mutating func finish(_ member: Member) {
        let open = (unsettled[member] ?? 1) - 1
        unsettled[member] = open > 0 ? open : nil
    }

    private mutating func left(_ member: Member, _ time: Duration) {
        leaves[Spot(user: member.device.user, channel: member.channel), default: []].append(time)
    }

    // MARK: Links

    private mutating func link(_ device: DeviceID, _ state: LinkState, _ time: Duration) {
        switch state {
        case .connected:
            if connected[device] == nil { connected[device] = time }
        case .idle, .failed:
            if connected.removeValue(forKey: device) != nil { losses[device.user, default: []].append(time) }
            leavesEverywhere[device.user, default: []].append(time)
            forget(device, time)
        case .disconnected, .connecting, .suspended:
            let isElsewhere = connected.keys.contains { $0 != device && $0.user == device.user }
            // The newer login wins, also the late attempt of an old call (S-12, S-13).
            if state == .connecting, isElsewhere {
                leavesEverywhere[device.user, default: []].append(time)
            }
            guard connected.removeValue(forKey: device) != nil else { break }
            lastLoss[device] = time
            losses[device.user, default: []].append(time)
        }
        // What was doubtful was so in the session that is over.
        if connected[device] == nil { doubtful = doubtful.filter { $0.device != device } }
        settleAll(of: device, time)
    }

    /// Either the subscription continues behind a gap that was just said, or it has ended.
    private mutating func unrestored(_ member: Member, _ time: Duration) {
        guard let gap = lastGap[member], let lost = lastLoss[member.device], gap >= lost else {
            return end(member, time)
        }
    }

    private mutating func forget(_ device: DeviceID, _ time: Duration) {
        doubtful = doubtful.filter { $0.device != device }
        for member in unsettled.keys where member.device == device { unsettled[member] = nil }
        for member in attendances.keys where member.device == device { end(member, time) }
        settleAll(of: device, time)
    }

    private mutating func end(_ member: Member, _ time: Duration) {
        attendances[member] = nil
        settle(member, time)
    }

    // MARK: What follows

    private func channels(of user: String) -> [String] {
        certain.keys.filter { $0.user == user }.map(\.channel).sorted()
    }

    private mutating func settleAll(of device: DeviceID, _ time: Duration) {
        for channel in channels(of: device.user) { settle(Spot(user: device.user, channel: channel), time) }
    }

    private mutating func settle(_ member: Member, _ time: Duration) {
        settle(Spot(user: member.device.user, channel: member.channel), time)
    }

    private mutating func settle(_ spot: Spot, _ time: Duration) {
        let isThere = self.isThere(spot)
        let isOpen = certain[spot]?.last.map { $0.to == nil } ?? false
        if isThere == true, !isOpen {
            certain[spot, default: []].append((time, nil))
        } else if isThere != true, isOpen, let last = certain[spot]?.indices.last {
            certain[spot]?[last].to = time
        } else if certain[spot] == nil {
            certain[spot] = []
        }
        if isThere == false { goneSince[spot] = goneSince[spot] ?? time } else { goneSince[spot] = nil }
    }

    /// Nil when it isn't known, or when presence may rightly say both, as of an app that has lost its link.
    func isThere(_ spot: Spot) -> Bool? {
        var isAway = true
        for (member, attendance) in attendances
        where member.device.user == spot.user && member.channel == spot.channel {
            guard connected[member.device] != nil, unsettled[member] == nil else {
                if unsettled[member] != nil { isAway = false }
                continue
            }
            if attendance.isVisible == true, !doubtful.contains(member) { return true }
            if attendance.isVisible == nil { isAway = false }
        }
        let isUnknown = { (member: Member) in
            member.device.user == spot.user && member.channel == spot.channel
        }
        if doubtful.contains(where: isUnknown) || unsettled.keys.contains(where: isUnknown) { return nil }
        return isAway ? false : nil
    }

    var spots: [Spot] { certain.keys.sorted { ($0.channel, $0.user) < ($1.channel, $1.user) } }

    /// Since when the user has been there without doubt, as of a time.
    func presentSince(_ spot: Spot, at time: Duration) -> Duration? {
        certain[spot]?.last { $0.from <= time && $0.to ?? .seconds(1 << 30) > time }?.from
    }
}
