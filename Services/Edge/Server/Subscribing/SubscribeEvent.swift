import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// What happens to one subscribe. `Subscribing` learns of it and `SubscribeMachine` decides what follows.
enum SubscribeEvent {
    /// What the subscribe waited for is there: the channel is attached, the client has read what was sent
    /// before, or it is time for the next attempt.
    case proceed
    /// The channel could not be attached.
    case attachFailed(ServiceLinkRequestFailure)
    /// - Parameter hasSetStates: whether the user shows the states that the client has named.
    case presenceAnswered(PresenceAnswer, hasSetStates: Bool = false)
    /// The snapshots of metadata and locks.
    case storageAnswered(ServiceLinkResult<RequestedPage>)
    /// A page of what the subscriber missed.
    case pageRead(ServiceLinkResult<SubscribePage>)
}

/// What presence answers about the channel of a subscriber.
enum PresenceAnswer {
    case snapshot([RequestedPage])
    /// The snapshot is big, and has to be asked for by itself.
    case bigSnapshot
    /// Presence doesn't let the user in: the channel has all the users that it may have (L-42).
    case refused(RTMError)
    /// Presence can't be asked at present.
    case unavailable
}

/// A page of what a subscriber missed.
struct SubscribePage {
    let frames: ByteBuffer
    /// Where the page ends. The end of the last page is the log's head, and every entry up to there has
    /// arrived before the page (docs/decisions/0006).
    let position: StreamPosition
    /// The log doesn't have what the subscriber missed any more. What follows the position is delivered.
    var gap = false
    /// The log has more entries behind the position.
    var more = false
    /// Counts the memory of the frames.
    var charge: AnyObject?
}
