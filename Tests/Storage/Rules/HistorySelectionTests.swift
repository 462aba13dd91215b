import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

@Suite("History queries")
struct HistorySelectionTests {
    private let anna = Caller.user("anna")

    private func request(
        _ type: ChannelType? = .message, _ channel: String = "lobby", count: UInt32 = 100, start: UInt64 = 0,
        end: UInt64 = 0
    ) -> GetHistory {
        GetHistory(channelType: type, channel: channel, count: count, start: start, end: end)
    }

    private func page(_ request: GetHistory, among times: [UInt64]) throws -> ([UInt64], UInt64) {
        let query = try HistorySelection(request, of: anna)
        let stored = times.map {
            HistoryMessage(
                type: .text, payload: [], customType: "", publisher: "", timestampMilliseconds: $0)
        }
        let page = query.page(query.matches(among: stored))
        return (page.messages.map(\.timestampMilliseconds), page.newStart)
    }

    @Test("H-4: the start alone is exclusive, with an end both are inclusive, none means the latest")
    func bounds() throws {
        let times: [UInt64] = [10, 20, 30, 40]
        #expect(try page(request(start: 30), among: times).0 == [20, 10])
        #expect(try page(request(end: 20), among: times).0 == [40, 30, 20])
        #expect(try page(request(start: 30, end: 20), among: times).0 == [30, 20])
        #expect(try page(request(), among: times).0 == [40, 30, 20, 10])
        #expect(try page(request(start: .max), among: times).0 == [40, 30, 20, 10])
    }

    @Test("H-5, L-43, H-1, H-2: what can't be answered is refused with its code")
    func refusals() {
        let cases: [(GetHistory, ErrorCode)] = [
            (request(start: 10, end: 11), .historyInvalidTimestamp), (request(count: 0), .invalidParameter),
            (request(count: 101), .invalidParameter), (request(.stream), .invalidChannelType),
            (request(ChannelType.none), .invalidChannelType), (request(nil), .invalidChannelType),
            (request(.user, "ben"), .historyOperationNotPermitted),
            (request(.message, ""), .invalidChannelName),
        ]
        for (request, code) in cases {
            #expect(refusal { try HistorySelection(request, of: anna) }?.code == code)
        }
        #expect((try? HistorySelection(request(.user, ""), of: anna))?.channel.name == "anna")
    }

    @Test("H-3, H-6, H-7: 250 messages in pages of 100 are 100, 100 and 50, each once, newest first")
    func pages() throws {
        let times = (1...250).map { UInt64($0) * 7 }
        for end in [0, 1] as [UInt64] {
            var seen: [UInt64] = []
            var sizes: [Int] = []
            var start: UInt64 = 0
            repeat {
                let (found, next) = try page(request(start: start, end: end), among: times)
                seen += found
                sizes.append(found.count)
                start = next
            } while start != 0
            #expect(sizes == [100, 100, 50] && seen == times.reversed(), "end \(end)")
        }
    }

    @Test("H-8: whatever the bounds and page sizes, a walk finds each match once", arguments: 0..<200)
    func walks(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let times = (0..<60).map { _ in UInt64.random(in: 1...200, using: &random) }
        let unique = Array(Set(times)).sorted(by: >)
        let first = random.chance(1, in: 2) ? UInt64.random(in: 1...220, using: &random) : 0
        let end =
            random.chance(1, in: 2)
            ? UInt64.random(in: 1...(first == 0 ? 220 : first), using: &random) : 0
        var start = first
        var seen: [UInt64] = []
        repeat {
            let count = UInt32.random(in: 1...9, using: &random)
            let (found, next) = try page(request(count: count, start: start, end: end), among: unique)
            seen += found
            start = next
        } while start != 0
        let expected = unique.filter { time in
            (first == 0 || (end == 0 ? time < first : time <= first)) && time >= end
        }
        #expect(seen == expected, "seed \(seed)")
    }

    @Test("H-7, H-8: a walk finds each of many messages of one millisecond once", arguments: 0..<100)
    func sharedMilliseconds(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let begin = UInt64(1_790_000_000_000)
        let times = Set(
            (0..<80).map { _ in
                LogTime(
                    milliseconds: begin + .random(in: 0...3, using: &random),
                    order: .random(in: 0...99, using: &random))
            }
        ).sorted(by: >)
        let stored = times.map {
            HistoryMessage(type: .text, payload: [], customType: "", publisher: "", time: $0)
        }
        for end in [0, begin + 1] {
            var start = random.chance(1, in: 2) ? begin + 3 : 0
            let first = start
            var seen: [LogTime] = []
            repeat {
                let count = UInt32.random(in: 1...9, using: &random)
                let query = try HistorySelection(request(count: count, start: start, end: end), of: anna)
                let page = query.page(query.matches(among: stored))
                seen += page.messages.map(\.time)
                start = page.newStart
            } while start != 0
            let expected = times.filter { time in
                (first == 0 || (end == 0 ? time.milliseconds < first : time.milliseconds <= first))
                    && time.milliseconds >= end
            }
            #expect(seen == expected, "seed \(seed), end \(end)")
        }
    }

    @Test(
        "L-20, H-6: a page of large messages is cut off where a frame would be too long, and goes on losslessly"
    )
    func largeMessages() throws {
        let sizes = [32_768, 32_768, 10, 200_000, 300_000, 10] + Array(repeating: 32_768, count: 94)
        let stored = sizes.enumerated().map { place, size in
            HistoryMessage(
                type: .binary, payload: Array(repeating: 0, count: size), customType: "", publisher: "anna",
                timestampMilliseconds: UInt64(100 - place))
        }
        var start: UInt64 = 0
        var seen: [UInt64] = []
        var counts: [Int] = []
        repeat {
            let query = try HistorySelection(request(start: start), of: anna)
            let page = query.page(query.matches(among: stored))
            #expect(page.encodedLength < HistorySelection.pageBytesMax + 1_000 || page.messages.count == 1)
            seen += page.messages.map(\.timestampMilliseconds)
            counts.append(page.messages.count)
            start = page.newStart
        } while start != 0
        #expect(seen == stored.map(\.timestampMilliseconds))
        #expect(counts.prefix(3) == [3, 1, 1] && counts[3] == 8)
    }

    @Test("L-44: the period of the app counts, and off refuses")
    func retention() throws {
        let retention = HistoryRetention(
            usual: .oneWeek, ofApps: ["mute": .off, "long": .permanent, "short": .oneDay])
        let day: UInt64 = 86_400_000
        #expect(retention.expiry(of: 1000, app: "any") == 1000 + 7 * day)
        #expect(retention.expiry(of: 1000, app: "short") == 1000 + day)
        #expect(retention.expiry(of: 1000, app: "long") == nil)
        #expect(refusal { try retention.check("mute") }?.code == .historyNotAvailable)
        try retention.check("any")
    }
}
