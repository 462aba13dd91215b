import RTMClient
import RTMModel

/// One session per user: the newer login wins, the older app is told (S-10, S-11). No app is thrown out by
/// itself (S-12b). And when everything is healed, everybody who is logged in is connected.
struct SessionCheck: Check {
    private struct App {
        var state = LinkState.idle
        var reason = LinkStateReason.unknown
        /// When it called the login that isn't through yet. The call may have ended meanwhile: attempts
        /// continue after its time, and any of them may be the one that gets through (S-13).
        var calledAt: Duration?
        /// Its latest login that got through: when it was called, and when it was connected.
        var login: (called: Duration, done: Duration)?
    }

    private var apps: [DeviceID: App] = [:]
    private var logins: [(device: DeviceID, time: Duration)] = []
    /// Then it has forgotten who was the newest.
    private var messagingLost: [Duration] = []
    private var found: [Finding] = []

    mutating func observe(_ entry: HistoryEntry) {
        switch entry.what {
        case .called(let device, _, .login):
            // Who is connected is logged in already (S-7).
            if apps[device]?.state != .connected { apps[device, default: App()].calledAt = entry.time }
            logins.append((device, entry.time))
        case .link(let device, let state, let reason, _):
            apps[device, default: App()].state = state
            apps[device]?.reason = reason
            switch state {
            case .connected:
                if let called = apps[device]?.calledAt.take() { apps[device]?.login = (called, entry.time) }
            case .idle: apps[device]?.calledAt = nil
            case .failed:
                let isAsked = apps[device]?.calledAt.take() != nil
                // R-9 ends what an app asks for too often, and nothing that comes back by itself.
                if reason != .loginTooFrequent || !isAsked { failed(device, reason, entry.time) }
            case .connecting, .disconnected, .suspended: break
            }
        case .messagingLost:
            messagingLost.append(entry.time)
        case .died(let device):
            apps[device] = nil
        case .leaving:
            settled(entry.time)
        default:
            break
        }
    }

    private mutating func failed(_ device: DeviceID, _ reason: LinkStateReason, _ time: Duration) {
        guard reason == .sameUidLogin else {
            found.append(Finding(time: time, text: "\(device) failed: \(reason)"))
            return
        }
        let others = logins.filter { $0.device != device && $0.device.user == device.user }
        if others.isEmpty {
            found.append(Finding(time: time, text: "\(device) is thrown out, and nobody else logged in"))
        }
    }

    private mutating func settled(_ time: Duration) {
        for (device, app) in apps where [.connecting, .disconnected, .suspended].contains(app.state) {
            found.append(Finding(time: time, text: "\(device) is still \(app.state)"))
        }
        let users = Dictionary(grouping: apps.keys) { $0.user }
        for (user, devices) in users {
            let connected = devices.filter { apps[$0]?.state == .connected }
            if connected.count > 1 {
                found.append(Finding(time: time, text: "\(user) has the sessions \(connected.sorted())"))
            }
            newestWins(devices, connected, time)
        }
    }

    /// Who was logged in before another one asked for it doesn't get the session back by itself.
    private mutating func newestWins(_ devices: [DeviceID], _ connected: [DeviceID], _ time: Duration) {
        guard let winner = connected.first, let login = apps[winner]?.login else { return }
        let lastCall = logins.last { $0.device == winner }?.time ?? .zero
        for device in devices.sorted() where apps[device]?.reason == .sameUidLogin {
            guard let newer = apps[device]?.login, newer.called > max(login.done, lastCall),
                !messagingLost.contains(where: { $0 > login.done })
            else { continue }
            found.append(
                Finding(time: time, text: "\(device) logged in last and was thrown out for \(winner)"))
        }
    }

    mutating func findings() -> [Finding] { found }
}
