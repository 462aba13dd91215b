import RTMModel

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
    }

    private var slots = ContiguousArray<Slot>()

    subscript(session: SessionKey, place: Int) -> Seat? {
        get { all(of: session)[place] }
        set {
            while slots.count <= session.slot { slots.append(Slot()) }
            let slot = Int(session.slot)
            if slots[slot].session != session.id { slots[slot] = Slot(session: session.id) }
            slots[slot].seats[place] = newValue
        }
    }

    /// By the places of the channels. A session that has ended has none, whoever has its slot now.
    func all(of session: SessionKey) -> [Int: Seat] {
        guard session.slot < slots.count, slots[Int(session.slot)].session == session.id else { return [:] }
        return slots[Int(session.slot)].seats
    }

    /// The session has ended.
    mutating func removeAll(of session: SessionKey) -> [Int: Seat] {
        let seats = all(of: session)
        if slots.indices.contains(Int(session.slot)), slots[Int(session.slot)].session == session.id {
            slots[Int(session.slot)] = Slot()
        }
        return seats
    }
}
