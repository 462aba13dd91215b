import RTMServiceLink

/// Over which link each lease is held. An edge that has lost a link goes on over a new one, and tells
/// everything anew there. What it sent over the old one may arrive long after that, because nobody has told
/// this end of the loss: a join from then would bring back a user who has left meanwhile. So a lease belongs
/// to the newest link that names it, and an older link that named it ends.
struct LeaseLinks {
    /// What becomes of the links when one of them names a lease.
    enum Verdict {
        /// The lease is held over this link, as before or from now on.
        case held
        /// The lease is held over this link from now on, and was held over an older one, which has to end.
        case takenFrom(AcceptedServiceLink)
        /// A newer link holds the lease, so this one has to end.
        case late
    }

    private var links: [UInt64: AcceptedServiceLink] = [:]

    mutating func named(_ lease: UInt64, over link: AcceptedServiceLink) -> Verdict {
        guard let holder = links[lease], holder !== link else {
            links[lease] = link
            return .held
        }
        // The numbers of links grow.
        guard holder.id < link.id else { return .late }
        links[lease] = link
        return .takenFrom(holder)
    }

    mutating func closed(_ link: AcceptedServiceLink) { links = links.filter { $0.value !== link } }
}
