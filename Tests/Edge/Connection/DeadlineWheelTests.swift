import NIOCore
import RTMTestSupport
import Testing

@testable import RTMEdgeServer

@Suite("The wheel of deadlines")
struct DeadlineWheelTests {
    private final class Member: DeadlineWheelMember {
        let name: Int
        var wheelSlot = DeadlineWheelSlot()

        init(_ name: Int) { self.name = name }
    }

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let resolution = DeadlineWheel<Member>.resolution
    private var wheel = DeadlineWheel<Member>(start: start)

    @Test("a member is due within a quarter of a second after its deadline, never before, and once")
    mutating func due() {
        for milliseconds in [0, 1, 249, 250, 251, 10_000, 100_001] as [Int64] {
            wheel = DeadlineWheel(start: Self.start)
            let deadline = Self.start + .milliseconds(milliseconds)
            let time = wheel.insert(Member(1), deadline: deadline)
            #expect(time >= deadline && time <= deadline + Self.resolution)
            #expect(wheel.nextDue == time)
            #expect(names(at: time - .nanoseconds(1)).isEmpty)
            #expect(names(at: time) == [1])
            #expect(names(at: time + .seconds(1000)).isEmpty)
            #expect(wheel.count == 0 && wheel.nextDue == nil)
        }
    }

    @Test("a member that is inserted again has moved, and one that is removed is gone")
    mutating func moved() {
        let (moved, removed) = (Member(1), Member(2))
        wheel.insert(moved, deadline: Self.start + .seconds(1))
        wheel.insert(removed, deadline: Self.start + .seconds(1))
        wheel.insert(moved, deadline: Self.start + .seconds(3))
        wheel.remove(removed)
        wheel.remove(removed)
        #expect(wheel.count == 1)
        #expect(names(at: Self.start + .seconds(2)).isEmpty)
        #expect(names(at: Self.start + .seconds(4)) == [1])
    }

    @Test("a deadline beyond the horizon is due at the horizon, and a past one at the next slot")
    mutating func bounds() {
        let horizon = wheel.insert(Member(1), deadline: Self.start + .hours(1))
        #expect(horizon > Self.start + .seconds(120) && horizon < Self.start + .seconds(130))
        _ = names(at: Self.start + .seconds(60))
        let past = wheel.insert(Member(2), deadline: Self.start)
        #expect(past == Self.start + .seconds(60) + Self.resolution)
        #expect(names(at: past) == [2])
        #expect(names(at: horizon) == [1])
    }

    @Test("after a long sleep everybody whose time came is due")
    mutating func longSleep() {
        for name in 0..<500 {
            wheel.insert(Member(name), deadline: Self.start + .milliseconds(Int64(name) * 250))
        }
        #expect(names(at: Self.start + .hours(5)) == Array(0..<500))
        let time = wheel.insert(Member(1), deadline: Self.start + .hours(5) + .seconds(1))
        #expect(names(at: time) == [1])
    }

    @Test("who is due beyond a number stays due, unless removed or moved")
    mutating func some() throws {
        let members = (0..<10).map { Member($0) }
        for member in members {
            wheel.insert(member, deadline: Self.start + .milliseconds(Int64(member.name % 2) * 1_000))
        }
        let now = Self.start + .seconds(5)
        var seen = wheel.advance(to: now, countMax: 3).map(\.name)
        #expect(seen.count == 3 && wheel.count == 7)
        #expect(wheel.nextDue.map { $0 <= now } == true)
        let waiting = members.filter { !seen.contains($0.name) }
        try #require(waiting.count == 7)
        wheel.remove(waiting[0])
        let due = wheel.insert(waiting[1], deadline: now + .seconds(1))
        while let next = wheel.nextDue, next <= now {
            let some = wheel.advance(to: now, countMax: 3)
            #expect(!some.isEmpty && some.count <= 3)
            seen += some.map(\.name)
        }
        #expect(seen.count == 8 && Set(seen).count == 8)
        #expect(wheel.nextDue == due && names(at: due) == [waiting[1].name])
    }

    @Test("random histories: the wheel agrees with a sorted list")
    mutating func random() {
        for seed in 0..<40 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var wheel = DeadlineWheel<Member>(start: Self.start)
            var model: [Int: NIODeadline] = [:]
            let members = (0..<30).map { Member($0) }
            var now = Self.start
            for _ in 0..<300 {
                let member = members[.random(in: 0..<30, using: &random)]
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let deadline = now + .milliseconds(.random(in: -500...200_000, using: &random))
                    model[member.name] = wheel.insert(member, deadline: deadline)
                case 1:
                    wheel.remove(member)
                    model[member.name] = nil
                default:
                    now = now + .milliseconds(.random(in: 0...2_000, using: &random))
                    let due = wheel.advance(to: now).map(\.name).sorted()
                    #expect(due == model.filter { $0.value <= now }.keys.sorted(), "seed \(seed)")
                    model = model.filter { $0.value > now }
                }
                #expect(wheel.count == model.count, "seed \(seed)")
                #expect(wheel.nextDue == model.values.min(), "seed \(seed)")
            }
        }
    }

    private mutating func names(at now: NIODeadline) -> [Int] { wheel.advance(to: now).map(\.name).sorted() }
}
