import RTMModel
import RTMServiceLink

/// Over which link each lease is held at this node. A lease belongs to the newest link that names it, and an
/// older link that named it ends. The store holds the same over all nodes, by the numbers that edges give
/// their links (`EdgeLink`).
struct LeaseLinks {
    private var holders: [UInt64: AcceptedServiceLink] = [:]
    /// By the id of an accepted link: what its edge calls it.
    private var edgeLinks: [UInt64: EdgeLink] = [:]

    /// Ends an older link that has held the lease.
    ///
    /// - Parameter number: the number that the edge gives the link, where the edge says it.
    /// - Throws: `.presenceOperationFailed` (-13013) if this is the older link. It ends, and nobody waits for
    ///   the answer.
    mutating func name(
        _ lease: UInt64, number: UInt64? = nil, over link: AcceptedServiceLink
    ) throws(RTMError) -> EdgeLink {
        let holder = holders[lease]
        // The numbers of accepted links grow, too.
        if let holder, holder.id > link.id {
            link.close()
            throw .olderLink
        }
        if let holder, holder.id < link.id { holder.close() }
        holders[lease] = link
        if let number { edgeLinks[link.id] = EdgeLink(lease: lease, number: number) }
        let named = edgeLink(of: link)
        return named.lease == lease ? named : EdgeLink(lease: lease)
    }

    /// What the edge has said of its link.
    func edgeLink(of link: AcceptedServiceLink) -> EdgeLink { edgeLinks[link.id] ?? .unknown }

    /// The edge continues over a newer link, to this node or another one.
    func isOlder(_ edgeLink: EdgeLink) {
        guard let link = holders[edgeLink.lease], edgeLinks[link.id] == edgeLink else { return }
        link.close()
    }

    mutating func closed(_ link: AcceptedServiceLink) {
        holders = holders.filter { $0.value !== link }
        edgeLinks[link.id] = nil
    }
}
