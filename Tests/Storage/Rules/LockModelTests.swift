import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// Generated histories of one lock are compared with what must hold in every implementation: in the events
/// the lock has one owner at a time, every waiter gets the lock or an error, and tokens only grow.
@Suite("Locks under generated histories")
struct LockModelTests {
    /// The state that an observer concludes from the events.
    private struct Story {
        var exists = false
        var owner = ""
        var token: UInt64 = 0
        var revision: UInt64 = 0

        mutating func note(_ event: LockEvent, _ context: Comment) {
            #expect(event.revision > revision, context)
            revision = event.revision
            switch event.kind {
            case .set:
                #expect(!exists, context)
                exists = true
            case .removed:
                #expect(exists && event.lock.owner.isEmpty, context)
                (exists, owner) = (false, "")
            case .acquired:
                #expect(exists && (owner.isEmpty || owner == event.lock.owner), context)
                #expect(event.lock.fencingToken > token, context)
                (owner, token) = (event.lock.owner, event.lock.fencingToken)
            case .released:
                #expect(exists && owner == event.lock.owner && !owner.isEmpty, context)
                owner = ""
            }
        }
    }

    private static let users = ["anna", "ben", "cleo", "dora"]

    @Test("K-3 to K-11, K-17: one owner, every wait ends, tokens and revisions grow", arguments: 0..<100)
    func histories(_ seed: UInt64) {
        for round in 0..<10 as Range<UInt64> {
            var random = SeededGenerator(seed: seed * 100 + round)
            var table = LockTable()
            var story = Story()
            var waiting: Set<UInt64> = []
            var counter: UInt64 = 0
            var now: UInt64 = 0
            var sessions: [UInt64] = [0, 1, 2, 3]
            for number in 0..<200 {
                let context: Comment = "seed \(seed), round \(round), step \(number)"
                var step = LockStep(counter: counter)
                now += UInt64.random(in: 0...4_000, using: &random)
                let who = Int.random(in: 0...3, using: &random)
                let claimant = LockTable.Claimant(
                    user: Self.users[who], instance: sessions[who] / 8,
                    place: .init(session: SessionID(rawValue: sessions[who]), link: UInt64(who % 2)))
                let ticket = UInt64(number)
                switch Int.random(in: 0...11, using: &random) {
                case 0: try? table.set("l", ttlSeconds: 10, &step)
                case 1 where random.chance(1, in: 3): try? table.remove("l", &step)
                case 2, 3, 4:
                    let outcome = try? table.acquire(
                        "l", for: claimant, retry: random.chance(2, in: 3), ticket: ticket, &step)
                    if outcome == .waiting { waiting.insert(ticket) }
                    if case .acquired(let token)? = outcome {
                        #expect(table.locks["l"]?.token == token, context)
                    }
                case 5, 6: try? table.release("l", by: claimant.user, &step)
                case 7: try? table.revoke("l", owner: story.owner, &step)
                case 8: table.left(claimant.place.session, now: now, &step)
                case 9: table.entered(claimant.user, claimant.place)
                case 10:
                    table.left(claimant.place.session, now: now, &step)
                    sessions[who] += 4
                default:
                    if random.chance(1, in: 4) {
                        table.lostLink(UInt64(who % 2), grace: 1_000, now: now, &step)
                    }
                }
                table.expire(now: now, &step)
                for event in step.events { story.note(event, context) }
                for settled in step.settled { #expect(waiting.remove(settled.ticket) != nil, context) }
                counter = step.counter
                let lock = table.locks["l"]
                #expect((lock != nil) == story.exists && lock?.owner?.user ?? "" == story.owner, context)
                #expect(Set(lock?.waiters.map(\.ticket) ?? []) == waiting, context)
                #expect(waiting.isEmpty || !story.owner.isEmpty, "nobody waits for a free lock")
                if let deadline = table.nextDeadline { #expect(deadline > now, context) }
            }
        }
    }
}
