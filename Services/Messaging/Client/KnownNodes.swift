package import NIOCore
package import RTMServiceLink
package import RTMWire

/// Which messaging nodes a caller connects to: those that it was configured with, and those that they name.
///
/// The nodes keep a list of themselves and tell it to their callers, so an operator lists one or two of them,
/// and the others come and go by themselves. A node that is paused leaves the list before its links end, and
/// comes back into it, so a caller gives up an address only when no list has named it for a minute and no
/// connection to it comes about.
///
/// Pure.
package struct KnownNodes {
    /// So long an address that no list names any more is still tried.
    package static let patience = TimeAmount.seconds(60)
    /// Limit: addresses that are learned. What a list names beyond that is left out.
    package static let learnedMax = 256

    private let configured: Set<String>
    /// By address, those that a list has named: until when each is tried, which is for ever while the newest
    /// list names it.
    private var learned: [String: NIODeadline] = [:]
    /// The addresses in the newest list.
    package private(set) var listed: Set<String> = []

    package init(configured: [ServiceLinkAddress]) { self.configured = Set(configured.map(\.description)) }

    /// A node has told its list.
    ///
    /// - Returns: addresses to which the caller has no link yet.
    package mutating func heard(_ nodes: [NodeAddress], now: NIODeadline) -> [ServiceLinkAddress] {
        let listed = Dictionary(nodes.map { ($0.link.description, $0.link) }) { first, _ in first }
        self.listed = Set(listed.keys)
        for (address, until) in learned {
            learned[address] = listed[address] == nil ? min(until, now + Self.patience) : .distantFuture
        }
        let fresh = listed.filter { !configured.contains($0.key) && learned[$0.key] == nil }
            .sorted { $0.key < $1.key }.prefix(Self.learnedMax - learned.count)
        for (address, _) in fresh { learned[address] = .distantFuture }
        return fresh.map(\.value)
    }

    /// No connection to this address has come about. If nobody names it any more, it is forgotten.
    ///
    /// - Returns: whether the caller gives it up.
    package mutating func isGone(_ address: ServiceLinkAddress, now: NIODeadline) -> Bool {
        guard let until = learned[address.description], now >= until else { return false }
        learned[address.description] = nil
        return true
    }
}

extension NodeAddress {
    fileprivate var link: ServiceLinkAddress { .tcp(host: host, port: Int(port)) }
}
