import RTMTestSupport
import Testing

@testable import RTMMessagingServer

@Suite("Where channels lie")
struct ChannelPlacesTests {
    /// A table as `LogTable` keeps it. Every number belongs to many channels.
    private struct Table {
        var places = ChannelPlaces()
        /// The channels by their places.
        var channels: [Int: Int] = [:]

        /// Some are the last numbers, behind which the first ones follow.
        static func number(of channel: Int) -> UInt64 { UInt64(channel % 5) &- 3 }

        func place(of channel: Int) -> Int? {
            places.place(of: Self.number(of: channel)) { channels[$0] == channel }
        }

        mutating func insert(_ channel: Int, at place: Int) {
            channels[place] = channel
            places.insert(place, Self.number(of: channel))
        }

        mutating func remove(at place: Int) {
            guard let channel = channels[place] else { return }
            for other in places.remove(place, Self.number(of: channel)) {
                places.insert(other, Self.number(of: channels[other] ?? 0))
            }
            channels[place] = nil
        }
    }

    @Test(
        "channels with one number are told apart, whatever comes and goes",
        arguments: 1...20 as ClosedRange<UInt64>)
    func sameNumbers(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = Table()
        var expected: [Int: Int] = [:]
        for place in 0..<400 {
            let channel = Int.random(in: 0..<40, using: &random)
            if let known = expected[channel] {
                table.remove(at: known)
                expected[channel] = nil
            } else {
                table.insert(channel, at: place)
                expected[channel] = place
            }
            for channel in 0..<40 { #expect(table.place(of: channel) == expected[channel]) }
            #expect(table.places.count == expected.count)
        }
        table.places.shrink()
        for channel in 0..<40 { #expect(table.place(of: channel) == expected[channel]) }
    }
}
