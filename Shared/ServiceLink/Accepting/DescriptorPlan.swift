/// How the descriptors that a process may have are shared out. Pure.
///
/// A process without a free descriptor can't connect to its services again, can't open its files, and can't
/// answer at its admin port. On Linux it may even die: Swift's dispatch library opens `/proc/TID/stat` of its
/// threads once a second, and ends the process when it can't. So connections that others open never get the
/// last descriptors, and those of the admin port get some more than the others.
package struct DescriptorPlan: Sendable, Equatable {
    /// What the process itself opens at most: listeners, files, connections to Redis, and the links of a few
    /// loops.
    private static let own = 64
    /// What an event loop needs for itself and for its links.
    private static let ownPerLoop = 8
    /// With fewer connections of its callers or clients a service is of no use.
    private static let connectionsMin = 32
    /// No accepted connection gets one of the last descriptors, whatever the counts are.
    private static let spare = 16

    /// Who opens a connection to this process.
    package enum Caller: Sendable {
        /// A client, or another service.
        case peer
        /// Whoever asks at the admin port.
        case operating
    }

    /// How many descriptors the process may have; nil if it isn't known.
    package let limit: Int?
    /// With fewer descriptors the process does not start.
    package let needed: Int
    /// Connections at once to all listeners of the service.
    package let connectionsMax: Int
    /// Connections beyond that which get an answer before they are closed. Others are closed without one.
    package let refusedMax: Int
    /// Connections at once to the admin port.
    package let adminMax: Int

    /// - Parameters:
    ///   - limit: nil if it isn't known.
    ///   - more: what the configuration needs beside the usual.
    package init(limit: Int?, loops: Int, more: Int = 0) {
        self.limit = limit
        let kept = Self.own + Self.ownPerLoop * loops + more
        let few = Self.few(limit)
        refusedMax = few
        adminMax = few
        connectionsMax = max(1, (limit ?? .max) - kept - 2 * few)
        needed = kept + 2 * Self.few(0) + Self.connectionsMin
    }

    package static let unlimited = DescriptorPlan(limit: nil, loops: 0)

    private static func few(_ limit: Int?) -> Int { max(4, min(64, (limit ?? .max) / 32)) }

    /// Why the process can't work; nil if it has enough descriptors.
    package var shortage: String? {
        guard let limit, limit < needed else { return nil }
        return "the process may have \(limit) descriptors, and with this configuration it needs at least "
            + "\(needed): raise LimitNOFILE of its systemd unit, the ulimits of its container, or ulimit -n"
    }

    /// Whether an accepted connection may keep its descriptor. No connection keeps a number above a bound, so
    /// the numbers above it are always there for the process itself.
    package func mayKeep(_ descriptor: Int, for caller: Caller) -> Bool {
        guard let limit else { return true }
        let kept = caller == .peer ? Self.spare + adminMax : Self.spare
        return descriptor < limit - kept
    }
}
