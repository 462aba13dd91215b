/// Where a channel lies: in which partition, and where there.
package struct ChannelPlace: Hashable, Sendable {
    let index: UInt32
    let partition: UInt16
}

/// Where channels lie, by their numbers (`NameHash`).
///
/// A number says which channel it is, but not for sure. If two channels have the same one, the later of them
/// has the next number that is free. So a look-up compares the name at the end.
///
/// Pure.
struct ChannelPlaces {
    private var places: [UInt64: UInt32] = [:]

    var count: Int { places.count }

    /// - Parameter isSought: whether the channel at this place is the one that is looked for.
    func place(of number: UInt64, where isSought: (UInt32) -> Bool) -> UInt32? {
        var number = number
        while let place = places[number] {
            if isSought(place) { return place }
            number &+= 1
        }
        return nil
    }

    /// - Parameter number: of a channel that has no place yet.
    mutating func insert(_ place: UInt32, _ number: UInt64) {
        var number = number
        while places[number] != nil { number &+= 1 }
        places[number] = place
    }

    /// Removes a channel with its number.
    ///
    /// - Returns: the places of those that stood behind it, perhaps because of it. They are no longer here,
    ///   so the caller inserts them again.
    mutating func remove(_ place: UInt32, _ number: UInt64) -> [UInt32] {
        var number = number
        while let other = places[number], other != place { number &+= 1 }
        places[number] = nil
        var behind: [UInt32] = []
        number &+= 1
        while let other = places.removeValue(forKey: number) {
            behind.append(other)
            number &+= 1
        }
        return behind
    }

    /// Gives back the memory that it doesn't need any more.
    mutating func shrink() {
        places = Dictionary(uniqueKeysWithValues: places.map { ($0.key, $0.value) })
    }
}
