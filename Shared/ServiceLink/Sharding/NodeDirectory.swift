package import NIOCore
package import RTMWire

/// The nodes of a service that a caller connects to: those that it was configured with, and those that they
/// name.
///
/// The nodes keep a list of themselves and send it to their callers. So an operator configures one or two of
/// them, and callers learn the others. A node that is paused leaves the list before its links end, and comes
/// back into it. So a caller removes an address only when no list has named it for a minute and no connection
/// to it can be opened.
///
/// Pure.
package struct NodeDirectory {
    /// How long an address that no list names any more is still tried.
    package static let retention = TimeAmount.seconds(60)
    /// Limit: addresses that are learned. Further addresses of a list are ignored.
    package static let learnedMax = 256

    private let configured: Set<String>
    /// By address, those that a list has named: until when each is tried, which is for ever while the newest
    /// list names it.
    private var learned: [String: NIODeadline] = [:]
    /// The addresses in the newest list.
    package private(set) var listed: Set<String> = []

    package init(configured: [ServiceLinkAddress]) { self.configured = Set(configured.map(\.description)) }

    /// A node has sent its list.
    ///
    /// - Returns: the addresses to which the caller has no link yet.
    package mutating func received(_ nodes: [NodeAddress], now: NIODeadline) -> [ServiceLinkAddress] {
        let listed = Dictionary(nodes.map { ($0.link.description, $0.link) }) { first, _ in first }
        self.listed = Set(listed.keys)
        for (address, until) in learned {
            learned[address] = listed[address] == nil ? min(until, now + Self.retention) : .distantFuture
        }
        let fresh = listed.filter { !configured.contains($0.key) && learned[$0.key] == nil }
            .sorted { $0.key < $1.key }.prefix(Self.learnedMax - learned.count)
        for (address, _) in fresh { learned[address] = .distantFuture }
        return fresh.map(\.value)
    }

    /// A connection to this address has failed. An address that nobody names any more is removed.
    ///
    /// - Returns: whether the address was removed.
    package mutating func removeUnlisted(_ address: ServiceLinkAddress, now: NIODeadline) -> Bool {
        guard let until = learned[address.description], now >= until else { return false }
        learned[address.description] = nil
        return true
    }
}

extension NodeAddress {
    fileprivate var link: ServiceLinkAddress { .tcp(host: host, port: Int(port)) }
}
