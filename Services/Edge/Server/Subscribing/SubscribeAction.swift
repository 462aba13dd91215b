import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire

/// What `SubscriptionIndex` wants done, in this order. Most events ask for one action or none.
typealias SubscribeActions = ShortList<SubscribeAction>

/// One thing that `SubscriptionIndex` wants done by the loop.
enum SubscribeAction {
    // MARK: To other services

    case attach(AttachRequest)
    case detach(DetachPush, of: ChannelKey)
    /// Presence and storage are asked; `.presenceAnswered` and `.storageAnswered` have to follow.
    case ask(SnapshotQuery)
    /// The same, when no other read of the session is under way.
    case collect(SnapshotQuery)
    /// A page is read; `.pageRead` has to follow.
    case read(PageQuery)

    // MARK: To itself

    /// `.proceed` has to follow at once: by then it is known anew whether the session is writable.
    case proceed(SubscribeID)
    /// `.proceed` has to follow when the session's client has read what was sent before.
    case awaitWritable(SubscribeID, SessionKey)
    /// `.proceed` has to follow after this time.
    case retry(SubscribeID, after: Duration)

    // MARK: To sessions

    /// What was gathered in a channel goes to those who were subscribed until now.
    case fanOut(FanOut)

    case answer(SessionKey, requestID: UInt64, SubscribeAnswer)
    case send(SessionKey, RequestedPage)
    case gap(SessionKey, ChannelKey, StreamPosition)
    /// What waits of a topic goes before all that follows, because the session's subscription changes.
    case release(SessionKey, topic: Int)
    /// All subscribers of a channel have lost what lay before this position.
    case gapForAll(ShortList<Subscriber>, channelIndex: Int, ChannelKey, StreamPosition)

    // MARK: To the other features of the loop

    /// The session is a subscriber of a channel, and was none before.
    case entered(SessionKey, ChannelKey)
    /// The session has become a subscriber. One that comes in again and has missed nothing stays one.
    case began(SessionKey, ChannelKey, SubscriptionStart)
    /// The session doesn't become a member of a channel, and presence may have it as a member already.
    case hasNotEntered(SessionKey, ChannelKey, isContinued: Bool)
    /// Presence may not know of a membership. One that isn't continued is a join of which nobody may know.
    case joinMissed(SessionKey, ChannelKey, JoinStates?, isContinued: Bool)
    /// The subscription needs a new snapshot of presence.
    case lacksSnapshot(SessionKey, channelIndex: Int)
    /// A refresh doesn't keep the next one waiting any more.
    case refreshed(SessionKey, channelIndex: Int)
}

/// How a subscribe ends for the client that asked for it.
enum SubscribeAnswer {
    case loggedIn(StreamPosition, gap: Bool)
    case loginRefused(RTMError)
    case subscribed(StreamPosition, unavailable: SubscriptionFeatures, gap: Bool, hasSetStates: Bool)
    case userMetadataSubscribed(StreamPosition, gap: Bool)
    case refused(RTMError, ChannelKey)
}

/// What a subscriber begins with: presence lets its user in and says who is there, storage says what is
/// stored.
struct SnapshotQuery: Hashable {
    let id: SubscribeID
    let session: SessionKey
    let channel: ChannelKey
    /// The session becomes a member of the channel; nil for a user's metadata, and for a member.
    let join: Join?
    /// The session is a member, and its snapshot of presence is read by itself.
    var wantsRoster = false
    /// What storage is asked for: metadata, locks, both or nothing.
    let stored: SubscriptionFeatures

    struct Join: Hashable {
        let isQuiet: Bool
        let wantsSnapshot: Bool
        var states: [StateItem] = []
    }
}

/// A page of what a subscriber missed.
struct PageQuery: Hashable {
    let id: SubscribeID
    let session: SessionKey
    let channel: ChannelKey
    let after: StreamPosition
    let features: SubscriptionFeatures
    /// The owner of an inbox sees the messages that he sent himself (M-33). In a message channel the features
    /// say so (M-43).
    let showsOwn: Bool
    /// In a topic, the publishers whose messages are wanted.
    var publishers: [String] = []
}

extension RTMError {
    static let unsubscribedMeanwhile = RTMError(
        .channelSubscribeFailed, "the channel was unsubscribed before the subscribe was done")
}
