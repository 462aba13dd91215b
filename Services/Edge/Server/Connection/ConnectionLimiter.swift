import Synchronization

/// Counts connections, in total and by the address of the other side. All loops share it, and it is asked
/// only when a connection begins and ends.
final class ConnectionLimiter: Sendable {
    enum Verdict: Equatable {
        case admitted
        case refused(reason: String)
    }

    private struct Counts {
        var total = 0
        var byAddress: [String: Int] = [:]
    }

    private let totalMax: Int
    private let perAddressMax: Int
    private let counts = Mutex(Counts())

    init(totalMax: Int, perAddressMax: Int) {
        self.totalMax = totalMax
        self.perAddressMax = perAddressMax
    }

    /// `release` has to follow for each admitted connection.
    func admit(_ address: String) -> Verdict {
        counts.withLock { counts in
            guard counts.total < totalMax else {
                return .refused(reason: "this server holds \(totalMax) connections, which is its limit")
            }
            let ofAddress = counts.byAddress[address, default: 0]
            guard ofAddress < perAddressMax else {
                return .refused(
                    reason: "\(perAddressMax) connections come from this address, which is the limit")
            }
            counts.total += 1
            counts.byAddress[address] = ofAddress + 1
            return .admitted
        }
    }

    func release(_ address: String) {
        counts.withLock { counts in
            counts.total -= 1
            let rest = counts.byAddress[address, default: 1] - 1
            counts.byAddress[address] = rest == 0 ? nil : rest
        }
    }
}
