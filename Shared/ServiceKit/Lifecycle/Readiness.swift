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
        /// Whether the process is ready only if this probe is.
        package let isRequired: Bool
        package internal(set) var status: Status
        /// What the operator should know of a probe that is ready.
        package internal(set) var note: String?

        package init(name: String, isRequired: Bool = true, status: Status, note: String? = nil) {
            self.name = name
            self.isRequired = isRequired
            self.status = status
            self.note = note
        }
    }

    package private(set) var probes: [Probe] = []

    package init() {}

    package var isReady: Bool { probes.allSatisfy { $0.status == .ready || !$0.isRequired } }

    /// Adds a probe and returns its place.
    package mutating func register(_ name: String, isRequired: Bool = true) -> Int {
        precondition(!probes.contains { $0.name == name }, "two readiness probes are named \(name)")
        probes.append(Probe(name: name, isRequired: isRequired, status: .notReady("not started")))
        return probes.count - 1
    }

    /// Returns true if the probe changed between ready and not ready, which is worth a log line.
    package mutating func set(_ status: Status, note: String? = nil, at place: Int) -> Bool {
        let before = probes[place].status
        (probes[place].status, probes[place].note) = (status, note)
        return (before == .ready) != (status == .ready)
    }
}

/// The probes of the process and its lifecycle, readable from any thread. Changes are logged here and nowhere
/// else.
package final class ReadinessRegistry: Sendable {
    private let readiness = Mutex(Readiness())
    private let logger: Logger
    private let isEnding: @Sendable () -> Bool

    /// - Parameter isEnding: whether the process shuts down. What it lets go of then is no news.
    package init(logger: Logger, isEnding: @escaping @Sendable () -> Bool = { false }) {
        self.logger = logger
        self.isEnding = isEnding
    }

    /// Adds a probe, which is not ready at first. Names are unique in the process.
    ///
    /// - Parameter isRequired: whether the process is ready only if the probe is.
    package func probe(_ name: String, isRequired: Bool = true) -> ReadinessProbe {
        let place = readiness.withLock { $0.register(name, isRequired: isRequired) }
        return ReadinessProbe(registry: self, place: place, name: name)
    }

    package var snapshot: Readiness { readiness.withLock { $0 } }

    fileprivate func set(_ status: Readiness.Status, note: String? = nil, at place: Int, name: String) {
        guard readiness.withLock({ $0.set(status, note: note, at: place) }) else { return }
        switch status {
        case .ready:
            var metadata: Logger.Metadata = ["probe": "\(name)"]
            if let note { metadata["note"] = "\(note)" }
            logger.notice("probe ready", metadata: metadata)
        case .notReady(let cause):
            logger.log(
                level: isEnding() ? .debug : .warning, "probe not ready",
                metadata: ["probe": "\(name)", "cause": "\(cause)"])
        }
    }
}

/// The handle with which a service reports whether one of its needs is met. Setting the same status again
/// costs a lock and no log line.
package struct ReadinessProbe: Sendable {
    fileprivate let registry: ReadinessRegistry
    fileprivate let place: Int
    package let name: String

    /// - Parameter note: what the operator should know of it all the same, as a clause.
    package func ready(_ note: String? = nil) { registry.set(.ready, note: note, at: place, name: name) }

    /// - Parameter cause: what is missing, with its address: "no connection to messaging at 127.0.0.1:7720".
    package func notReady(_ cause: String) { registry.set(.notReady(cause), at: place, name: name) }
}
