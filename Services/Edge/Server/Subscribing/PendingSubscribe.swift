import NIOCore
import RTMModel

/// A session on its way to become a subscriber of a channel: of one it asked for, or of its own inbox at
/// login.
struct PendingSubscribe {
    let session: Session
    let requestID: UInt64
    let features: SubscriptionFeatures
    /// Where the session begins: where the client wants to continue, or where the channel stood when it was
    /// attached. Nil until then.
    var after: StreamPosition?
    let purpose: Purpose
    /// The client goes on with a subscription that it had before.
    let isContinued: Bool
    /// Features asked for that can't be had at present.
    var unavailable: SubscriptionFeatures = []
    /// A catch-up answers with its first page; what goes wrong later is said as a gap.
    var isAnswered = false
    /// Features that the session didn't have before: these need a snapshot.
    var added: SubscriptionFeatures
    /// It is a subscriber that was taken out to come in again: with other features, or for a new snapshot.
    var isReturn = false
    /// Features that get a snapshot though the session has them already.
    var renewed: SubscriptionFeatures = []
    /// Presence and storage have answered.
    var isPrepared = false
    /// It stood still until its client had read what was sent before.
    var hasWaited = false
    /// It was answered while it did, without the snapshots.
    var owesSnapshots = false
    /// There is nothing to answer, or it was answered with an error.
    var isSilent = false
    /// What presence and storage have sent for it. Presence comes first (M-4).
    var presenceFrames = ByteBuffer()
    var storageFrames = ByteBuffer()

    init(
        session: Session, requestID: UInt64, features: SubscriptionFeatures, after: StreamPosition?,
        purpose: Purpose
    ) {
        self.session = session
        self.requestID = requestID
        self.features = features
        self.after = after
        self.purpose = purpose
        isContinued = after != nil
        added = features
    }

    /// Of presence's own accord: it had forgotten everything.
    var isRefresh: Bool { renewed.contains(.presence) }

    enum Purpose {
        case login
        case subscribe
        case userMetadata
    }

    /// What the request is refused with when messaging doesn't serve it.
    var codes: (failed: ErrorCode, timeout: ErrorCode) {
        purpose == .userMetadata
            ? (.storageOperationFailed, .storageOperationTimeout)
            : (.channelSubscribeFailed, .channelSubscribeTimeout)
    }
}
