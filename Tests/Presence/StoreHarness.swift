import Foundation
import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMRedis
import RTMServiceKit
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Synchronization
import Testing

@testable import RTMPresenceServer

/// A store of either kind on an event loop, with a clock that only tests move, and the events that it
/// reported to its observer.
final class StoreHarness: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case embedded
        /// Redis runs as a process of its own.
        case redis
        /// The Redis Cluster that the suite shares (`overRedisCluster`).
        case cluster
    }

    private final class Journal: PresenceStoreObserver {
        var events: [ChannelKey: [(sequence: UInt64, event: RosterEvent)]] = [:]
        var sources: Set<UInt64> = []
        var leases = 0
        var olderLinks: [EdgeLink] = []
        /// The channels of which events were reported, one entry for each event.
        var order: [ChannelKey] = []
        /// The room's events, each with its source.
        var sourced: [(source: UInt64, sequence: UInt64, event: RosterEvent)] = []

        func rosterChanged(_ channel: ChannelKey, _ change: NumberedEvents) {
            if channel == .room {
                sourced += change.events.map { (change.source, $0.sequence, $0.event) }
            }
            order += change.events.map { _ in channel }
            sources.insert(change.source)
            events[channel, default: []] += change.events
        }

        func leasesExpired(_ leases: Int) { self.leases += leases }

        func isOlder(_ link: EdgeLink) { olderLinks.append(link) }
    }

    private struct Life {
        let store: any PresenceStore
        let journal: Journal
    }

    private let loop: any EventLoop
    private let life: NIOLoopBound<Life>
    let clock: TestClock
    /// Nil for the embedded store.
    let redis: RedisServerProcess?
    /// Where the store keeps its rosters; nil for the embedded one.
    private let deployment: RedisConfiguration.Deployment?
    /// Stores with the same prefix share their rosters.
    let prefix: String
    private let readiness: ReadinessRegistry
    private let rules: PresenceRules

    final class TestClock: Sendable {
        private let time = Mutex<UInt64>(1_000_000)
        var now: UInt64 { time.withLock { $0 } }
        func advance(_ milliseconds: UInt64) { time.withLock { $0 += milliseconds } }
    }

    private init(
        _ rules: PresenceRules, _ redis: RedisServerProcess?,
        _ deployment: RedisConfiguration.Deployment?, prefix: String = "test:",
        credentials: RedisCredentials? = nil, commandsMax: Int = 65_536, trust: String? = nil,
        sharesClock: Bool = false, on loop: any EventLoop, clock: TestClock
    ) async throws {
        self.loop = loop
        self.redis = redis
        self.deployment = deployment
        self.prefix = prefix
        self.clock = clock
        self.rules = rules
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let readiness = ReadinessRegistry(logger: logger)
        self.readiness = readiness
        let tls = try redis?.tlsPort.map { _ in
            ServiceLinkTLS(try .init(identity: nil, trust: trust))
        }
        life = try await loop.submit {
            let store: any PresenceStore
            if let deployment {
                var configuration = RedisConfiguration(deployment)
                configuration.tls = tls
                configuration.commandTimeout = .milliseconds(1_500)
                configuration.commandsMax = commandsMax
                configuration.backoff = .init(first: .milliseconds(5), longest: .milliseconds(50))
                configuration.credentials = credentials ?? configuration.credentials
                store = RedisPresenceStore(
                    configuration, prefix: prefix, rules: rules, on: loop, probe: readiness.probe("redis"),
                    logger: logger, clock: sharesClock ? nil : { clock.now })
            } else {
                store = InMemoryPresenceStore(rules, source: 77) { clock.now }
            }
            let journal = Journal()
            store.observer = journal
            store.start()
            return NIOLoopBound(Life(store: store, journal: journal), eventLoop: loop)
        }.get()
    }

    private func close() async throws {
        let life = self.life
        try await loop.submit {
            life.value.store.shutdown()
            life.value.store.observer = nil
        }.get()
    }

    static let rules = PresenceRules(
        announce: AnnounceRules(announceMax: 50, interval: 30_000, debounce: 0),
        states: StateLimits(countMax: 32, keyBytesMax: 32, valueBytesMax: 1_024), leaseTimeToLive: 3_600_000,
        grace: 0, channelsMax: 1_000)

    /// Runs the body with a fresh, empty store.
    static func with(
        _ kind: Kind, _ rules: PresenceRules = StoreHarness.rules, commandsMax: Int = 65_536,
        _ body: (StoreHarness) async throws -> Void
    ) async throws {
        let server = kind == .redis ? try RedisServerProcess() : nil
        defer { server?.remove() }
        try await server?.isListening()
        try await with(kind, rules, at: server, commandsMax: commandsMax, body)
    }

    private static func deployment(
        _ kind: Kind, _ server: RedisServerProcess?
    ) throws -> RedisConfiguration.Deployment? {
        switch kind {
        case .embedded: return nil
        case .redis:
            let server = try #require(server)
            return .server(
                server.tlsPort.map { .tcp(host: "127.0.0.1", port: $0) } ?? .unixSocket(server.socket))
        case .cluster:
            let nodes = try #require(RedisClusterProcess.shared).nodes
            return .cluster(seeds: nodes.map { .tcp(host: "127.0.0.1", port: $0.port) })
        }
    }

    /// - Parameter trust: the authorities that are trusted if the server talks TLS, as PEM.
    /// - Parameter waits: whether to wait until the store is usable.
    static func with(
        _ kind: Kind, _ rules: PresenceRules = StoreHarness.rules, at server: RedisServerProcess?,
        credentials: RedisCredentials? = nil, commandsMax: Int = 65_536, trust: String? = nil,
        waits: Bool = true,
        sharesClock: Bool = false,
        _ body: (StoreHarness) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let failure: (any Error)?
        do {
            let harness = try await StoreHarness(
                rules, server, try deployment(kind, server),
                prefix: kind == .cluster ? "test-\(UUID().uuidString):" : "test:", credentials: credentials,
                commandsMax: commandsMax, trust: trust, sharesClock: sharesClock, on: group.next(),
                clock: TestClock())
            do {
                if waits { try await eventually("the store is ready") { harness.isReady } }
                try await body(harness)
                failure = nil
            } catch {
                failure = error
            }
            try await harness.close()
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
        if let failure { throw failure }
    }

    /// Makes another node over the same Redis, with the same clock.
    func withSecondNode(_ body: (StoreHarness) async throws -> Void) async throws {
        let second = try await StoreHarness(
            rules, redis, deployment, prefix: prefix, on: loop, clock: clock)
        try await eventually("the second node is ready") { second.isReady }
        do {
            try await body(second)
        } catch {
            try await second.close()
            throw error
        }
        try await second.close()
    }

    /// The clock of a store that shares it with all nodes.
    func sharedTime() async throws -> UInt64 {
        let life = self.life
        return try await loop.submit { (life.value.store as? RedisPresenceStore)?.clock() ?? 0 }.get()
    }

    func sources() async throws -> Set<UInt64> {
        let life = self.life
        return try await loop.submit { life.value.journal.sources }.get()
    }

    var isReady: Bool { readiness.snapshot.isReady }

    /// Why the store isn't ready.
    var cause: String { readiness.snapshot.probes.map { "\($0.status)" }.joined() }

    /// Sends a command to Redis; without Redis it does nothing.
    @discardableResult
    func command(_ words: String...) async throws -> RedisReply {
        let life = self.life
        let promise = loop.makePromise(of: RedisReply.self)
        loop.execute {
            guard let store = life.value.store as? RedisPresenceStore else { return promise.succeed(.null) }
            store.client.send(RedisCommand(words.map { .text($0) })) { outcome in
                promise.completeWith(outcome.mapError { $0 as any Error })
            }
        }
        return try await promise.futureResult.get()
    }

    /// - Parameter source: that of the newest event if nil.
    func acknowledge(of source: UInt64? = nil, through sequence: UInt64) async throws {
        let life = self.life
        try await loop.submit {
            let newest = life.value.journal.sourced.last?.source ?? 0
            life.value.store.acknowledge(
                .room, of: source ?? newest, through: sequence,
                at: StreamPosition(epoch: 4, offset: sequence))
        }.get()
    }

    func sourcedEvents() async throws -> [(source: UInt64, sequence: UInt64, event: RosterEvent)] {
        let life = self.life
        return try await loop.submit { life.value.journal.sourced }.get()
    }

    func numbered() async throws -> [(sequence: UInt64, event: RosterEvent)] {
        let life = self.life
        return try await loop.submit { life.value.journal.events[.room] ?? [] }.get()
    }

    /// Calls the store and awaits its answer.
    func call<Value: Sendable>(
        _ body: @escaping @Sendable (any PresenceStore, @escaping (Result<Value, RTMError>) -> Void) -> Void
    ) async throws -> Value {
        let promise = loop.makePromise(of: Value.self)
        let life = self.life
        loop.execute {
            body(life.value.store) { outcome in promise.completeWith(outcome.mapError { $0 as any Error }) }
        }
        return try await promise.futureResult.get()
    }

    /// The channel's events since the last call.
    func events(_ channel: ChannelKey = .room) async throws -> [RosterEvent] {
        let life = self.life
        return try await loop.submit {
            (life.value.journal.events.removeValue(forKey: channel) ?? []).map(\.event)
        }.get()
    }

    /// The types of the channels of all events, in the order in which they were reported.
    func order() async throws -> [ChannelType] {
        let life = self.life
        return try await loop.submit { life.value.journal.order.map(\.type) }.get()
    }

    func sequences(_ channel: ChannelKey = .room) async throws -> [UInt64] {
        let life = self.life
        return try await loop.submit {
            (life.value.journal.events[channel] ?? []).map(\.sequence)
        }.get()
    }

    func olderLinks() async throws -> [EdgeLink] {
        let life = self.life
        return try await loop.submit { life.value.journal.olderLinks }.get()
    }

    func expiredLeases() async throws -> Int {
        let life = self.life
        return try await loop.submit { life.value.journal.leases }.get()
    }

    var totals: PresenceTotals {
        get async throws {
            let life = self.life
            return try await loop.submit { life.value.store.totals }.get()
        }
    }

    /// Lets time pass, with sweeps on the way as a node makes them.
    func advance(_ milliseconds: UInt64, sweeps: Int = 1) async throws {
        for _ in 0..<sweeps {
            clock.advance(milliseconds / UInt64(sweeps))
            try await sweep()
        }
    }

    func sweep() async throws { try await call { $0.sweep($1) } }
}

