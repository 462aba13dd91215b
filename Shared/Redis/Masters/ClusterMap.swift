import NIOCore

/// Which masters a Redis Cluster has, as one of its nodes says. The nodes are asked in turn, one at a time:
/// at a regular interval, and soon when something suggests that the map is old. Pure: it gets the time.
struct ClusterMap: MasterLocator {
    /// How soon the next question follows when the map is in doubt.
    static let pause = TimeAmount.milliseconds(100)
    /// How long a map is believed without a doubt.
    static let life = TimeAmount.seconds(5)

    private let seeds: [RedisEndpoint]
    private(set) var slots = SlotMap()
    /// The number of the last question, and the node that has it and hasn't answered yet.
    private var number = 0
    private var asked: RedisEndpoint?
    private var due = NIODeadline.distantPast
    /// Whether the doubt is younger than the question.
    private var isDoubted = false
    private var turn = 0
    private var failure = "no node was asked yet"

    let question = ClusterSlots.question

    init(seeds: [RedisEndpoint]) { self.seeds = seeds }

    var cause: String { "no node of the Redis Cluster names its masters: \(failure)" }

    mutating func passed(_ now: NIODeadline) -> [LocatorAction] {
        guard asked == nil, now >= due else { return [] }
        // The masters come first: seeds may be gone for long.
        let known = slots.masters + seeds.filter { !slots.masters.contains($0) }
        guard !known.isEmpty else { return [] }
        let endpoint = known[turn % known.count]
        turn += 1
        number += 1
        asked = endpoint
        isDoubted = false
        return [.ask(endpoint, number: number)]
    }

    mutating func answered(_ number: Int, _ reply: RedisReply, now: NIODeadline) -> [LocatorAction] {
        guard number == self.number, let endpoint = asked else { return [] }
        guard let ranges = ClusterSlots.ranges(reply, asked: endpoint), !ranges.isEmpty else {
            return failed(number, "\(endpoint) knows no master", now: now)
        }
        asked = nil
        let next = SlotMap(ranges)
        due = now + (isDoubted || next.unserved != nil ? Self.pause : Self.life)
        guard next != slots else { return [] }
        slots = next
        return [.use(next)]
    }

    mutating func failed(_ number: Int, _ cause: String, now: NIODeadline) -> [LocatorAction] {
        guard number == self.number, asked != nil else { return [] }
        asked = nil
        failure = cause
        due = now + Self.pause
        return []
    }

    mutating func doubted(now: NIODeadline) {
        isDoubted = true
        due = min(due, now + Self.pause)
    }

    mutating func moved(_ slot: Int, to master: RedisEndpoint, now: NIODeadline) -> [LocatorAction] {
        doubted(now: now)
        guard slots.master(of: slot) != master else { return [] }
        slots.move(slot, to: master)
        return [.use(slots)]
    }
}
