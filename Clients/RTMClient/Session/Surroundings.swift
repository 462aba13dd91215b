import NIOConcurrencyHelpers
package import NIOCore

/// A world of somebody's making that a client lives in instead of the real one: it has a network, a clock and
/// a chance of its own. RTMTestKit makes such worlds.
package struct Surroundings: Sendable {
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

    /// By the host of the servers that are in them.
    private static let places = NIOLockedValueBox<
        [String: @Sendable (RTMClient.Configuration) -> Surroundings]
    >([:])

    /// From now on clients of this server live in these surroundings.
    package static func add(
        _ host: String, _ make: @escaping @Sendable (RTMClient.Configuration) -> Surroundings
    ) {
        places.withLockedValue { $0[host] = make }
    }

    package static func remove(_ host: String) { places.withLockedValue { $0[host] = nil } }

    static func of(_ configuration: RTMClient.Configuration) -> Surroundings? {
        guard let host = configuration.servers.first?.host else { return nil }
        return places.withLockedValue { $0[host] }?(configuration)
    }
}

/// Sees what an app does with a client, so that time need not pass before the app has acted.
package protocol ClientWatch: Sendable {
    func joined(_ client: WatchedClient)
    /// The app has released the client.
    func left(_ client: WatchedClient)
    /// A call of the app has begun, it was answered, and the app's task goes on.
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

    /// Ends the session without a word. It is called on the event loop.
    package func close() { link.value.close(nil) }
}

struct SurroundingsDialer: Dialing {
    let surroundings: Surroundings

    /// Such a world has no interfaces of a device: a second path leads to another server.
    func dial(
        _ server: ServerAddress, over interface: String?, for receiver: any FrameReceiver
    ) -> ServerConnection {
        let connection = ServerConnection(eventLoop: surroundings.eventLoop, receiver: receiver)
        surroundings.dial(server, connection) { connection.connectFailed($0, $1) }
        return connection
    }
}