// MARK: - What tests say

extension PresenceRules {
    /// The rules of the tests, with changes.
    static func with(_ change: (inout PresenceRules) -> Void) -> PresenceRules {
        var rules = StoreHarness.rules
        change(&rules)
        return rules
    }
}

extension ChannelKey {
    static let room = ChannelKey(appID: "app", type: .message, name: "room")
    static func room(_ name: String) -> ChannelKey { ChannelKey(appID: "app", type: .message, name: name) }
}

extension Entry {
    static func of(
        _ user: String, session: UInt64 = 1, instance: UInt64 = 1, ownership: UInt64 = 1, lease: UInt64 = 1,
        quiet: Bool = false, timeout: UInt64 = 5_000, states: [String: String] = [:]
    ) -> Entry {
        Entry(
            user: user, session: session, instance: instance, ownership: ownership, lease: lease,
            isQuiet: quiet, timeout: timeout, states: StateChange.of("", states).items)
    }
}

extension Caller {
    static func of(_ user: String, session: UInt64 = 1, instance: UInt64 = 1) -> Caller {
        Caller(appID: "app", userID: user, session: SessionID(rawValue: session), instance: instance)
    }
}

extension StoreHarness {
    @discardableResult
    func enter(
        _ entry: Entry, _ channel: ChannelKey = .room, over link: EdgeLink = .unknown
    ) async throws -> Entered {
        try await call { $0.enter(entry, channel, over: link, $1) }
    }

