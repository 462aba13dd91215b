import RTMModel
import RTMServiceKit

/// What the sessions of one loop are subscribed to, by the slot of the session and the place of the channel.
struct SessionSeats {
    /// Where a session stands in a channel.
    enum Seat: Hashable {
        /// Its subscribe is under way.
        case entering(SubscribeID)
        /// It is a subscriber; this is its number in the channel's list.
        case live(Int)
    }

    private struct Slot {
        /// Whose seats these are; nil until the slot's session has one.
        var session: SessionID?
        var seats: [Int: Seat] = [:]
        /// How many of the seats are in message channels.
        var messageCount = 0
        /// How many of the seats are in the metadata of users.
        var metadataCount = 0
    }

    private var slots = ContiguousArray<Slot>()

    subscript(session: SessionKey, place: Int) -> Seat? { all(of: session)[place] }

    /// By the places of the channels. A session that has ended has none, whoever has its slot now.
    func all(of session: SessionKey) -> [Int: Seat] { slot(of: session)?.seats ?? [:] }

    /// How many seats the session has in channels of this type; nil for types of which nobody keeps count.
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

    /// - Parameter seat: nil if the session leaves the channel.
    mutating func set(_ seat: Seat?, of session: SessionKey, at place: Int, in type: ChannelType) {
        while slots.count <= session.slot { slots.appendSparingly(Slot()) }
        let slot = Int(session.slot)
        if slots[slot].session != session.id { slots[slot] = Slot(session: session.id) }
        let before = slots[slot].seats[place]
        slots[slot].seats[place] = seat
        let change = (seat == nil ? 0 : 1) - (before == nil ? 0 : 1)
        switch type {
        case .message: slots[slot].messageCount += change
        case .none: slots[slot].metadataCount += change
        case .user, .stream, .topics, .topic: break
        }
    }

    /// The session has ended.
    mutating func removeAll(of session: SessionKey) -> [Int: Seat] {
        guard let slot = slot(of: session) else { return [:] }
        slots[Int(session.slot)] = Slot()
        return slot.seats
    }
}
