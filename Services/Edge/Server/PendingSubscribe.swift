import RTMModel

/// A session on its way to become a subscriber of a channel: of one it asked for, or of its own inbox at
/// login.
struct PendingSubscribe {
    let session: Session
    let requestID: UInt64
    let features: SubscriptionFeatures
    /// Where the client wants to continue; nil = from now on.
    let after: StreamPosition?
    let purpose: Purpose
    /// Features asked for that can't be had at present.
    var unavailable: SubscriptionFeatures = []
    /// A catch-up answers with its first page; what goes wrong later is said as a gap.
    var isAnswered = false

    enum Purpose {
        case login
        case subscribe
    }
}
