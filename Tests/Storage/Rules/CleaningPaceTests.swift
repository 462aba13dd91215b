import Testing

@testable import RTMStorageServer

@Suite("How often a shard is cleaned up") struct CleaningPaceTests {
    @Test("once a second while it is used, and once a minute otherwise")
    func pace() {
        var pace = CleaningPace()
        // The node before may have left something.
        let idle = (0...180).filter { _ in pace.isDue() }
        #expect(idle == [0, 60, 120, 180])
        let used = (0..<5).filter { _ in
            pace.used()
            return pace.isDue()
        }
        #expect(used == [0, 1, 2, 3, 4])
        let after = (0..<59).filter { _ in pace.isDue() }
        #expect(after.isEmpty)
    }
}
