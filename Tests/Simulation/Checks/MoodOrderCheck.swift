import RTMClient
import RTMModel

/// What a user shows goes forward only: whoever has been told one state, by an event or by a snapshot,
/// isn't told an earlier one of the same app afterwards (P-1, P-6).
///
/// This is how a snapshot shows that it is newer than the position that it names: the client knows by
/// itself that nobody comes who is there, but not which of two states is the older one.
struct MoodOrderCheck: Check {
    private struct Viewing: Hashable {
        let member: Member
        let user: String
    }

    private struct Setting: Hashable {
        let device: DeviceID
        let number: Int
    }

    /// Which calls set a value; a value that was set twice says nothing.
    private var settings: [Spot: [String: [Setting]]] = [:]
    private var shown: [Viewing: Setting] = [:]
    /// Of a call that failed the app may rightly take back what it did.
    private var succeeded: Set<Setting> = []
    private var found: [Finding] = []

    mutating func observe(_ entry: HistoryEntry) {
        switch entry.what {
        case .called(let device, let number, .setState(let channel, let value)):
            let spot = Spot(user: device.user, channel: channel)
            settings[spot, default: [:]][value, default: []].append(Setting(device: device, number: number))
        case .ended(let device, let number, .done): succeeded.insert(Setting(device: device, number: number))
        case .presence(let device, let channel, let change, _):
            let member = Member(device: device, channel: channel)
            for user in change.states { see(user, member, entry.time) }
        case .gap(let device, let place, _, _): forget { $0.device == device && $0.channel == place.name }
        case .called(let device, _, .unsubscribe(let channel)):
            forget { $0.device == device && $0.channel == channel }
        case .link(let device, .idle, _, _), .link(let device, .failed, _, _): forget { $0.device == device }
        default: break
        }
    }

    private mutating func forget(_ isOver: (Member) -> Bool) {
        for viewing in shown.keys where isOver(viewing.member) { shown[viewing] = nil }
    }

    private mutating func see(_ user: UserState, _ member: Member, _ time: Duration) {
        guard user.userID != member.device.user, let value = user.states["mood"],
            let settings = settings[Spot(user: user.userID, channel: member.channel)]?[value],
            settings.count == 1, let setting = settings.first
        else { return }
        let viewing = Viewing(member: member, user: user.userID)
        if let last = shown[viewing], last.device == setting.device, setting.number < last.number,
            succeeded.contains(last)
        {
            let text = "\(member.device) sees \(user.userID) show \(value) again in #\(member.channel)"
            found.append(Finding(time: time, text: text))
        }
        shown[viewing] = setting
    }

    mutating func findings() -> [Finding] { found }
}

extension PresenceEvent.Change {
    fileprivate var states: [UserState] {
        switch self {
        case .snapshot(let users): users
        case .statesChanged(let user): [user]
        case .joined(let user, let states) where !states.isEmpty:
            [UserState(userID: user, states: states)]
        // All that he showed in this time; what came before may be known from a snapshot.
        case .interval(let interval):
            Array(Dictionary(interval.states.map { ($0.userID, $0) }) { $1 }.values)
        case .joined, .left, .timedOut, .outage: []
        }
    }
}
