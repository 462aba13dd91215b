import RTMModel
import RTMServiceLink

/// Over which link each lease is held. An edge that has lost a link goes on over a new one, and tells
/// everything anew there. What it sent over the old one may arrive long after that, because nobody has told
/// this end of the loss: a join from then would bring back a user who has left meanwhile. So a lease belongs
/// to the newest link that names it, and an older link that named it ends.
struct LeaseLinks {
    private var links: [UInt64: AcceptedServiceLink] = [:]

    /// Ends an older link that has held the lease.
    ///
    /// - Throws: `.presenceOperationFailed` (-13013) if this is the older link. It ends, and nobody waits for
    ///   the answer.
    mutating func name(_ lease: UInt64, over link: AcceptedServiceLink) throws(RTMError) {
        let holder = links[lease]
        // The numbers of links grow.
        if let holder, holder.id > link.id {
            link.close()
            throw RTMError(.presenceOperationFailed, "the caller goes on over a newer link")
        }
        if let holder, holder.id < link.id { holder.close() }
        links[lease] = link
    }

    mutating func closed(_ link: AcceptedServiceLink) { links = links.filter { $0.value !== link } }
}
