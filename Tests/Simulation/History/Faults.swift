import NIOCore

@testable import RTMTestKit

/// What happens to an installation: processes are killed and come back, ways are blocked and open again,
/// connections break, apps die.
///
/// A seed doesn't have a bit of everything. It has some kinds only, so that each of them is also seen alone.
final class Faults {
    enum Kind: CaseIterable {
        case cutDevice, blockDevice, cutService, blockService, killEdge, drainEdge, killMessaging, killDevice,
            slow
        case cutPresence, blockPresence, killPresence

        fileprivate static func all(of installation: Installation) -> [Kind] {
            allCases.filter { kind in
                switch kind {
                case .cutPresence, .blockPresence, .killPresence: installation.presence != nil
                // What happens to several of them, `CompanyFaults` knows.
                case .killMessaging: installation.redis == nil
                default: true
                }
            }
        }
    }

    private let installation: Installation
    private let random: RandomStream
    private let kinds: [Kind]
    private let pace: Int
    private var isOver = false
    private var lastDisturbance = 0
    private var disturbances: Set<Int> = []
    /// How many of them make everything slow, and the delays without them.
    private var slowdowns = 0
    private var usualDelay = 0...0

    init(_ installation: Installation) {
        self.installation = installation
        let random = installation.world.random("faults")
        self.random = random
        kinds = Kind.all(of: installation).filter { _ in random.chance(1, in: 3) }
        pace = random.number(in: 2_000...20_000)
        var weather = SimulatedNetwork.Weather()
        weather.delay = random.pick([100...500, 1_000...30_000, 100...250_000]) ?? 100...500
        weather.lossPerMille = random.pick([0, 0, 5, 50]) ?? 0
        weather.cutOneIn = random.pick([0, 3, 10]) ?? 0
        weather.grain = random.pick([1, 1_000, 20_000]) ?? 1
        installation.network.weather = weather
    }

    func begin() {
        let described =
            "faults: \(kinds.map { "\($0)" }.joined(separator: ", ")); \(installation.network.weather)"
        installation.journal.record(.fault(described))
        next()
    }

    private func next() {
        installation.world.after(random.milliseconds(1...2 * pace)) {
            guard !self.isOver else { return }
            if let kind = self.random.pick(self.kinds) { self.strike(kind) }
            self.next()
        }
    }

    /// Nothing more happens, and what has happened is repaired.
    func end() {
        isOver = true
        installation.network.unblockAll()
        installation.network.weather = SimulatedNetwork.Weather()
        for host in installation.messagingHosts { installation.startMessaging(host) }
        installation.startPresence()
        for host in installation.edgeHosts { installation.startEdge(host) }
        for number in disturbances.sorted() { installation.journal.record(.calm(number)) }
        disturbances = []
    }

    /// Ends an edge or messaging, or cuts them off from each other.
    func strikeServers() {
        let kinds = Kind.all(of: installation).filter(Self.kindsOfServers.contains)
        if !isOver, let kind = random.pick(kinds) { strike(kind) }
    }

    private static let kindsOfServers: [Kind] = [.killEdge, .drainEdge, .killMessaging, .blockService]

    private func strike(_ kind: Kind) {
        guard let edge = random.pick(installation.edgeHosts),
            let (host, device) = random.pick(installation.devices)
        else { return }
        switch kind {
        case .cutDevice:
            note("the connections of \(device.id) break")
            for edge in installation.edgeHosts { installation.network.cut(host, edge) }
        case .blockDevice: block(host, random.chance(1, in: 2) ? [edge] : installation.edgeHosts)
        case .cutService:
            cut(edge, messaging)
        case .blockService: blockService(edge, messaging)
        case .killEdge: replaceEdge(edge) { self.installation.killEdge(edge, silently: $0) }
        case .drainEdge: replaceEdge(edge) { _ in self.installation.drainEdge(edge) }
        case .killMessaging: killMessaging()
        case .killDevice:
            installation.killDevice(device)
            installation.startDevice(of: device.id.user)
        case .slow: slowDown()
        case .cutPresence: cut(PresenceProcess.host, neighbourOfPresence(edge))
        case .blockPresence: blockService(PresenceProcess.host, neighbourOfPresence(edge))
        case .killPresence: killPresence()
        }
    }

