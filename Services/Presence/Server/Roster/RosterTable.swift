import RTMModel
import RTMServiceKit

/// The rosters by their channels. A third of a hash table is empty slots, so the one here has only small
/// numbers, and the rosters lie in an array.
struct RosterTable: Sendable {
    private let rules: AnnounceRules
    private var places: [ChannelKey: Int] = [:]
    private var rosters = ContiguousArray<Roster>()
    private var free: [Int] = []

    init(_ rules: AnnounceRules) { self.rules = rules }

    var count: Int { places.count }

    func contains(_ channel: ChannelKey) -> Bool { places[channel] != nil }

    subscript(channel: ChannelKey) -> Roster? { places[channel].map { rosters[$0] } }

    /// Changes the roster of a channel in place. A channel that has none gets one.
    mutating func change<Result>(_ channel: ChannelKey, _ body: (inout Roster) -> Result) -> Result {
        body(&rosters[places[channel] ?? occupy(channel)])
    }

    private mutating func occupy(_ channel: ChannelKey) -> Int {
        let place = free.popLast() ?? rosters.count
        if place == rosters.count { rosters.appendSparingly(Roster(rules)) }
        places[channel] = place
        return place
    }

    /// The channel's roster is over.
    mutating func remove(_ channel: ChannelKey) {
        guard let place = places.removeValue(forKey: channel) else { return }
        guard !places.isEmpty else {
            self = RosterTable(rules)
            return
        }
        rosters[place] = Roster(rules)
        free.append(place)
    }
}
