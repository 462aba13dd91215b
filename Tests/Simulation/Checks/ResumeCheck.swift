import RTMClient
import RTMModel

/// A link says that it is resumed if it came back within two minutes of its loss and nothing is missing, and
/// only then (S-17).
struct ResumeCheck: Check {
    private static let window = Duration.seconds(120)

    private struct Outage {
        let lostAt: Duration
        var hasGap = false
        /// Whether the link was shown as suspended meanwhile.
        var isSuspended = false
    }

    private struct Return {
        let time: Duration
        let outage: Outage
        let isWhole: Bool
    }

    private var connected: Set<DeviceID> = []
    private var outages: [DeviceID: Outage] = [:]
    /// Those of which the journal hasn't said yet whether they are resumed: it does so in the next entry.
    private var returns: [DeviceID: Return] = [:]
    private var found: [Finding] = []

    mutating func observe(_ entry: HistoryEntry) {
        if case .resumed(let device) = entry.what {
            resumed(device, entry.time)
            return
        }
        for (device, back) in returns { notResumed(device, back) }
        returns = [:]
        switch entry.what {
        case .link(let device, .connected, _, let unrestored):
            connected.insert(device)
            guard let outage = outages.removeValue(forKey: device) else { break }
            returns[device] = Return(time: entry.time, outage: outage, isWhole: unrestored.isEmpty)
        case .link(let device, .idle, _, _), .link(let device, .failed, _, _), .died(let device):
            connected.remove(device)
            outages[device] = nil
        case .link(let device, let state, _, _):
            if connected.remove(device) != nil { outages[device] = Outage(lostAt: entry.time) }
            if state == .suspended { outages[device]?.isSuspended = true }
        case .gap(let device, _, _, _): outages[device]?.hasGap = true
        default: break
        }
    }

    private mutating func resumed(_ device: DeviceID, _ time: Duration) {
        guard let back = returns.removeValue(forKey: device) else {
            return find("\(device) is resumed, and its link was never lost", time)
        }
        let (outage, length) = (back.outage, time - back.outage.lostAt)
        if length > Self.window || outage.isSuspended { find("\(device) is resumed after \(length)", time) }
        if outage.hasGap { find("\(device) is resumed behind a gap", time) }
    }

    private mutating func notResumed(_ device: DeviceID, _ back: Return) {
        let length = back.time - back.outage.lostAt
        guard back.isWhole, !back.outage.hasGap, !back.outage.isSuspended, length < Self.window else {
            return
        }
        find("\(device) is back after \(length), misses nothing, and isn't resumed", back.time)
    }

    private mutating func find(_ text: String, _ time: Duration) {
        found.append(Finding(time: time, text: text))
    }

    mutating func findings() -> [Finding] { found }
}
