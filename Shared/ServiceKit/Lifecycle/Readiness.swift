package import Logging
internal import Synchronization

/// What the process waits for before traffic is welcome: named probes, each ready, or not ready with a cause.
/// Pure.
package struct Readiness: Sendable {
    package enum Status: Sendable, Hashable {
        case ready
        /// Not ready, with the cause in words for the operator.
        case notReady(String)
    }

    package struct Probe: Sendable, Hashable {
        package let name: String
        package internal(set) var status: Status
    }

    package private(set) var probes: [Probe] = []

    package init() {}

    package var isReady: Bool { probes.allSatisfy { $0.status == .ready } }

    /// Adds a probe and returns its place.
    package mutating func register(_ name: String) -> Int {
        precondition(!probes.contains { $0.name == name }, "two readiness probes are named \(name)")
        probes.append(Probe(name: name, status: .notReady("not started")))
        return probes.count - 1
    }

    /// Returns true if the probe changed between ready and not ready, which is worth a log line.
    package mutating func set(_ status: Status, at place: Int) -> Bool {
        let before = probes[place].status
        probes[place].status = status
        return (before == .ready) != (status == .ready)
    }
}

/// The probes of the process and its lifecycle, readable from any thread. Changes are logged here and nowhere
/// else.
package final class ReadinessRegistry: Sendable {
    private let readiness = Mutex(Readiness())
    private let logger: Logger

    package init(logger: Logger) { self.logger = logger }

    /// Adds a probe, which is not ready at first. Names are unique in the process.
    package func probe(_ name: String) -> ReadinessProbe {
        ReadinessProbe(registry: self, place: readiness.withLock { $0.register(name) }, name: name)
    }

    package var snapshot: Readiness { readiness.withLock { $0 } }

    fileprivate func set(_ status: Readiness.Status, at place: Int, name: String) {
        guard readiness.withLock({ $0.set(status, at: place) }) else { return }
        switch status {
        case .ready: logger.notice("probe ready", metadata: ["probe": "\(name)"])
        case .notReady(let cause):
            logger.warning("probe not ready", metadata: ["probe": "\(name)", "cause": "\(cause)"])
        }
    }
}

/// The handle with which a service reports whether one of its needs is met. Setting the same status again
/// costs a lock and no log line.
package struct ReadinessProbe: Sendable {
    fileprivate let registry: ReadinessRegistry
    fileprivate let place: Int
    package let name: String

    package func ready() { registry.set(.ready, at: place, name: name) }

    /// - Parameter cause: what is missing, with its address: "no connection to messaging at 127.0.0.1:7720".
    package func notReady(_ cause: String) { registry.set(.notReady(cause), at: place, name: name) }
}
