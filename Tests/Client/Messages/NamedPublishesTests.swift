import RTMModel
import Testing

@testable import RTMClient

/// What a client knows of the messages that the app has given an id (M-42).
struct NamedPublishesTests {
    private let start = ContinuousClock.now
    private var named = NamedPublishes()

    private mutating func begin(_ id: String, call: UInt64, after time: Duration = .zero) -> OutboxNumber {
        named.begin(id, to: .channel("bank"), call: call, epoch: call, now: start + time)
    }

    @Test("M-42: every client makes the same number of an id, which JavaScript can read")
    func numbers() {
        #expect(NamedPublishes.number(of: "payment-17") == 6_117_057_995_805_444)
        #expect(NamedPublishes.number(of: "payment-18") != NamedPublishes.number(of: "payment-17"))
        #expect((0..<1_000).allSatisfy { NamedPublishes.number(of: "\($0)") < 1 << 53 })
    }

    @Test("M-42: a repetition has the time of the first sending, unless that has certainly failed")
    mutating func ages() {
        let first = begin("a", call: 1)
        #expect(first.again == PublishRepetition(firstSentAt: start, epoch: 1))
        named.ended(1)
        #expect(begin("a", call: 2, after: .seconds(5)) == first)
        // The first may still have been published.
        named.ended(2, isNotDone: true)
        #expect(begin("a", call: 3, after: .seconds(9)) == first)
        _ = begin("b", call: 4)
        named.ended(4, isNotDone: true)
        #expect(begin("b", call: 5, after: .seconds(200)).again?.firstSentAt == start + .seconds(200))
    }

    @Test("a bounded number of messages is remembered, the newest ones")
    mutating func limit() {
        for number in 0...NamedPublishes.capacity { _ = begin("\(number)", call: UInt64(number)) }
        #expect(begin("1", call: 5_000, after: .seconds(1)).again?.firstSentAt == start)
        #expect(begin("0", call: 5_001, after: .seconds(1)).again?.firstSentAt == start + .seconds(1))
    }
}