    @discardableResult
    func adopt(
        _ entry: Entry, _ channel: ChannelKey = .room, isAnnounced: Bool = true,
        over link: EdgeLink = .unknown
    ) async throws -> Bool {
        try await call { $0.adopt(entry, channel, isAnnounced: isAnnounced, over: link, $1) }
    }

    func leave(
        _ caller: Caller, _ channel: ChannelKey = .room, over link: EdgeLink = .unknown
    ) async throws {
        try await call { $0.leave(caller, channel, over: link, $1) }
    }

    func end(_ caller: Caller, _ end: SessionEnd) async throws {
        try await call { $0.end(caller, end, $1) }
    }

    func set(
        _ caller: Caller, _ items: [String: String], _ channel: ChannelKey = .room,
        over link: EdgeLink = .unknown
    ) async throws -> Bool {
        try await cost(caller, items, channel, over: link) != nil
    }

    /// Sets states. Gives what the store gives.
    func cost(
        _ caller: Caller, _ items: [String: String], _ channel: ChannelKey = .room,
        over link: EdgeLink = .unknown
    ) async throws -> Int? {
        let states = items.sorted { $0.key < $1.key }.map { StateItem(key: $0.key, value: $0.value) }
        return try await call { $0.setStates(caller, channel, states, over: link, $1) }
    }

