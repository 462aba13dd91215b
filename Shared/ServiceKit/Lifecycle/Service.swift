/// Something that a process starts, keeps running, and shuts down: a listener, a link, a sweep, a database.
///
/// The order of calls is `start`, then `run` and, when the process ends, `shutdown`; `shutdown` comes only
/// to services whose `start` returned. All three have a default that does nothing.
package protocol Service: Sendable {
    /// For logs: "edge listener".
    var name: String { get }

    /// Returns when others may use the service: bound, opened, first connect under way. Throwing ends the
    /// process; a dependency that may come later is a readiness probe instead. Cancelled when the process
    /// is told to stop.
    func start() async throws

    /// Goes on for the life of the service, or returns when it has nothing to do of its own. Throwing ends
    /// the process. Cancelled after all services are shut down.
    func run() async throws

    /// Finishes what was begun, accepts nothing new, and returns by the deadline, after which the process
    /// ends anyway.
    func shutdown(deadline: ContinuousClock.Instant) async

    /// Where the service listens, known after `start`.
    var listening: [ListeningAddress] { get async }
}

extension Service {
    package func start() async throws {}
    package func run() async throws {}
    package func shutdown(deadline: ContinuousClock.Instant) async {}
    package var listening: [ListeningAddress] { get async { [] } }
}

/// An open listener, for the start line of the process: with port 0 configured, this is where the port is
/// found.
package struct ListeningAddress: Sendable, Hashable {
    /// The name of its key without the word listen: "edge", "edge.tls".
    package let purpose: String
    package let address: HostPort

    package init(_ purpose: String, _ address: HostPort) {
        self.purpose = purpose
        self.address = address
    }
}

/// What a service definition made: the parts in the order in which they start. They shut down in reverse.
package struct Assembly: Sendable {
    package let services: [any Service]

    package init(_ services: [any Service]) { self.services = services }
}
