import NIOCore

@testable import RTMTestKit

/// What happens to gateways and to storage. As with `Faults`, a seed has some kinds only.
final class GatewayFaults {
    enum Kind: CaseIterable {
        /// A gateway stands still, perhaps beyond its lease, and continues.
        case pause
        case kill, stop
        case killStorage
        /// A gateway and storage don't learn of each other.
        case blockGateway
        /// Storage and messaging don't.
        case blockStorage
        case cut
    }

    private let installation: Installation
    private let random: RandomStream
    private let kinds: [Kind]
    private let pace: Int
    private var isOver = false

    init?(_ installation: Installation) {
        guard !installation.gatewayHosts.isEmpty else { return nil }
        self.installation = installation
        let random = installation.world.random("gateway faults")
        self.random = random
        kinds = Kind.allCases.filter { _ in random.chance(1, in: 2) }
        pace = random.number(in: 2_000...20_000)
    }

    func begin() {
        note("faults of gateways: " + kinds.map { "\($0)" }.joined(separator: ", "))
        next()
    }

    private func next() {
        installation.world.after(random.milliseconds(1...2 * pace)) {
            guard !self.isOver else { return }
            if let kind = self.random.pick(self.kinds),
                let host = self.random.pick(self.installation.gatewayHosts)
            {
                self.strike(kind, host)
            }
            self.next()
        }
    }

    /// Nothing more happens, and what has happened is repaired.
    func end() {
        isOver = true
        for gateway in installation.gateways.values { gateway.resume() }
        installation.startStorage()
        for host in installation.gatewayHosts { installation.startGateway(host) }
        for receiver in installation.receivers { receiver.heal() }
    }

    private func note(_ what: String) { installation.journal.record(.fault(what)) }

    private func soon(_ longest: Int..., do task: @escaping () -> Void) {
        let most = random.pick(longest) ?? 0
        installation.world.after(random.milliseconds(0...most)) { if !self.isOver { task() } }
    }

    private func strike(_ kind: Kind, _ host: Host) {
        switch kind {
        case .pause: pause(host)
        case .kill:
            installation.killGateway(host, silently: random.chance(1, in: 3))
            soon(100, 5_000, 40_000) { self.installation.startGateway(host) }
        case .stop: stop(host)
        case .killStorage:
            installation.killStorage(silently: random.chance(1, in: 3))
            soon(100, 5_000, 30_000) { self.installation.startStorage() }
        case .blockGateway: block(host, StorageProcess.host)
        case .blockStorage:
            block(StorageProcess.host, random.pick(installation.messagingHosts) ?? host)
        case .cut: installation.network.cut(host, StorageProcess.host)
        }
    }

    private func pause(_ host: Host) {
        guard let gateway = installation.gateways[host] else { return }
        note("\(gateway.name) stands still")
        gateway.pause()
        soon(3_000, 20_000, 60_000) {
            self.note("\(gateway.name) continues")
            gateway.resume()
        }
    }

    private func stop(_ host: Host) {
        guard let gateway = installation.gateways[host] else { return }
        note("\(gateway.name) is stopped")
        var isDone = false
        let finish = {
            guard !isDone, self.installation.gateways[host] === gateway else { return }
            isDone = true
            self.installation.killGateway(host, silently: false)
            self.installation.startGateway(host)
        }
        gateway.stop(finish)
        installation.world.after(.seconds(20), finish)
    }

    private func block(_ one: Host, _ other: Host) {
        var ways: [Way] = []
        let which = random.number(in: 0...2)
        if which != 1 { ways.append(Way(from: one, to: other)) }
        if which != 2 { ways.append(Way(from: other, to: one)) }
        note("blocked: " + ways.map { "\($0.from) to \($0.to)" }.joined(separator: ", "))
        for way in ways { installation.network.block(way) }
        soon(3_000, 20_000, 60_000) {
            for way in ways { self.installation.network.unblock(way) }
        }
    }
}