    func remove(
        _ caller: Caller, _ keys: [String], _ channel: ChannelKey = .room, over link: EdgeLink = .unknown
    ) async throws -> Bool {
        let cost: Int? = try await call { $0.removeStates(caller, channel, keys, over: link, $1) }
        return cost != nil
    }

    func states(of user: String, askedBy asker: String = "?") async throws -> [StateItem]? {
        try await call { $0.states(of: user, askedBy: asker, .room, $1) }
    }

    func users(
        after user: String? = nil, countMax: Int = 1_000, in channel: ChannelKey = .room
    ) async throws -> [String] {
        let users: [UserState] = try await call { $0.users(channel, after: user, countMax: countMax, $1) }
        return users.map(\.userID)
    }

    func count(_ channel: ChannelKey = .room) async throws -> Int {
        try await call { $0.onlineCount(channel, $1) }
    }

    func channels(of user: String) async throws -> [String] {
        let channels: [ChannelKey] = try await call {
            $0.channels(of: UserKey(appID: "app", userID: user), $1)
        }
        return channels.map(\.name)
    }

    func snapshot(_ channel: ChannelKey = .room) async throws -> RosterSnapshot {
        try #require(try await snapshot(channel, onlineMax: 1_000_000))
    }

    func snapshot(_ channel: ChannelKey = .room, onlineMax: Int) async throws -> RosterSnapshot? {
        try await call { $0.snapshot(channel, onlineMax: onlineMax, $1) }
    }

    /// Counts members over all channels. Redis doesn't count them.
    func hasMembers(_ count: Int) async throws {
        guard deployment == nil else { return }
        #expect(try await totals.members == count)
    }

    func renew(_ lease: UInt64) async throws -> Bool { try await renew(over: EdgeLink(lease: lease)) }

    @discardableResult
    func renew(over link: EdgeLink) async throws -> Bool { try await call { $0.renew(link, $1) } }

    func synced(_ lease: UInt64, except kept: Set<MemberKey>) async throws {
        try await synced(over: EdgeLink(lease: lease), except: kept)
    }

    func synced(over link: EdgeLink, except kept: Set<MemberKey>) async throws {
        try await call { $0.synced(link, except: kept, $1) }
    }
}

extension StateChange {
    static func of(
        _ user: String, _ items: [String: String], removed: [String] = [], whole: Bool = false
    ) -> StateChange {
        StateChange(
            userID: user,
            items: items.sorted { $0.key < $1.key }.map { StateItem(key: $0.key, value: $0.value) },
            removed: removed, isWhole: whole)
    }
}

extension RosterEvent {
    static func joined(_ user: String, except: UInt64 = 1) -> RosterEvent {
        RosterEvent(.joined, user: user, exceptSession: except)
    }
    static func joinedWithStates(_ user: String, except: UInt64 = 1) -> RosterEvent {
        RosterEvent(.joinedWithStates, user: user, exceptSession: except)
    }
    static func left(_ user: String, except: UInt64 = 1) -> RosterEvent {
        RosterEvent(.left, user: user, exceptSession: except)
    }
    static func timedOut(_ user: String) -> RosterEvent {
        RosterEvent(.timedOut, user: user, exceptSession: 0)
    }
    static func states(
        _ user: String, _ items: [String: String], removed: [String] = [], whole: Bool = false,
        except: UInt64 = 1
    ) -> RosterEvent {
        RosterEvent(
            .statesChanged(.of("", items, removed: removed, whole: whole)), user: user,
            exceptSession: except)
    }
    static func interval(_ interval: PresenceInterval) -> RosterEvent {
        RosterEvent(.interval(interval), user: "", exceptSession: 0)
    }
}
