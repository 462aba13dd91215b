import NIOCore

/// The open requests of a link: which wait for an answer, until when, and what their caller knows them by.
/// Ids and deadlines are found in O(1), and no request has a heap entry.
///
/// A request is a slot in an array. Its id names the slot and the slot's generation, so a late answer to an
/// earlier request in the same slot is recognised. Requests with the same timeout have their deadlines in the
/// order in which they were made, so each distinct timeout has a list ("lane") through the slots, and only
/// the lanes' heads need to be looked at. Callers use few timeouts. When there are more than `lanesMax` at a
/// time, a request is sorted into the lane of another timeout, which is slower but just as correct.
struct OpenRequests {
    private static let lanesMax = 64
    private static let none: Int32 = -1

    private struct Slot {
        var generation: UInt64 = 1
        var method: UInt32 = 0
        var context = 0
        var deadline = NIODeadline.uptimeNanoseconds(0)
        /// Neighbours in the lane; `next` is also the next free slot.
        var previous = OpenRequests.none
        var next = OpenRequests.none
        /// `none` if the slot is free.
        var lane = OpenRequests.none
    }

    private struct Lane {
        var timeout: Duration
        var amount: TimeAmount
        var milliseconds: UInt32
        var head = OpenRequests.none
        var tail = OpenRequests.none
    }

    /// A request that has just been closed, and whose slot is free.
    struct Closed: Equatable {
        let slot: Int
        let method: UInt32
        let context: Int
    }

    struct Ticket: Equatable {
        let slot: Int
        let id: UInt64
        let timeoutMilliseconds: UInt32
        let deadline: NIODeadline
        /// Whether the lane has no earlier deadline. Then the timer may have to be set.
        let isNext: Bool
    }

    let countMax: Int
    private(set) var count = 0
    private let slotBits: UInt64
    private var slots: ContiguousArray<Slot> = []
    private var freeSlot = Self.none
    private var lanes: ContiguousArray<Lane> = []
    private var recentLane = 0

    init(countMax: Int) {
        let countMax = max(1, min(countMax, 1 << 24))
        self.countMax = countMax
        slotBits = UInt64(Int.bitWidth - (countMax - 1).leadingZeroBitCount)
    }

    /// Nil if `countMax` requests are open.
    mutating func open(_ method: UInt32, context: Int, timeout: Duration, now: NIODeadline) -> Ticket? {
        guard count < countMax else { return nil }
        let lane = laneIndex(for: timeout)
        let slot = takeSlot()
        count += 1
        let isOwnLane = lanes[lane].timeout == timeout
        let deadline = now + (isOwnLane ? lanes[lane].amount : Self.amount(of: timeout))
        slots[slot].deadline = deadline
        slots[slot].lane = Int32(lane)
        slots[slot].method = method
        slots[slot].context = context
        link(slot, into: lane)
        return Ticket(
            slot: slot, id: slots[slot].generation << slotBits | UInt64(slot),
            timeoutMilliseconds: isOwnLane ? lanes[lane].milliseconds : Self.milliseconds(of: timeout),
            deadline: deadline, isNext: lanes[lane].head == Int32(slot))
    }

    /// Closes an open request. Nil if no such request is open, because it timed out or never was.
    mutating func close(id: UInt64) -> Closed? {
        let slot = id & ((1 << slotBits) - 1)
        guard slot < UInt64(slots.count) else { return nil }
        let index = Int(slot)
        guard slots[index].lane != Self.none, slots[index].generation == id >> slotBits else { return nil }
        return release(index)
    }

    /// Closes one request whose deadline has passed.
    mutating func closeExpired(now: NIODeadline) -> Closed? {
        for lane in lanes where lane.head != Self.none {
            let head = Int(lane.head)
            guard slots[head].deadline <= now else { continue }
            return release(head)
        }
        return nil
    }

    /// Closes one request, the oldest of its timeout.
    mutating func closeAny() -> Closed? {
        guard let lane = lanes.first(where: { $0.head != Self.none }) else { return nil }
        return release(Int(lane.head))
    }

    var nextDeadline: NIODeadline? {
        var earliest: NIODeadline?
        for lane in lanes where lane.head != Self.none {
            let deadline = slots[Int(lane.head)].deadline
            if earliest.map({ deadline < $0 }) ?? true { earliest = deadline }
        }
        return earliest
    }
}

// MARK: - Slots and lanes

extension OpenRequests {
    private mutating func takeSlot() -> Int {
        guard freeSlot != Self.none else {
            slots.append(Slot())
            return slots.count - 1
        }
        let slot = Int(freeSlot)
        freeSlot = slots[slot].next
        return slot
    }

    /// Appends the slot to the lane, or sorts it in from the end where the lane belongs to another timeout.
    private mutating func link(_ slot: Int, into lane: Int) {
        let deadline = slots[slot].deadline
        var previous = lanes[lane].tail
        while previous != Self.none, slots[Int(previous)].deadline > deadline {
            previous = slots[Int(previous)].previous
        }
        let next = previous == Self.none ? lanes[lane].head : slots[Int(previous)].next
        slots[slot].previous = previous
        slots[slot].next = next
        join(previous, to: Int32(slot), in: lane)
        join(Int32(slot), to: next, in: lane)
    }

    private mutating func release(_ slot: Int) -> Closed {
        let entry = slots[slot]
        join(entry.previous, to: entry.next, in: Int(entry.lane))
        slots[slot].generation += 1
        slots[slot].lane = Self.none
        slots[slot].next = freeSlot
        freeSlot = Int32(slot)
        count -= 1
        return Closed(slot: slot, method: entry.method, context: entry.context)
    }

    /// Makes two slots neighbours; `none` stands for the lane's end on that side.
    private mutating func join(_ former: Int32, to latter: Int32, in lane: Int) {
        if former == Self.none { lanes[lane].head = latter } else { slots[Int(former)].next = latter }
        if latter == Self.none { lanes[lane].tail = former } else { slots[Int(latter)].previous = former }
    }

    private mutating func laneIndex(for timeout: Duration) -> Int {
        if recentLane < lanes.count, lanes[recentLane].timeout == timeout { return recentLane }
        recentLane = findLane(for: timeout)
        return recentLane
    }

    private mutating func findLane(for timeout: Duration) -> Int {
        if let own = lanes.firstIndex(where: { $0.timeout == timeout }) { return own }
        let fresh = Lane(
            timeout: timeout, amount: Self.amount(of: timeout), milliseconds: Self.milliseconds(of: timeout))
        if lanes.count < Self.lanesMax {
            lanes.append(fresh)
            return lanes.count - 1
        }
        guard let empty = lanes.firstIndex(where: { $0.head == Self.none }) else { return lanes.count - 1 }
        lanes[empty] = fresh
        return empty
    }

    private static func amount(of timeout: Duration) -> TimeAmount { max(.zero, TimeAmount(timeout)) }

    /// Rounded up, because to the peer zero would mean that there is no time at all.
    private static func milliseconds(of timeout: Duration) -> UInt32 {
        let nanoseconds = amount(of: timeout).nanoseconds
        return UInt32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
    }
}
