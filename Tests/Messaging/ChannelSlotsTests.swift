import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("Where channels lie")
struct ChannelSlotsTests {
    /// A table as `Partition` keeps it. Every number belongs to many channels.
    private struct Table {
        var slots = ChannelSlots()
        /// The channels by their slots.
        var channels: [UInt32: Int] = [:]

        /// Some are the last numbers, behind which the first ones follow.
        static func number(of channel: Int) -> UInt64 { UInt64(channel % 5) &- 3 }

        func slot(of channel: Int) -> UInt32? {
            slots.slot(of: Self.number(of: channel)) { channels[$0] == channel }
        }

        mutating func insert(_ channel: Int, at slot: UInt32) {
            channels[slot] = channel
            slots.insert(slot, Self.number(of: channel))
        }

        mutating func remove(at slot: UInt32) {
            guard let channel = channels[slot] else { return }
            for other in slots.remove(slot, Self.number(of: channel)) {
                slots.insert(other, Self.number(of: channels[other] ?? 0))
            }
            channels[slot] = nil
        }
    }

    @Test(
        "channels with one number are kept apart, whatever comes and goes",
        arguments: 1...20 as ClosedRange<UInt64>)
    func sameNumbers(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = Table()
        var expected: [Int: UInt32] = [:]
        for slot in 0..<400 as Range<UInt32> {
            let channel = Int.random(in: 0..<40, using: &random)
            if let known = expected[channel] {
                table.remove(at: known)
                expected[channel] = nil
            } else {
                table.insert(channel, at: slot)
                expected[channel] = slot
            }
            for channel in 0..<40 { #expect(table.slot(of: channel) == expected[channel]) }
            #expect(table.slots.count == expected.count)
        }
        table.slots.shrink()
        for channel in 0..<40 { #expect(table.slot(of: channel) == expected[channel]) }
    }

    @Test(
        "channels of any type, app and name have numbers of their own", arguments: [0, 1, .max] as [UInt64])
    func numbers(secret: UInt64) {
        let names = NameHash(secret: secret)
        var numbers: Set<UInt64> = []
        var count = 0
        for appID in ["app", "apq", "a"] {
            for type in [ChannelType.none, .message, .stream, .user] {
                for name in (0..<200).flatMap({ ["\($0)", "room\($0)", "a-longer-name-\($0)-of-a-room"] }) {
                    let key = ChannelKey(appID: appID, type: type, name: name)
                    numbers.insert(key.withView { names.number(of: $0) })
                    count += 1
                }
            }
        }
        #expect(numbers.count == count)
    }

    @Test("a name that is no UTF-8 is one channel, which is forgotten as others are")
    func malformedName() {
        var broker = Broker(limits: .limits(ageMax: 1_000, idleMax: 1_000), firstEpoch: 1)
        /// Returns the offset of the message; 0 if it was refused.
        func publish(now: UInt64) -> UInt64 {
            let bytes: [UInt8] = [0xFF, 0x61]
            return bytes.withUnsafeBytes { name in
                let text = WireText(name)
                var messages = ByteBuffer()
                MessageRun.append(
                    MessageView(type: .binary, payload: text, customType: .empty), to: &messages)
                return messages.withUnsafeReadableBytes { messages in
                    let request = PublishRequest(
                        appID: text, channelType: .message, channel: text, publisher: text,
                        publisherSession: 1, needsReceiver: false, messages: MessageRun(messages, count: 1))
                    return (try? broker.publish(request, now: now).entries.offset) ?? 0
                }
            }
        }
        #expect([publish(now: 1), publish(now: 2)] == [1, 2])
        #expect(broker.channelCount == 1)
        for _ in 0..<4 { broker.sweep(10, now: 10_000) }
        #expect(broker.channelCount == 0)
        #expect(publish(now: 10_001) == 3)
    }
}
