import Foundation
import NIOCore
import RTMAccessToken
public import RTMClient
import RTMEdgeServer
import RTMMessagingServer
import RTMModel
import RTMPresenceServer
import RTMServiceKit
import RTMStorageServer
import Synchronization

/// A whole installation for tests: an edge, messaging, presence and storage run in the test's own process,
/// without ports, and in a time of their own.
///
/// ```swift
/// let world = try await TestWorld()
/// let alice = try await world.client("alice")
/// await world.cut("alice")
/// await world.advance(by: .seconds(30))
/// #expect(alice.linkState != .connected)
/// await world.mend("alice")
/// #expect(await world.advance(upTo: .seconds(30)) { alice.linkState == .connected })
/// await world.end()
/// ```
///
/// The servers are the real ones, and so are the clients. Whoever connects to ``server`` is in this world:
/// give the address to the app that is tested.
///
/// Time passes in two ways. What a call needs arrives by itself, after the ``Configuration/latency`` of the
/// network. All other time passes with ``advance(by:)``, as fast as the machine can. Whenever an app received
/// something, time stands still until the app has acted. If a call can't be answered without more time, such
/// as a login while the network is cut, and the test does nothing but wait for it, then time passes, too.
public final class TestWorld: Sendable {
    /// What a world is like.
    public struct Configuration: Sendable {
        /// Whether users need a token: ``TestWorld/configuration(of:)`` has one for 24 hours, and
        /// ``TestWorld/token(for:lifetime:)`` makes others.
        public var needsTokens = false
        /// How long a packet takes, each way. The default is a millisecond.
        public var latency: Duration = .milliseconds(1)
        /// Every random number of the servers comes from it.
        public var seed: UInt64 = 1
        /// What the servers are configured with, by the names of the keys, such as `edge.rates.publish`. The
        /// page docs/configuration.md lists them.
        public var keys: [String: String] = [:]

        /// Everything has a default.
        public init() {}
    }

    /// The services of an installation.
    public enum Server: String, Sendable, CaseIterable {
        /// Keeps the logs of channels.
        case messaging
        /// Knows who is in which channel.
        case presence
        /// Keeps metadata, locks and history.
        case storage
        /// Has the connections of the clients.
        case edge
    }

    /// The kinds of calls that can be refused.
    public enum Call: Sendable, Hashable {
        /// `login`.
        case login
        /// `renewToken`.
        case renewToken
        /// `subscribe` to a channel, and `join` of a stream channel.
        case subscribe
        /// `unsubscribe` from a channel.
        case unsubscribe
        /// `publish` to a channel, a user or a topic.
        case publish
        /// Who is where, and states.
        case presence
        /// Reading, writing and following metadata.
        case metadata
        /// Everything about locks.
        case lock
        /// Reading stored messages.
        case history
    }

    /// The address of the servers: for `RTMClient.Configuration.servers`, and as text for
    /// `AgoraRtmPrivateConfig.accessPointHosts`.
    public let server: ServerAddress
    /// The only app that the servers serve. A client of this world with another app id is refused when it is
    /// made, with `.invalidAppId` (-10003).
    public let appID: String
    private let certificate: String?
    private let thread: WorldThread
    private let core: NIOLoopBound<WorldCore>
    /// When the servers had found each other.
    let begin: Duration

    private static let lastNumber = Atomic<Int>(0)
    /// An app with a certificate has an id of 32 digits.
    private static let sampleID = "0123456789abcdef0123456789abcdef"
    private static let sampleCertificate = "fedcba9876543210fedcba9876543210"

    /// Starts a world.
    ///
    /// - Throws: an error that names what is wrong if a key of the configuration is unknown or has a wrong
    ///   value.
    public init(_ configuration: Configuration = Configuration()) async throws {
        let number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        server = ServerAddress(host: "world-\(number).test")
        appID = configuration.needsTokens ? Self.sampleID : "test"
        certificate = configuration.needsTokens ? Self.sampleCertificate : nil
        let app = certificate.map { "\(Self.sampleID):\($0)" } ?? appID
        let servers = try Self.load(configuration.keys, app: app)
        let (seed, latency) = (configuration.seed, configuration.latency)
        let thread = WorldThread()
        let (core, place, begin) = try await withCheckedThrowingContinuation { continuation in
            thread.start {
                let core = WorldCore(servers, seed: seed, latency: latency, on: thread)
                continuation.resume(
                    with: Result {
                        try core.startAll()
                        let bound = NIOLoopBound(core, eventLoop: core.world.loop)
                        return (bound, (core.loop, core.watch), core.world.elapsed)
                    })
                return core
            }
        }
        (self.thread, self.core, self.begin) = (thread, core, begin)
        ClientEnvironment.add(server.host, Self.clientEnvironment(core, place, of: appID, seed: seed))
    }

