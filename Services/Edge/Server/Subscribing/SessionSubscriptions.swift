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

    struct Entry {
        var subscription: Subscription
        let channelIndex: UInt32
    }

    private struct Slot {
        /// Whose subscriptions these are; nil until the slot's session has one.
        var session: SessionID?
        /// In the order of the indices. Most sessions have few channels, for which a hash table takes twice
        /// the memory.
        var entries: [Entry] = []
        /// How many of them are message channels.
        var messageCount: UInt32 = 0
        /// How many of them are the metadata of users.
        var metadataCount: UInt32 = 0

        /// Where the channel is in the list, or belongs.
        func place(of channelIndex: Int) -> (place: Int, isThere: Bool) {
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].channelIndex < channelIndex { low = middle + 1 } else { high = middle }
            }
            return (low, low < entries.count && entries[low].channelIndex == channelIndex)
        }
    }

    private var slots = ContiguousArray<Slot>()

    subscript(session: SessionKey, channelIndex: Int) -> Subscription? {
        guard let slot = index(of: session) else { return nil }
        let (place, isThere) = slots[slot].place(of: channelIndex)
        return isThere ? slots[slot].entries[place].subscription : nil
    }

    /// In the order of the channels' indices. A session that has ended has none, whoever has its slot now.
    func all(of session: SessionKey) -> [Entry] {
        index(of: session).map { slots[$0].entries } ?? []
    }

    /// How many channels of this type the session is subscribed to; nil for types that aren't counted.
    func count(of session: SessionKey, in type: ChannelType) -> Int? {
        let slot = index(of: session).map { slots[$0] } ?? Slot()
        return switch type {
        case .message: Int(slot.messageCount)
        case .none: Int(slot.metadataCount)
        case .user, .stream, .topics, .topic: nil
        }
    }

    private func index(of session: SessionKey) -> Int? {
        guard session.slot < slots.count, slots[Int(session.slot)].session == session.id else { return nil }
        return Int(session.slot)
    }

    /// - Parameter subscription: nil if the session leaves the channel.
    mutating func set(
        _ subscription: Subscription?, of session: SessionKey, at channelIndex: Int, in type: ChannelType
    ) {
        while slots.count <= session.slot { slots.appendSparingly(Slot()) }
        let slot = Int(session.slot)
        if slots[slot].session != session.id { slots[slot] = Slot(session: session.id) }
        let (place, isThere) = slots[slot].place(of: channelIndex)
        switch (subscription, isThere) {
        case (let subscription?, true): slots[slot].entries[place].subscription = subscription
        case (let subscription?, false):
            slots[slot].entries.insert(
                Entry(subscription: subscription, channelIndex: UInt32(channelIndex)), at: place)
            count(type, at: slot) { $0 += 1 }
        case (nil, true):
            slots[slot].entries.remove(at: place)
            count(type, at: slot) { $0 -= 1 }
        case (nil, false): break
        }
    }

    private mutating func count(_ type: ChannelType, at slot: Int, _ change: (inout UInt32) -> Void) {
        switch type {
        case .message: change(&slots[slot].messageCount)
        case .none: change(&slots[slot].metadataCount)
        case .user, .stream, .topics, .topic: break
        }
    }

    /// The session has ended.
    mutating func removeAll(of session: SessionKey) -> [Entry] {
        guard let slot = index(of: session) else { return [] }
        defer { slots[slot] = Slot() }
        return slots[slot].entries
    }
}
