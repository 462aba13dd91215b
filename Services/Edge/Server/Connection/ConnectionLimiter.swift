import Synchronization

/// Counts connections, in total and by the address of the other side. All loops share it, and it is asked
/// only when a connection begins and ends.
final class ConnectionLimiter: Sendable {
    enum Verdict: Equatable {
        case admitted
        case refused(reason: String)
        /// Too many are being told already. There is no descriptor to spare for one more.
        case dropped
    }

    private struct Counts {
        var total = 0
        var refused = 0
        var byAddress: [String: Int] = [:]
    }

    private let totalMax: Int
    private let perAddressMax: Int
    private let refusedMax: Int
    private let counts = Mutex(Counts())

    /// - Parameter refusedMax: how many connections beyond the limits may be told so at a time.
    init(totalMax: Int, perAddressMax: Int, refusedMax: Int = .max) {
        self.totalMax = totalMax
        self.perAddressMax = perAddressMax
        self.refusedMax = refusedMax
    }

    /// `release` has to follow for each admitted connection, and `releaseRefused` for each refused one.
    func admit(_ address: String) -> Verdict {
        counts.withLock { counts in
            guard counts.total < totalMax else {
                return refuse("this server holds \(totalMax) connections, which is its limit", &counts)
            }
            let ofAddress = counts.byAddress[address, default: 0]
            guard ofAddress < perAddressMax else {
                return refuse(
                    "\(perAddressMax) connections come from this address, which is the limit", &counts)
            }
            counts.total += 1
            counts.byAddress[address] = ofAddress + 1
            return .admitted
        }
    }

    private func refuse(_ reason: String, _ counts: inout Counts) -> Verdict {
        guard counts.refused < refusedMax else { return .dropped }
        counts.refused += 1
        return .refused(reason: reason)
    }

    func releaseRefused() { counts.withLock { $0.refused -= 1 } }

    func release(_ address: String) {
        counts.withLock { counts in
            counts.total -= 1
            let rest = counts.byAddress[address, default: 1] - 1
            counts.byAddress[address] = rest == 0 ? nil : rest
        }
    }
}
