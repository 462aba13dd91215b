import NIOCore
import RTMClient
import RTMServiceKit

@testable import RTMGatewayServer
@testable import RTMPresenceServer
@testable import RTMTestKit

/// What a history is about.
enum Scene: String {
    /// Logins, subscriptions and messages, without a presence service.
    case messages
    /// Who is in which channel.
    case presence
    /// Logins, subscriptions and messages over several messaging nodes with journals in Redis.
    case nodes
    /// As `messages`, and every app has a second path, to another edge.
    case paths
    /// Stream channels and their topics, in some seeds over several messaging nodes.
    case streams
    /// One of the others, in which apps are away for up to two minutes or a little longer.
    case absences
    /// As `messages` or `nodes`, with storage that keeps events, gateways, and receivers of webhooks.
    case webhooks

    /// What a history of this scene is about besides.
    fileprivate func plot(_ world: VirtualWorld) -> Scene {
        if self == .webhooks {
            return world.random("plot").pick([.messages, .messages, .nodes]) ?? .messages
        }
        guard self == .absences else { return self }
        return world.random("plot").pick([.messages, .presence, .nodes, .paths, .streams]) ?? .messages
    }
}

/// One history from its seed to its judgement.
enum Simulation {
    struct Result {
        let seed: UInt64
        let scene: Scene
        let entries: [HistoryEntry]
        /// The same for the same seed, whenever and wherever it runs.
        let hash: UInt64
        let findings: [Finding]

        /// What a failure shows: what is wrong, how to have it again, and what came before the first of it.
        var report: String {
            let shown = findings.prefix(5).map { "  \($0)" }
            let first = findings.first?.time ?? .zero
            let last = entries.filter { $0.time <= first || first == .zero }.suffix(60).map { "  \($0)" }
            return
                (["seed \(seed), \(findings.count) findings: make soak SEED=\(seed) SCENE=\(scene)"]
                + shown
                + ["the last before the first of them:"] + last).joined(separator: "\n")
        }
    }

    static func run(seed: UInt64, scene: Scene = .messages) -> Result {
        let world = VirtualWorld(seed: seed)
        let plot = scene.plot(world)
        let random = world.random("shape")
        var size = Installation.Size()
        size.edges = random.number(in: 1...3)
        if plot == .presence || plot == .streams { size.presence = presence(random) }
        if plot == .streams, random.chance(1, in: 2) { size.company = company(random) }
        if plot == .nodes { size.company = company(random) }
        if plot == .paths { (size.edges, size.hasSecondPaths) = (max(size.edges, 2), true) }
        if scene == .webhooks {
            size.backend = backend(random)
            // Then logins, and who comes and goes, are events, too.
            if random.chance(1, in: 2) { size.presence = presence(random) }
        }
        let installation = Installation(world, size)
        let workload = Workload(installation, plot)
        let faults = Faults(installation)
        let companyFaults = CompanyFaults(installation)
        let gatewayFaults = GatewayFaults(installation)
        let backends = size.backend.map {
            Backends(installation, hasPoison: $0.settings.giveUpAfter < .hours(1))
        }
        let absences = scene == .absences ? Absences(installation, faults, companyFaults) : nil

        // What comes before storage reads the feeds for the first time is no event yet.
        if size.backend != nil { world.pass(.seconds(5)) }
        faults.begin()
        companyFaults?.begin()
        absences?.begin()
        gatewayFaults?.begin()
        backends?.begin()
        workload.begin()
        // Long enough for an absence, or not.
        let seconds = absences != nil ? 150...300 : size.backend != nil ? 30...150 : 30...240
        world.pass(.seconds(Int64(random.number(in: seconds))))

        workload.end()
        absences?.end()
        gatewayFaults?.end()
        companyFaults?.end()
        faults.end()
        backends?.end()
        installation.journal.record(.healed)
        // The slowest that may still be under way: an attempt of a suspended link, every 30 s.
        world.pass(.seconds(120))
        workload.publishEverywhere()
        if plot == .presence { workload.askEverywhere() }
        world.pass(.seconds(20))

        installation.journal.record(.leaving)
        for (_, device) in installation.devices where device.state != .idle { device.logout() }
        world.pass(.seconds(60))
        backends?.finish()
        let journal = installation.journal
        var findings = Checks.judge(
            journal.entries, plot, presenceTimeout: size.presence?.timeout,
            isOneAtATime: companyFaults?.isOneAtATime ?? false, backend: size.backend)
        findings += installation.leftovers.map {
            Finding(time: world.elapsed, text: "\($0), and nobody is logged in")
        }
        installation.end()
        return Result(
            seed: seed, scene: scene, entries: journal.entries, hash: journal.hash, findings: findings)
    }

    private static func backend(_ random: RandomStream) -> Installation.Size.Backend {
        var settings = WebhookQueue.Settings()
        settings.lease = .seconds(Int64(random.pick([5, 15]) ?? 15))
        settings.parallel = random.number(in: 1...8)
        settings.batchEvents = random.pick([1, 5, 100]) ?? 100
        if random.chance(1, in: 2) { settings.giveUpAfter = .seconds(Int64(random.number(in: 20...60))) }
        let webhooks = ["all", "some"].prefix(random.number(in: 1...2)).map { name in
            var record = WebhookRecord(
                app: "app", name: name, url: "https://\(name).example", secret: Secret(""))
            if name == "some" { (record.types, record.channels) = ("message.published", "b") }
            return record
        }
        return Installation.Size.Backend(
            gateways: random.number(in: 1...3), webhooks: webhooks, settings: settings)
    }

    private static func company(_ random: RandomStream) -> MessagingNodeProcess.Company {
        MessagingNodeProcess.Company(nodes: random.number(in: 1...3), shards: random.number(in: 1...3))
    }

    private static func presence(_ random: RandomStream) -> Installation.Size.Presence {
        let seconds = random.pick([5, 20, 60]) ?? 60
        return Installation.Size.Presence(
            announce: AnnounceRules(
                announceMax: random.pick([50, 50, 2]) ?? 50, interval: 5_000,
                debounce: random.pick([0, 2_000]) ?? 0),
            timeout: .seconds(seconds))
    }
}
