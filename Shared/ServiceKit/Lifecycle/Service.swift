/// A part that a process starts, keeps running, and shuts down: a listener, a link, a sweep, a database.
///
/// `start` is called first, then `run`, and `shutdown` when the process ends; `shutdown` is called only on
/// services whose `start` has returned. All three have a default that does nothing.
package protocol Service: Sendable {
    /// The name in the logs: "edge listener".
    var name: String { get }

    /// Returns when others may use the service: it is bound or opened, or its first connect is under way. An
    /// error ends the process; a dependency that may come later is a readiness probe instead. The task is
    /// cancelled when the process has to stop.
    func start() async throws

    /// Runs for the life of the service, or returns when the service has no work of its own. An error ends
    /// the process. The task is cancelled after all services are shut down.
    func run() async throws

    /// Finishes the work in progress, accepts nothing new, and returns by the deadline. After the deadline
    /// the process ends anyway.
    func shutdown(deadline: ContinuousClock.Instant) async

    /// The addresses where the service listens; they are known after `start`.
    var listening: [ListeningAddress] { get async }
}

extension Service {
    package func start() async throws {}
    package func run() async throws {}
    package func shutdown(deadline: ContinuousClock.Instant) async {}
    package var listening: [ListeningAddress] { get async { [] } }
}

/// An open listener, for the log line about the start: with port 0 configured it names the port that the
/// system chose.
package struct ListeningAddress: Sendable, Hashable {
    /// The name of the listener's key without the word listen: "edge", "edge.tls".
    package let purpose: String
    package let address: HostPort

    package init(_ purpose: String, _ address: HostPort) {
        self.purpose = purpose
        self.address = address
    }
}

/// The parts that a service definition made, in the order in which they start. They shut down in reverse.
package struct Assembly: Sendable {
    package let services: [any Service]

    package init(_ services: [any Service]) { self.services = services }
}
