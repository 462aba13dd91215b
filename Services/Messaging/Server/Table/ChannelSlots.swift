/// Where a channel lies in the table: in which partition, and at which index there. The slot of a channel
/// stays the same until the channel is forgotten; then another one may get it. An `EntryPlace`, in contrast,
/// is where an entry lies in a tail.
package struct ChannelSlot: Hashable, Sendable {
    let index: UInt32
    let partition: UInt16
}

/// The slots of a partition's channels, by their numbers (`NameHash`).
///
/// A number says which channel it is, but not for sure. If two channels have the same one, the later of them
/// has the next number that is free. So a look-up compares the name at the end.
///
/// Pure.
struct ChannelSlots {
    private var slots: [UInt64: UInt32] = [:]

    var count: Int { slots.count }

    /// - Parameter isSought: whether the channel in this slot is the one that is looked for.
    func slot(of number: UInt64, where isSought: (UInt32) -> Bool) -> UInt32? {
        var number = number
        while let slot = slots[number] {
            if isSought(slot) { return slot }
            number &+= 1
        }
        return nil
    }

    /// - Parameter number: the number of a channel that has no slot yet.
    mutating func insert(_ slot: UInt32, _ number: UInt64) {
        var number = number
        while slots[number] != nil { number &+= 1 }
        slots[number] = slot
    }

    /// Removes a channel with its number.
    ///
    /// - Returns: the slots of those that stood behind it, perhaps because of it. They are no longer here,
    ///   so the caller inserts them again.
    mutating func remove(_ slot: UInt32, _ number: UInt64) -> [UInt32] {
        var number = number
        while let other = slots[number], other != slot { number &+= 1 }
        slots[number] = nil
        var behind: [UInt32] = []
        number &+= 1
        while let other = slots.removeValue(forKey: number) {
            behind.append(other)
            number &+= 1
        }
        return behind
    }

    /// Gives back the memory that it doesn't need any more.
    mutating func shrink() {
        slots = Dictionary(uniqueKeysWithValues: slots.map { ($0.key, $0.value) })
    }
}
