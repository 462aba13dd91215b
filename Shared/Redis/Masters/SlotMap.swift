/// Which master serves which slot. One server, or the master of sentinels, serves all of them. Pure.
struct SlotMap: Sendable, Hashable {
    /// Slots with the master that serves them.
    struct Range: Sendable, Hashable {
        let slots: ClosedRange<Int>
        let master: RedisEndpoint
    }

    /// The masters that serve at least one slot.
    private(set) var masters: [RedisEndpoint] = []
    /// The epoch of the failover that made the only master one; 0 without sentinels.
    private(set) var configEpoch: UInt64 = 0
    /// By slot: the index of its master in `masters`, or -1.
    private var owners: [Int16]
    /// The first slot that nobody serves.
    private(set) var unserved: Int?

    /// Nobody serves any slot.
    init() {
        owners = Array(repeating: -1, count: HashSlot.count)
        unserved = 0
    }

    /// Where ranges overlap, the last one counts.
    init(_ ranges: [Range]) {
        self.init()
        for range in ranges {
            let owner = number(of: range.master)
            for slot in range.slots.clamped(to: 0...(HashSlot.count - 1)) { owners[slot] = owner }
        }
        forgetIdle()
    }

    init(all master: RedisEndpoint, configEpoch: UInt64 = 0) {
        masters = [master]
        self.configEpoch = configEpoch
        owners = Array(repeating: 0, count: HashSlot.count)
    }

    func master(of slot: Int) -> RedisEndpoint? {
        let owner = owners[slot]
        return owner < 0 ? nil : masters[Int(owner)]
    }

    mutating func move(_ slot: Int, to master: RedisEndpoint) {
        owners[slot] = number(of: master)
        forgetIdle()
    }

    private mutating func number(of master: RedisEndpoint) -> Int16 {
        if let index = masters.firstIndex(of: master) { return Int16(index) }
        masters.append(master)
        return Int16(masters.count - 1)
    }

    /// Drops masters without a slot, and puts the others in the order of their slots. So two maps are equal
    /// if they say the same.
    private mutating func forgetIdle() {
        var numbers = [Int16](repeating: -1, count: masters.count)
        var kept: [RedisEndpoint] = []
        for slot in owners.indices where owners[slot] >= 0 {
            let old = Int(owners[slot])
            if numbers[old] < 0 {
                numbers[old] = Int16(kept.count)
                kept.append(masters[old])
            }
            owners[slot] = numbers[old]
        }
        masters = kept
        unserved = owners.firstIndex(of: -1)
    }
}
