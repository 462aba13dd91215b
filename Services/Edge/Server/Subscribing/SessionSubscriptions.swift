import RTMModel
import RTMServiceKit

/// What the sessions of one loop are subscribed to, by the slot of the session and the index of the
/// channel.
struct SessionSubscriptions {
    /// How far a session has come in a channel.
    enum Subscription: Hashable {
        /// Its subscribe is under way.
        case subscribing(SubscribeID)
        /// It is a subscriber; this is its number in the channel's list.
        case live(Int)
    }

    private struct Slot {
        /// Whose subscriptions these are; nil until the slot's session has one.
        var session: SessionID?
        var subscriptions: [Int: Subscription] = [:]
        /// How many of the subscriptions are in message channels.
        var messageCount = 0
        /// How many of the subscriptions are in the metadata of users.
        var metadataCount = 0
    }

    private var slots = ContiguousArray<Slot>()

    subscript(session: SessionKey, channelIndex: Int) -> Subscription? { all(of: session)[channelIndex] }

    /// By the indices of the channels. A session that has ended has none, whoever has its slot now.
    func all(of session: SessionKey) -> [Int: Subscription] { slot(of: session)?.subscriptions ?? [:] }

    /// How many channels of this type the session is subscribed to; nil for types that aren't counted.
    func count(of session: SessionKey, in type: ChannelType) -> Int? {
        switch type {
        case .message: slot(of: session)?.messageCount ?? 0
        case .none: slot(of: session)?.metadataCount ?? 0
        case .user, .stream, .topics, .topic: nil
        }
    }

    private func slot(of session: SessionKey) -> Slot? {
        guard session.slot < slots.count, slots[Int(session.slot)].session == session.id else { return nil }
        return slots[Int(session.slot)]
    }

    /// - Parameter subscription: nil if the session leaves the channel.
    mutating func set(
        _ subscription: Subscription?, of session: SessionKey, at channelIndex: Int, in type: ChannelType
    ) {
        while slots.count <= session.slot { slots.appendSparingly(Slot()) }
        let slot = Int(session.slot)
        if slots[slot].session != session.id { slots[slot] = Slot(session: session.id) }
        let before = slots[slot].subscriptions[channelIndex]
        slots[slot].subscriptions[channelIndex] = subscription
        let change = (subscription == nil ? 0 : 1) - (before == nil ? 0 : 1)
        switch type {
        case .message: slots[slot].messageCount += change
        case .none: slots[slot].metadataCount += change
        case .user, .stream, .topics, .topic: break
        }
    }

    /// The session has ended.
    mutating func removeAll(of session: SessionKey) -> [Int: Subscription] {
        guard let slot = slot(of: session) else { return [:] }
        slots[Int(session.slot)] = Slot()
        return slot.subscriptions
    }
}
