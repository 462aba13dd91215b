import RTMModel
import RTMWire
import Testing

@testable import RTMStorageServer

/// Who owns a reader of events, in time that the tests move.
@Suite("W-44: one node at a time owns a reader of events")
struct EventReaderTests {
    private static let start = StreamPosition(epoch: 7, offset: 10)

    private func claim(_ node: String) -> ClaimReader {
        ClaimReader(appID: "app", name: "hook", node: node, lease: .seconds(10))
    }

    private func keep(_ term: UInt64, _ offset: UInt64, lease: Duration = .seconds(10)) -> KeepReader {
        KeepReader(
            appID: "app", name: "hook", term: term, lease: lease,
            position: StreamPosition(epoch: 7, offset: offset), state: [1])
    }

    @Test("a second node gets it when the lease of the first has ended, with its position and state")
    func lease() {
        var reader = EventReaderState(at: Self.start)
        #expect(reader.claim(claim("a"), term: 1, now: 1_000) == ReaderClaimed(term: 1, position: Self.start))
        #expect(reader.keep(keep(1, 12), now: 5_000) == [])
        let refused = reader.claim(claim("b"), term: 2, now: 14_999)
        #expect(refused.term == 0 && refused.owner == "a" && refused.wait == .milliseconds(1))
        let claimed = reader.claim(claim("b"), term: 3, now: 15_000)
        #expect(claimed.term == 3 && claimed.position.offset == 12 && claimed.state == [1])
        #expect(reader.keep(keep(1, 99), now: 15_001) == nil)
        #expect(reader.position.offset == 12)
        #expect(reader.keep(keep(3, 13), now: 15_002) == [])
    }

    @Test("an owner whose lease has ended keeps on, as long as nobody else has come")
    func late() {
        var reader = EventReaderState(at: Self.start)
        _ = reader.claim(claim("a"), term: 1, now: 0)
        #expect(reader.keep(keep(1, 20), now: 60_000) == [])
        #expect(reader.isOwned(now: 69_999) && !reader.isOwned(now: 70_000))
    }

    @Test("the owner gives it up with a lease of 0, and a node that starts again gets its own back at once")
    func release() {
        var reader = EventReaderState(at: Self.start)
        _ = reader.claim(claim("a"), term: 1, now: 0)
        #expect(reader.claim(claim("a"), term: 2, now: 1).term == 2)
        #expect(reader.keep(keep(2, 11, lease: .zero), now: 2) == [])
        #expect(reader.claim(claim("b"), term: 3, now: 2).term == 3)
    }

    @Test("moving it ends the term of its owner, and what the owner kept")
    func move() {
        var reader = EventReaderState(at: Self.start)
        _ = reader.claim(claim("a"), term: 1, now: 0)
        _ = reader.keep(keep(1, 20), now: 1)
        reader.move(to: Self.start, term: 2)
        #expect(reader.keep(keep(1, 21), now: 2) == nil)
        let claimed = reader.claim(claim("b"), term: 3, now: 3)
        #expect(claimed == ReaderClaimed(term: 3, position: Self.start))
    }

    @Test("dead letters are numbered in their order")
    func letters() {
        var reader = EventReaderState(at: Self.start)
        _ = reader.claim(claim("a"), term: 1, now: 0)
        var request = keep(1, 20)
        request.letters = [
            DeadLetter(position: Self.start, reason: "x"), DeadLetter(position: Self.start, reason: "y"),
        ]
        #expect(reader.keep(request, now: 1)?.map(\.number) == [1, 2])
        #expect(reader.keep(request, now: 2)?.map(\.number) == [3, 4])
    }

    @Test("a state above 64 KiB, too many dead letters and a name above 64 bytes are refused")
    func limits() {
        var large = keep(1, 1)
        large.state = Array(repeating: 0, count: 64 * 1024 + 1)
        #expect(refusal { try large.check() }?.limit?.value == 65_536)
        var many = keep(1, 1)
        many.letters = Array(repeating: DeadLetter(position: Self.start), count: 101)
        #expect(refusal { try many.check() }?.limit?.value == 100)
        var long = claim("a")
        long.name = String(repeating: "n", count: 65)
        #expect(refusal { try long.check() }?.limit?.value == 64)
        #expect(refusal { try claim("a").check() } == nil)
    }
}
