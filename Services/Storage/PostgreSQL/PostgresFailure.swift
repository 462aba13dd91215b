import RTMStorageServer

/// Why statements failed.
struct PostgresFailure: Error, Sendable, Hashable {
    enum Cause: Sendable, Hashable {
        /// The server has refused a statement, with this SQLSTATE.
        case refused(String)
        /// The connection could not be opened, or it is gone.
        case lost
        /// The deadline has passed. The connection is of no use any more: an answer may still come.
        case late
        /// A commit is in doubt, and that could not be settled in time.
        case stalled
        /// The server has an earlier state than its owner has written.
        case wentBack
    }

    let cause: Cause
    /// The server's or the library's own words.
    let reason: String
    /// Which statement was refused.
    var statement: Int?

    /// Whether the same transaction may succeed when it is repeated as a whole.
    var isTransient: Bool {
        cause == .refused("40001") || cause == .refused("40P01")
    }
}

extension StoreFailure {
    init(_ failure: PostgresFailure, doing what: String = "") {
        let place = what.isEmpty ? "" : ", at: \(what)"
        switch failure.cause {
        case .refused(let state):
            let kind = Self.kind(of: state)
            self.init(
                kind: kind, reason: "\(failure.reason) (PostgreSQL \(state), \(kind.rawValue))\(place)")
        case .lost: self.init(kind: .unreachable, reason: failure.reason + place)
        case .stalled: self.init(kind: .stalled, reason: failure.reason + place)
        case .wentBack: self.init(kind: .wentBack, reason: failure.reason + place)
        case .late:
            self.init(
                kind: .unreachable,
                reason: "the database did not answer in time: \(failure.reason)\(place)"
            )
        }
    }

    /// What a SQLSTATE means for storage.
    static func kind(of state: String) -> Kind {
        switch state {
        case "53100": .full
        case "25006": .readOnly
        case "40001", "40P01", "55P03", "55006": .locked
        case "XX001", "XX002": .corrupt
        default:
            switch state.prefix(2) {
            // Connections, resources, shutdown by an operator.
            case "08", "53", "57": .unreachable
            case "58": .inputOutput
            default: .refused
            }
        }
    }
}
