import Synchronization

/// Counts connections, in total and by the address of the other side. All loops share it, and it is asked
/// only when a connection begins and ends.
package final class ConnectionLimiter: Sendable {
    package enum Verdict: Equatable {
        case admitted
        case refused(reason: String)
        /// Too many refusals are being sent already. There is no descriptor to spare for one more.
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

    /// - Parameter refusedMax: how many connections beyond the limits may get a refusal at a time.
    package init(totalMax: Int, perAddressMax: Int, refusedMax: Int = .max) {
        self.totalMax = totalMax
        self.perAddressMax = perAddressMax
        self.refusedMax = refusedMax
    }

    /// `release` has to follow for each admitted connection, and `releaseRefused` for each refused one.
    ///
    /// - Parameter makeRoom: ends a connection, of this address if it isn't nil, and returns whether there
    ///   was one to end. It is called when a limit is reached.
    package func admit(_ address: String, makingRoom evict: (_ address: String?) -> Bool = { _ in false })
        -> Verdict
    {
        guard let shortage = take(address) else { return .admitted }
        let hasEvicted = evict(shortage == .total ? nil : address)
        if hasEvicted, take(address) == nil { return .admitted }
        return counts.withLock { counts in
            guard counts.refused < refusedMax else { return .dropped }
            counts.refused += 1
            return .refused(reason: reason(shortage))
        }
    }

    private enum Shortage { case total, address }

    /// Returns the limit that is reached; nil if the connection has its place.
    private func take(_ address: String) -> Shortage? {
        counts.withLock { counts in
            guard counts.total < totalMax else { return .total }
            let ofAddress = counts.byAddress[address, default: 0]
            guard ofAddress < perAddressMax else { return .address }
            counts.total += 1
            counts.byAddress[address] = ofAddress + 1
            return nil
        }
    }

    private func reason(_ shortage: Shortage) -> String {
        switch shortage {
        case .total: "this server holds \(totalMax) connections, which is its limit"
        case .address: "\(perAddressMax) connections come from this address, which is the limit"
        }
    }

    package func releaseRefused() { counts.withLock { $0.refused -= 1 } }

    package func release(_ address: String) {
        counts.withLock { counts in
            counts.total -= 1
            let rest = counts.byAddress[address, default: 1] - 1
            counts.byAddress[address] = rest == 0 ? nil : rest
        }
    }
}
