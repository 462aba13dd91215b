import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

struct RevisionFloorTests {
    @Test func `D-45: an event that the snapshot contains passes by, the next one doesn't`() {
        var floor = RevisionFloor()
        floor.begin(at: 7)
        let accepted = [6, 7, 8, 8, 9].map { floor.accepts(UInt64($0)) }
        #expect(accepted == [false, false, true, false, true])
    }

    @Test func `Without a snapshot every event counts once`() {
        var floor = RevisionFloor()
        let accepted = [3, 3, 2, 4].map { floor.accepts(UInt64($0)) }
        #expect(accepted == [true, false, false, true])
    }

    @Test func `S-21: a snapshot of a storage that has begun anew lowers the floor`() {
        var floor = RevisionFloor()
        floor.begin(at: 100)
        floor.begin(at: 2)
        let accepted = floor.accepts(3)
        #expect(accepted)
    }

    /// Whatever is replayed, and whenever a snapshot comes, the app never sees an older set after a newer
    /// one, and ends with the newest.
    @Test(arguments: UInt64(0)..<200)
    func `2.1.12, 2.1.10: no history of losses and replays hides the newest set or shows one twice`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var floor = RevisionFloor()
        var stored: UInt64 = 0
        var seen: UInt64 = 0
        var delivered: Set<UInt64> = []
        for _ in 0..<200 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                // The client is back: the snapshot comes, then a replay from some place before it.
                floor.begin(at: stored)
                seen = stored
                for revision in (stored - min(stored, UInt64.random(in: 0...5, using: &random)))...stored {
                    let isNew = floor.accepts(revision)
                    #expect(!isNew)
                }
            case 1...3:
                // A duplicate of something old.
                let isNew = floor.accepts(UInt64.random(in: 0...stored, using: &random))
                #expect(!isNew)
            default:
                stored += 1
                let isNew = floor.accepts(stored)
                #expect(isNew && stored > seen && delivered.insert(stored).inserted)
                seen = stored
            }
            #expect(seen == stored)
        }
    }
}
