import RTMClient
import RTMModel

/// Which state every app shows in a channel, as far as the outcomes of its calls say it (P-40 to P-44, S-19).
struct Moods {
    private enum Mood {
        case shown(String?)
        /// A call failed in the middle, or two were under way at once.
        case unknown
    }

    private var moods: [Member: Mood] = [:]
    private var open: [DeviceID: [Int: Call]] = [:]
    /// The calls beside which another one for the same channel was under way.
    private var overlapping: Set<OpenCall> = []

    private struct OpenCall: Hashable {
        let device: DeviceID
        let number: Int
    }

    mutating func observe(_ entry: HistoryEntry) {
        switch entry.what {
        case .called(let device, let number, let call): called(device, number, call)
        case .ended(let device, let number, let outcome):
            guard let call = open[device]?.removeValue(forKey: number) else { return }
            ended(device, number, call, outcome)
        case .link(let device, .idle, _, _), .link(let device, .failed, _, _), .died(let device):
            for member in moods.keys where member.device == device { moods[member] = nil }
        case .link(let device, _, _, let unrestored):
            for channel in unrestored { moods[Member(device: device, channel: channel)] = .unknown }
        default: break
        }
    }

    private mutating func called(_ device: DeviceID, _ number: Int, _ call: Call) {
        guard let channel = call.channelOfPresence else {
            if call == .logout {
                for member in moods.keys where member.device == device { moods[member] = nil }
            }
            return
        }
        let member = Member(device: device, channel: channel)
        let others = (open[device] ?? [:]).filter { $0.value.channelOfPresence == channel }.keys
        open[device, default: [:]][number] = call
        guard !others.isEmpty else { return }
        moods[member] = .unknown
        for call in others { overlapping.insert(OpenCall(device: device, number: call)) }
        overlapping.insert(OpenCall(device: device, number: number))
    }

    private mutating func ended(_ device: DeviceID, _ number: Int, _ call: Call, _ outcome: Outcome) {
        guard let channel = call.channelOfPresence else { return }
        let member = Member(device: device, channel: channel)
        guard overlapping.remove(OpenCall(device: device, number: number)) == nil else {
            moods[member] = .unknown
            return
        }
        switch (call, outcome) {
        case (.setState(_, let value), .done): moods[member] = .shown(value)
        case (.removeState, .done): moods[member] = .shown(nil)
        case (.unsubscribe, .done): moods[member] = .shown(nil)
        case (.subscribe, .subscribed): break
        case (_, .failed(.notLogin)), (_, .failed(.channelNotSubscribed)): break
        case (.setState, .failed(.presenceNotConnected)): moods[member] = .unknown
        default: moods[member] = .unknown
        }
    }

    /// The state of the user's app that is in the channel; nil when it can't be known. Only apps that get
    /// snapshots see what the server has forgotten.
    func certain(_ user: String, in channel: String, _ whereabouts: Whereabouts) -> String?? {
        for (member, attendance) in whereabouts.attendances
        where member.device.user == user && member.channel == channel && attendance.isVisible == true {
            guard whereabouts.connected[member.device] != nil, attendance.seesPresence else { continue }
            switch moods[member] {
            case .shown(let mood): return .some(mood)
            case .unknown: return nil
            case nil: return .some(nil)
            }
        }
        return nil
    }
}

extension Call {
    /// The channel of a call that may change what the app shows there.
    fileprivate var channelOfPresence: String? {
        switch self {
        case .setState(let channel, _), .removeState(let channel), .subscribe(let channel, _),
            .unsubscribe(let channel):
            channel
        default: nil
        }
    }
}
