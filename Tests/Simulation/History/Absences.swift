import NIOCore
import RTMClient

@testable import RTMTestKit

/// Apps that are away for up to two minutes, the resume window (S-17), or for a little longer, while edges
/// end and messaging is restarted or changes its leaders.
final class Absences {
    enum Kind: CaseIterable {
        /// The system lets the app stand still. What comes for it waits.
        case frozen
        /// Nothing passes between the app and the edges, and neither side knows.
        case silent
        /// The same, and both sides know at once.
        case offline
    }

    /// In milliseconds: shorter than a heartbeat's deadline, within the window, around its end, beyond it.
    private static let lengths = [1_000...20_000, 20_000...110_000, 110_000...130_000, 130_000...148_000]

    private let installation: Installation
    private let faults: Faults
    private let companyFaults: CompanyFaults?
    private let random: RandomStream
    private let pace: Int
    private var isOver = false
    private var away: Set<DeviceID> = []

    init(_ installation: Installation, _ faults: Faults, _ companyFaults: CompanyFaults?) {
        self.installation = installation
        self.faults = faults
        self.companyFaults = companyFaults
        random = installation.world.random("absences")
        pace = random.number(in: 10_000...40_000)
    }

    func begin() {
        installation.world.after(random.milliseconds(1_000...2 * pace)) {
            guard !self.isOver else { return }
            self.sendAway()
            self.begin()
        }
    }

    /// Everybody is back.
    func end() {
        isOver = true
        for (host, device) in installation.devices { device.thaw(host) }
    }

    /// Some apps go at the same moment for the same time, and meanwhile something happens to the servers.
    private func sendAway() {
        guard let kind = random.pick(Kind.allCases), let lengths = random.pick(Self.lengths) else { return }
        let length = random.number(in: lengths)
        for _ in 0..<random.number(in: 1...3) {
            let here = installation.devices.filter { $0.device.state == .connected && !isAway($0.device) }
            guard let (host, device) = random.pick(here) else { continue }
            send(device, at: host, kind, for: .milliseconds(Int64(length)))
        }
        for _ in 0..<random.number(in: 0...3) {
            installation.world.after(random.milliseconds(0...length)) {
                guard !self.isOver else { return }
                if self.random.chance(1, in: 2) { self.companyFaults?.moveLeaders() }
                self.faults.strikeServers()
            }
        }
    }

    private func isAway(_ device: Device) -> Bool { away.contains(device.id) }

    private func send(_ device: Device, at host: Host, _ kind: Kind, for time: TimeAmount) {
        let (installation, network) = (installation, installation.network)
        away.insert(device.id)
        installation.journal.record(
            .fault("\(device.id) is away (\(kind)) for \(time.nanoseconds / 1_000_000) ms"))
        let ways =
            kind == .frozen
            ? []
            : installation.edgeHosts.flatMap { edge in
                [Way(from: host, to: edge), Way(from: edge, to: host)]
            }
        for way in ways { network.block(way) }
        switch kind {
        case .frozen: device.freeze(host)
        case .silent: break
        case .offline: for edge in installation.edgeHosts { network.cut(host, edge) }
        }
        installation.world.after(time) {
            guard self.away.remove(device.id) != nil, !self.isOver, !device.isDead else { return }
            installation.journal.record(.fault("\(device.id) is back"))
            for way in ways { network.unblock(way) }
            device.thaw(host)
        }
    }
}
