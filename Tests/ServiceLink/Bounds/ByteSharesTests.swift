import Testing

@testable import RTMServiceLink

@Suite("Memory that apps and their callers share while it is in use")
struct ByteSharesTests {
    private var shares = ByteShares(bytesMax: 1_200)

    private mutating func fill(_ app: String, _ caller: String) -> Int {
        var count = 0
        while shares.take(1, of: app, by: caller) { count += 1 }
        return count
    }

    @Test("a caller alone gets a third, an app half, and there is something for whoever comes")
    mutating func parts() {
        let first = fill("a", "x")
        let second = fill("a", "y")
        #expect(first == 400 && (100...200).contains(second))
        _ = fill("a", "z")
        #expect(shares.bytes <= 600)
        let other = fill("b", "x")
        let late = fill("c", "x")
        #expect(other >= 190 && late > 50 && shares.bytes < 1_200)
    }

    @Test("what is given back is free again, for all")
    mutating func back() {
        let taken = [
            shares.take(400, of: "a", by: "x"), shares.take(1, of: "a", by: "x"),
        ]
        #expect(taken == [true, false])
        shares.giveBack(300, of: "a", by: "x")
        #expect(shares.bytes == 100)
        let again = shares.take(100, of: "a", by: "x")
        #expect(again)
        shares.giveBack(200, of: "a", by: "x")
        #expect(shares.bytes == 0)
        let other = fill("b", "x")
        #expect(other == 400)
    }
}