    /// One of the nodes.
    private var messaging: Host {
        let hosts = installation.messagingHosts
        return hosts.count == 1 ? hosts[0] : random.pick(hosts) ?? hosts[0]
    }

    private func neighbourOfPresence(_ edge: Host) -> Host {
        random.chance(1, in: 3) ? messaging : edge
    }

    /// Says that services don't learn of each other; what it gives is to be called when they do again.
    private func disturb(_ what: String) -> () -> Void {
        lastDisturbance += 1
        let number = lastDisturbance
        disturbances.insert(number)
        installation.journal.record(.disturbed(number, what))
        return {
            guard self.disturbances.remove(number) != nil else { return }
            self.installation.journal.record(.calm(number))
        }
    }

    private func cut(_ one: Host, _ other: Host) {
        let over = disturb("the link of \(one) and \(other) breaks")
        installation.network.cut(one, other)
        over()
    }

    private func blockService(_ host: Host, _ other: Host) {
        let over = disturb("\(host) and \(other)")
        block(host, [other], longest: 40_000, over)
    }

    private func note(_ what: String) { installation.journal.record(.fault(what)) }

    /// One of the two ways, or both, for a while that may be longer than anybody's patience.
    private func block(
        _ host: Host, _ others: [Host], longest: Int = 150_000, _ over: @escaping () -> Void = {}
    ) {
        var ways: [Way] = []
        let which = random.number(in: 0...2)
        for other in others {
            if which != 1 { ways.append(Way(from: host, to: other)) }
            if which != 2 { ways.append(Way(from: other, to: host)) }
        }
        note("blocked: " + ways.map { "\($0.from) to \($0.to)" }.joined(separator: ", "))
        for way in ways { installation.network.block(way) }
        installation.world.after(random.milliseconds(100...anyOf(3_000, 30_000, longest))) {
            self.note("open again: " + ways.map { "\($0.from) to \($0.to)" }.joined(separator: ", "))
            for way in ways { self.installation.network.unblock(way) }
            over()
        }
    }

    private func anyOf(_ numbers: Int...) -> Int { random.pick(numbers) ?? 0 }

    private func replaceEdge(_ host: Host, _ end: (_ silently: Bool) -> Void) {
        guard installation.edges[host] != nil else { return }
        let over = disturb("\(host)")
        end(random.chance(1, in: 3))
        installation.world.after(random.milliseconds(0...anyOf(100, 5_000, 30_000))) {
            self.installation.startEdge(host)
            over()
        }
    }

    private func killPresence() {
        let over = disturb("presence")
        installation.killPresence(silently: random.chance(1, in: 3))
        installation.world.after(random.milliseconds(0...anyOf(100, 5_000, 30_000))) {
            self.note("presence starts")
            self.installation.startPresence()
            over()
        }
    }

    private func killMessaging() {
        let over = disturb("messaging")
        installation.killMessaging(MessagingNodeProcess.host, silently: random.chance(1, in: 3))
        installation.world.after(random.milliseconds(0...anyOf(100, 5_000, 30_000))) {
            self.note("messaging starts")
            self.installation.startMessaging(MessagingNodeProcess.host)
            over()
        }
    }

    private func slowDown() {
        if slowdowns == 0 { usualDelay = installation.network.weather.delay }
        slowdowns += 1
        installation.network.weather.delay = 200_000...3_000_000
        let over = disturb("everything is slow")
        installation.world.after(random.milliseconds(500...10_000)) {
            self.slowdowns -= 1
            if !self.isOver, self.slowdowns == 0 { self.installation.network.weather.delay = self.usualDelay }
            over()
        }
    }
}
