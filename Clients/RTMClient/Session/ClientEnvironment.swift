import NIOConcurrencyHelpers
package import NIOCore

/// What a client depends on instead of the real system: a network, a clock and random numbers. RTMTestKit
/// makes such environments.
package struct ClientEnvironment: Sendable {
    /// Connects the handler, which stands at the end of a pipeline, with a server, or says why it can't. It
    /// is called on the event loop.
    package typealias Dial =
        @Sendable (
            _ server: ServerAddress, _ end: any ChannelHandler,
            _ failed: @escaping (String, ConnectionFailure?) -> Void
        ) -> Void

    let eventLoop: any EventLoop
    let clock: LinkClock
    let random: any RandomNumberGenerator & Sendable
    let dial: Dial
    let watch: any ClientWatch

    package init(
        eventLoop: any EventLoop, now: @escaping @Sendable () -> ContinuousClock.Instant,
        utcMilliseconds: @escaping @Sendable () -> Int64, random: any RandomNumberGenerator & Sendable,
        dial: @escaping Dial, watch: any ClientWatch
    ) {
        self.eventLoop = eventLoop
        clock = LinkClock(now: now, utcMilliseconds: utcMilliseconds)
        self.random = random
        self.dial = dial
        self.watch = watch
    }

    /// Makes the environment of a client, or refuses a client that can't be in it.
    package typealias Maker = @Sendable (RTMClient.Configuration) throws(RTMError) -> ClientEnvironment

    /// By the host of the servers that are in them.
    private static let environments = NIOLockedValueBox<[String: Maker]>([:])

    /// From now on clients of this server are made in this environment.
    package static func add(_ host: String, _ make: @escaping Maker) {
        environments.withLockedValue { $0[host] = make }
    }

    package static func remove(_ host: String) { environments.withLockedValue { $0[host] = nil } }

    static func of(_ configuration: RTMClient.Configuration) throws(RTMError) -> ClientEnvironment? {
        guard let host = configuration.servers.first?.host else { return nil }
        return try environments.withLockedValue { $0[host] }?(configuration)
    }
}

/// Sees what an app does with a client, so that time need not pass before the app has acted.
package protocol ClientWatch: Sendable {
    func joined(_ client: WatchedClient)
    /// The app has released the client.
    func left(_ client: WatchedClient)
    /// A call of the app has begun, it was answered, and the app's task runs again.
    func began()
    func answered()
    func resumed()
}

/// A client as its watch knows it.
package struct WatchedClient: Sendable {
    /// A task that reads events.
    package struct Reader: Hashable, Sendable {
        private let id: UInt64
        private let waits: UInt64

        init(id: UInt64, waits: UInt64) {
            self.id = id
            self.waits = waits
        }
    }

    let hub: EventHub
    let link: NIOLoopBoundBox<Link>

    package func isSame(as other: WatchedClient) -> Bool { hub === other.hub }

    package func attach(_ sink: some EventSink) { hub.add(sink) }

    /// The readers that have taken an event and don't wait for the next one yet.
    package var busyReaders: [Reader] { hub.busyReaders }

    /// Ends the session without an event. It is called on the event loop.
    package func close() { link.value.close(nil) }
}

struct EnvironmentDialer: Dialing {
    let environment: ClientEnvironment

    /// Such an environment has no interfaces of a device: a second path leads to another server.
    func dial(
        _ server: ServerAddress, over interface: String?, for receiver: any FrameReceiver
    ) -> ServerConnection {
        let connection = ServerConnection(eventLoop: environment.eventLoop, receiver: receiver)
        environment.dial(server, connection) { connection.connectFailed($0, $1) }
        return connection
    }
}