    deinit {
        ClientEnvironment.remove(server.host)
        thread.put(.world { $0.release() })
    }

    private static func load(_ keys: [String: String], app: String) throws -> RTMServiceKit.Configuration {
        let definitions = [
            MessagingDefinition.service, PresenceDefinition.service, StorageDefinition.service(),
            EdgeDefinition.service(hooks: nil, keys: nil),
        ]
        let schema = ConfigurationSchema(
            definitions.flatMap(\.keys) + [CommonKeys.apps.declaration], section: "test",
            // In an hour of an idle world most of the work is sweeps.
            defaults: ["presence.sweepInterval": "1s"])
        var variables = [CommonKeys.apps.declaration.variable: app]
        for (name, value) in keys {
            guard let key = schema.keys.first(where: { $0.name == name }) else {
                throw RTMError(.invalidParameter, "there is no key '\(name)' in docs/configuration.md")
            }
            variables[key.variable] = value
        }
        return try ConfigurationLoader(schema: schema) { _ in "" }.load(arguments: [], environment: variables)
    }

    private static func clientEnvironment(
        _ core: NIOLoopBound<WorldCore>, _ place: (loop: WorldLoop, watch: AppWatch), of appID: String,
        seed: UInt64
    ) -> ClientEnvironment.Maker {
        let lastDevice = DeviceNumbers()
        return { configuration throws(RTMError) in
            guard configuration.appID == appID else {
                throw RTMError(
                    .invalidAppId,
                    "the client of \"\(configuration.userID)\" has the app id \"\(configuration.appID)\", "
                        + "and this TestWorld serves \"\(appID)\" alone: make the client with world.appID",
                    operation: "init")
            }
            let device = lastDevice.next()
            let (host, user) = (Host("device\(device)"), configuration.userID)
            return ClientEnvironment(
                eventLoop: place.loop, now: { core.value.world.instant },
                utcMilliseconds: { Int64(core.value.world.utcMilliseconds) },
                random: SeededRandom(seed: seed ^ UInt64(device) << 32),
                dial: { _, end, failed in core.value.dial(host, of: user, end, failed) }, watch: place.watch)
        }
    }

    /// Ends all sessions and the servers. Calls of clients fail from now on.
    public func end() async {
        ClientEnvironment.remove(server.host)
        await runInTurn { $0.end() }
    }

    // MARK: Clients

    /// A configuration with which a client is in this world, for a client that the test or the app makes. It
    /// has a token if the world needs tokens; an app that brings a `tokenProvider` sets it to `nil`.
    public func configuration(of userID: String) async throws -> RTMClient.Configuration {
        var configuration = RTMClient.Configuration(servers: [server], appID: appID, userID: userID)
        if certificate != nil {
            configuration.token = try await token(for: userID, lifetime: .seconds(24 * 60 * 60))
        }
        return configuration
    }

    /// A client that is logged in.
    public func client(_ userID: String) async throws -> RTMClient {
        let client = try RTMClient(try await configuration(of: userID))
        try await client.login()
        return client
    }

    /// A token as the app's own server makes it. To let it expire, let its lifetime pass.
    ///
    /// - Throws: `.invalidParameter` (-10014) if the world needs no tokens.
    public func token(for userID: String, lifetime: Duration) async throws -> String {
        guard let certificate else {
            throw RTMError(
                .invalidParameter, "this world has no tokens: set needsTokens in its configuration")
        }
        let issuedAt = await run { $0.world.utcMilliseconds / 1_000 }
        let login = TokenService(.rtm(user: userID), privileges: [TokenService.Privilege.login: 0])
        let token = AccessToken(
            appID: appID, issuedAt: UInt32(issuedAt), lifetimeSeconds: UInt32(lifetime / .seconds(1)),
            services: [login])
        return try token.signed(with: certificate).text
    }

    // MARK: Inside

    /// Does something in the world at once, in turn with what clients do there, also while time passes.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (WorldCore) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            thread.put(.client { [core] in continuation.resume(with: Result { try body(core.value) }) })
        }
    }

    func run<Value: Sendable>(_ body: @escaping @Sendable (WorldCore) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            thread.put(.client { [core] in continuation.resume(returning: body(core.value)) })
        }
    }

    /// Does something in the world when nothing else of this kind is under way.
    func runInTurn(_ body: @escaping @Sendable (WorldCore) -> Void) async {
        await withCheckedContinuation { continuation in
            thread.put(
                .world { core in
                    body(core)
                    continuation.resume()
                })
        }
    }
}

/// Numbers for devices, in the order in which clients are made.
private final class DeviceNumbers: Sendable {
    private let last = Atomic<Int>(0)

    func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
