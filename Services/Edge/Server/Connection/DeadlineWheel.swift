import NIOCore

/// Something that has to be looked at when its time comes.
protocol DeadlineWheelMember: AnyObject {
    /// Where the member is in the wheel. Only the wheel uses it.
    var wheelSlot: DeadlineWheelSlot { get set }
}

struct DeadlineWheelSlot {
    /// 0 if the member is in no wheel.
    fileprivate var tick: UInt32 = 0
    fileprivate var index: UInt32 = 0

    init() {}
}

/// The deadlines of all connections of a loop, in slots of a quarter of a second: adding, moving and removing
/// one is O(1), and the loop has one timer however many connections there are.
///
/// (A timer of the event loop for each connection costs a promise, a closure and an entry in a heap, and
/// cancelling one walks through all of them.) A member is due at the end of the slot that its deadline falls
/// into, never before it. A deadline beyond the wheel's horizon is due at the horizon: a member that is
/// reminded too early says when to ask again. It has to do that anyway, because a frame moves its deadline
/// without moving the member.
///
/// A value without a clock: the time is a parameter.
struct DeadlineWheel<Member: DeadlineWheelMember> {
    static var resolution: TimeAmount { .milliseconds(250) }
    private static var slotCount: Int { 512 }

    private let start: NIODeadline
    /// Ticks that have passed since `start`; the slots up to this one are empty.
    private var passed = 0
    private var slots: [ContiguousArray<Member>]
    private(set) var count = 0

    init(start: NIODeadline) {
        self.start = start
        slots = Array(repeating: [], count: Self.slotCount)
    }

    /// Adds a member, or moves it. Returns the time at which it will be due.
    @discardableResult
    mutating func insert(_ member: Member, deadline: NIODeadline) -> NIODeadline {
        remove(member)
        let wanted = max(0, (deadline - start).nanoseconds + Self.resolution.nanoseconds - 1)
        let horizon = passed + Self.slotCount - 1
        let tick = min(max(Int(wanted / Self.resolution.nanoseconds), passed + 1), horizon)
        let slot = tick % Self.slotCount
        member.wheelSlot.tick = UInt32(tick)
        member.wheelSlot.index = UInt32(slots[slot].count)
        slots[slot].append(member)
        count += 1
        return time(of: tick)
    }

    mutating func remove(_ member: Member) {
        guard member.wheelSlot.tick != 0 else { return }
        let slot = Int(member.wheelSlot.tick) % Self.slotCount
        let index = member.wheelSlot.index
        let last = slots[slot].removeLast()
        if last !== member {
            slots[slot][Int(index)] = last
            last.wheelSlot.index = index
        }
        if slots[slot].isEmpty { slots[slot] = [] }
        member.wheelSlot.tick = 0
        count -= 1
    }

    /// Takes out members that are due, and returns them. If there are more of them, they stay due.
    mutating func advance(to now: NIODeadline, countMax: Int = .max) -> [Member] {
        let target = Int((now - start).nanoseconds / Self.resolution.nanoseconds)
        var due: [Member] = []
        defer {
            count -= due.count
            for member in due { member.wheelSlot.tick = 0 }
        }
        // After a long sleep every slot is looked at only once.
        for tick in passed..<max(passed, min(target, passed + Self.slotCount)) {
            let slot = (tick + 1) % Self.slotCount
            let taken = min(slots[slot].count, countMax - due.count)
            due.append(contentsOf: slots[slot].suffix(taken))
            slots[slot].removeLast(taken)
            guard slots[slot].isEmpty else { return due }
            slots[slot] = []
            passed = tick + 1
        }
        passed = max(passed, target)
        return due
    }

    /// The time at which a member is due next; nil if there is none.
    var nextDue: NIODeadline? {
        guard count > 0 else { return nil }
        let tick = (passed + 1..<passed + Self.slotCount).first { !slots[$0 % Self.slotCount].isEmpty }
        return tick.map(time)
    }

    private func time(of tick: Int) -> NIODeadline { start + Self.resolution * tick }
}

/// The deadlines of all connections of a loop, with one timer for all of them.
final class ConnectionDeadlines {
    /// Limit: connections that a turn of the loop looks at, because each of them may have to be closed.
    private static let checksPerTurn = 32
    /// How long the others wait. NIO looks at its sockets meanwhile.
    private static let pause = TimeAmount.microseconds(100)

    private let eventLoop: any EventLoop
    private var wheel: DeadlineWheel<ConnectionHandler>
    private var timer: (task: Scheduled<Void>, due: NIODeadline)?

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        wheel = DeadlineWheel(start: eventLoop.now)
    }

    /// How many connections there are.
    var count: Int { wheel.count }

    /// The connection is asked at this time, or before, whether its deadline has passed.
    func remind(_ connection: ConnectionHandler, at deadline: NIODeadline) {
        arm(wheel.insert(connection, deadline: deadline))
    }

    func forget(_ connection: ConnectionHandler) { wheel.remove(connection) }

    private func arm(_ due: NIODeadline) {
        if let timer {
            guard due < timer.due else { return }
            timer.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.turn() }
        timer = (task, due)
    }

    private func turn() {
        timer = nil
        let now = eventLoop.now
        for connection in wheel.advance(to: now, countMax: Self.checksPerTurn) {
            connection.checkDeadline(now: now)
        }
        // Counted from here: what is due when the turn ends would run before NIO looks at its sockets.
        if let due = wheel.nextDue { arm(max(due, eventLoop.now + Self.pause)) }
    }
}
