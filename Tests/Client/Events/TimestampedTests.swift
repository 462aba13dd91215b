import Foundation
import RTMModel
import Testing

@testable import RTMClient

@Suite("Times as dates")
struct TimestampedTests {
    @Test("a time is the same millisecond again, and one between two is the next")
    func roundTrip() {
        for _ in 0..<10_000 {
            let milliseconds = UInt64.random(in: 0...4_102_444_800_000)
            let receipt = PublishReceipt(timestampMilliseconds: milliseconds, offset: 1)
            #expect(receipt.timestamp.firstMillisecond == milliseconds)
            #expect(receipt.timestamp.addingTimeInterval(0.000_5).firstMillisecond == milliseconds + 1)
        }
        #expect(
            Date(timeIntervalSince1970: 1.5)
                == PublishReceipt(timestampMilliseconds: 1_500, offset: 1).timestamp)
    }

    @Test("dates that no time can be are brought into the range")
    func range() {
        #expect(Date.distantPast.firstMillisecond == 0)
        #expect(Date(timeIntervalSince1970: .nan).firstMillisecond == 0)
        #expect(Date(timeIntervalSince1970: .infinity).firstMillisecond == 0x20_0000_0000_0000)
    }

    @Test("a metadata item has the date of its write if that was recorded")
    func item() {
        let item = MetadataItem(key: "a", value: "1", revision: 1, updatedAtMilliseconds: 2_500)
        #expect(item.updatedAt == Date(timeIntervalSince1970: 2.5))
        #expect(MetadataItem(key: "a", value: "1", revision: 1).updatedAt == nil)
    }
}
