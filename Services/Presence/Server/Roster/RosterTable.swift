import RTMModel
import RTMServiceKit

/// The rosters by their channels. A third of a hash table is empty slots, so the one here has only small
/// numbers, and the rosters lie in rows of an array. A row at the end that is no longer needed is given back
/// by itself, so no other roster is moved for that.
struct RosterTable: Sendable {
    private static let rowSize = 1_024
    /// Limit: channels, and places, in a table that is made anew because it is nearly empty.
    private static let rebuiltMax = 1_024

    private let rules: PresenceRules
    private var places: [ChannelKey: Int] = [:]
    /// All rows but the last are full.
    private var rows: ContiguousArray<ContiguousArray<Roster>> = []
    /// Places that can be used again. A place that is beyond the end doesn't count. The table grows only when
    /// none is left here, so no place in use is.
    private var free: [Int] = []

    init(_ rules: PresenceRules) { self.rules = rules }

    var count: Int { places.count }
    /// How many places there are, in use or free.
    var placeCount: Int { max(0, rows.count - 1) * Self.rowSize + (rows.last?.count ?? 0) }

    func contains(_ channel: ChannelKey) -> Bool { places[channel] != nil }

    subscript(channel: ChannelKey) -> Roster? {
        places[channel].map { rows[$0 / Self.rowSize][$0 % Self.rowSize] }
    }

    /// Changes the roster of a channel in place. A channel that has none gets one. Afterwards the roster
    /// isn't empty, or it is removed.
    mutating func change<Result>(_ channel: ChannelKey, _ body: (inout Roster) -> Result) -> Result {
        let place = places[channel] ?? occupy(channel)
        return body(&rows[place / Self.rowSize][place % Self.rowSize])
    }

    private mutating func occupy(_ channel: ChannelKey) -> Int {
        let place = freePlace() ?? placeCount
        let roster = Roster(rules.announce(in: channel.type))
        if place < placeCount {
            rows[place / Self.rowSize][place % Self.rowSize] = roster
        } else {
            if place % Self.rowSize == 0 { rows.append([]) }
            rows[rows.count - 1].appendSparingly(roster)
        }
        places[channel] = place
        return place
    }

    private mutating func freePlace() -> Int? {
        while let place = free.popLast() {
            if place < placeCount { return place }
        }
        return nil
    }

    private func isFree(_ place: Int) -> Bool { rows[place / Self.rowSize][place % Self.rowSize].isEmpty }

    /// The channel's roster is over.
    mutating func remove(_ channel: ChannelKey) {
        guard let place = places.removeValue(forKey: channel) else { return }
        guard !places.isEmpty else {
            self = RosterTable(rules)
            return
        }
        rows[place / Self.rowSize][place % Self.rowSize] = Roster(rules.announce)
        free.append(place)
    }

    /// Gives back the memory of places that are free at the end, `count` at most, and of tables that are
    /// nearly empty.
    mutating func shrink(_ count: Int) {
        var rest = count
        while rest > 0, placeCount > 0, isFree(placeCount - 1) {
            rows[rows.count - 1].removeLast()
            if rows[rows.count - 1].isEmpty { rows.removeLast() }
            rest -= 1
        }
        if places.count <= Self.rebuiltMax, places.capacity > 16 * Self.rebuiltMax {
            places = Dictionary(uniqueKeysWithValues: places.map { ($0.key, $0.value) })
        }
        if placeCount <= Self.rebuiltMax, free.count > 16 * Self.rebuiltMax {
            free = (0..<placeCount).filter(isFree)
        }
    }
}
