import RTMTestSupport
import Testing

@testable import RTMClient

@Suite("The last entries of a client's record") struct FlightRingTests {
    private typealias Entry = FlightRecord.Entry

    private func frame(_ at: UInt64, _ name: String = "Publish") -> Entry {
        Entry(at: at, kind: .sent, name: name, bytes: 10)
    }

    @Test("things of one kind share an entry for ten seconds, also when others come between them")
    func shared() throws {
        var ring = FlightRing(capacity: 8)
        for at in [0, 1, 5_000, 10_000] as [UInt64] {
            ring.note(frame(at))
            ring.note(frame(at, "Heartbeat"))
        }
        ring.note(frame(10_001))
        #expect(ring.entries.map(\.name) == ["Publish", "Heartbeat", "Publish"])
        let first = try #require(ring.entries.first)
        #expect(first.count == 4 && first.bytes == 40 && first.until == 10_000)
    }

    @Test("the longest call counts, and an error of another number is another entry")
    func calls() {
        var ring = FlightRing(capacity: 8)
        for (longest, code) in [(5, 0), (30, 0), (7, -11_025), (2, 0)] {
            ring.note(Entry(at: 1, kind: .calls, name: "publish", longest: longest, code: code))
        }
        #expect(ring.entries.map(\.longest) == [30, 7])
        #expect(ring.entries.map(\.count) == [3, 1])
    }

    @Test("nothing is counted before a change of the link or a gap that came before it")
    func boundaries() {
        var ring = FlightRing(capacity: 8)
        ring.note(frame(1))
        ring.note(Entry(at: 2, kind: .link, name: "disconnected"))
        ring.note(frame(3))
        ring.note(Entry(at: 4, kind: .gap, name: "message"))
        ring.note(Entry(at: 4, kind: .gap, name: "message"))
        ring.note(frame(5))
        #expect(ring.entries.map(\.count) == [1, 1, 1, 1, 1, 1])
    }

    @Test("there are never more entries than allowed, the oldest go, and none are kept with a capacity of 0")
    func bounds() {
        var (ring, off) = (FlightRing(capacity: 5), FlightRing(capacity: 0))
        var random = SeededGenerator(seed: 3)
        for at in 0..<2_000 as Range<UInt64> {
            let entry = frame(at * 97, "frame \(Int.random(in: 0..<20, using: &random))")
            ring.note(entry)
            off.note(entry)
            #expect(ring.entries.count <= 5 && off.entries.isEmpty)
        }
        #expect(ring.entries.allSatisfy { $0.until + 60_000 > 1_999 * 97 })
    }
}
