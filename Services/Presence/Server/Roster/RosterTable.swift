import RTMModel
import RTMServiceKit

/// The rosters by their channels. A third of a hash table is empty slots, so the one here has only small
/// numbers, and the rosters lie in rows of an array. A row at the end that is no longer needed is given back
/// by itself, so no other roster is moved for that.
struct RosterTable: Sendable {
    private static let rowSize = 1_024
    /// Limit: channels, and slots, in a table that is made anew because it is nearly empty.
    private static let rebuiltMax = 1_024

    private let rules: PresenceRules
    private var slots: [ChannelKey: Int] = [:]
    /// All rows but the last are full.
    private var rows: ContiguousArray<ContiguousArray<Roster>> = []
    /// Slots that can be used again. A slot that is beyond the end doesn't count. The table grows only when
    /// none is left here, so no slot in use is.
    private var free: [Int] = []

    init(_ rules: PresenceRules) { self.rules = rules }

    var count: Int { slots.count }
    /// How many slots there are, in use or free.
    var slotCount: Int { max(0, rows.count - 1) * Self.rowSize + (rows.last?.count ?? 0) }

    func contains(_ channel: ChannelKey) -> Bool { slots[channel] != nil }

    subscript(channel: ChannelKey) -> Roster? {
        slots[channel].map { rows[$0 / Self.rowSize][$0 % Self.rowSize] }
    }

    /// Changes the roster of a channel in place. A channel that has none gets one. Afterwards the roster
    /// isn't empty, or it is removed.
    mutating func change<Result>(_ channel: ChannelKey, _ body: (inout Roster) -> Result) -> Result {
        let slot = slots[channel] ?? occupy(channel)
        return body(&rows[slot / Self.rowSize][slot % Self.rowSize])
    }

    private mutating func occupy(_ channel: ChannelKey) -> Int {
        let slot = freeSlot() ?? slotCount
        let roster = Roster(rules.announce(in: channel.type))
        if slot < slotCount {
            rows[slot / Self.rowSize][slot % Self.rowSize] = roster
        } else {
            if slot % Self.rowSize == 0 { rows.append([]) }
            rows[rows.count - 1].appendSparingly(roster)
        }
        slots[channel] = slot
        return slot
    }

    private mutating func freeSlot() -> Int? {
        while let slot = free.popLast() {
            if slot < slotCount { return slot }
        }
        return nil
    }

    private func isFree(_ slot: Int) -> Bool { rows[slot / Self.rowSize][slot % Self.rowSize].isEmpty }

    /// The channel's roster is over.
    mutating func remove(_ channel: ChannelKey) {
        guard let slot = slots.removeValue(forKey: channel) else { return }
        guard !slots.isEmpty else {
            self = RosterTable(rules)
            return
        }
        rows[slot / Self.rowSize][slot % Self.rowSize] = Roster(rules.announce)
        free.append(slot)
    }

    /// Gives back the memory of slots that are free at the end, `count` at most, and of tables that are
    /// nearly empty.
    mutating func shrink(_ count: Int) {
        var rest = count
        while rest > 0, slotCount > 0, isFree(slotCount - 1) {
            rows[rows.count - 1].removeLast()
            if rows[rows.count - 1].isEmpty { rows.removeLast() }
            rest -= 1
        }
        if slots.count <= Self.rebuiltMax, slots.capacity > 16 * Self.rebuiltMax {
            slots = Dictionary(uniqueKeysWithValues: slots.map { ($0.key, $0.value) })
        }
        if slotCount <= Self.rebuiltMax, free.count > 16 * Self.rebuiltMax {
            free = (0..<slotCount).filter(isFree)
        }
    }
}
