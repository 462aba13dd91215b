import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMMessagingServer

@Suite("The embedded broker")
struct BrokerTests {
    private typealias Interest = Broker.Interest

    private var broker = Broker(limits: .limits(), firstEpoch: 1000)
    private let one = Interest(link: 1, id: 10)
    private let two = Interest(link: 2, id: 10)

    // MARK: Interest

    @Test("protocol, numbers: epochs stay below 2^53, however many logs begin")
    func epochs() {
        for _ in 0..<100 {
            let first = Broker.randomFirstEpoch()
            #expect(first > 0 && first + (1 << 51) < 1 << 53)
        }
    }

    @Test("attached without a position: from the head on, with nothing from before")
    mutating func attachAtHead() throws {
        _ = try broker.publish("old", to: .message("a"), now: 1)
        let attached = try broker.attach(one, to: .message("a"), after: nil, now: 2)
        #expect(attached.position.offset == 1)
        #expect(!attached.gap && attached.missed.isEmpty)
        let next = try broker.publish("new", to: .message("a"), now: 3)
        #expect(next.interests == [one])
        #expect(next.entries.offset == 2)
    }

    @Test("attached after a position: exactly what follows it, then what is new")
    mutating func attachAfter() throws {
        let start = try broker.attach(one, to: .message("a"), after: nil, now: 0).position
        for now in 1...5 as ClosedRange<UInt64> {
            _ = try broker.publish("\(now)", to: .message("a"), now: now)
        }
        for offset in 0...5 as ClosedRange<UInt64> {
            let position = StreamPosition(epoch: start.epoch, offset: offset)
            let attached = try broker.attach(two, to: .message("a"), after: position, now: 6)
            #expect(attached.missed.map(\.offset) == Array((1...5).dropFirst(Int(offset))))
            #expect(attached.position.offset == 5 && !attached.gap)
        }
        #expect(try broker.publish("6", to: .message("a"), now: 7).interests == [one, two])
    }

    @Test("a position that can't be continued is a gap: trimmed, of another epoch, or ahead of the log")
    mutating func gap() throws {
        broker = Broker(limits: .limits(entriesMax: 2), firstEpoch: 1000)
        let epoch = try broker.attach(one, to: .message("a"), after: nil, now: 0).position.epoch
        for now in 1...5 as ClosedRange<UInt64> { _ = try broker.publish("x", to: .message("a"), now: now) }
        for (offset, start) in [(0, 3), (2, 3), (6, 5)] as [(UInt64, UInt64)] {
            let attached = try broker.attach(
                two, to: .message("a"), after: StreamPosition(epoch: epoch, offset: offset), now: 6)
            #expect(attached.skippedTo == StreamPosition(epoch: epoch, offset: start))
            #expect(attached.missed.map(\.offset) == (start == 3 ? [4, 5] : []))
            #expect(attached.position.offset == 5)
        }
        let last = StreamPosition(epoch: epoch, offset: 3)
        #expect(
            try broker.attach(two, to: .message("a"), after: last, now: 6).missed.map(\.offset) == [4, 5])
    }

    @Test("behind a gap into another epoch comes everything that the new log has: it was acknowledged")
    mutating func newEpoch() throws {
        let old = StreamPosition(epoch: 7, offset: 91)
        for now in 1...3 as ClosedRange<UInt64> { _ = try broker.publish("x", to: .message("a"), now: now) }
        let attached = try broker.attach(one, to: .message("a"), after: old, now: 4)
        #expect(attached.skippedTo == StreamPosition(epoch: attached.position.epoch, offset: 0))
        #expect(attached.missed.map(\.offset) == [1, 2, 3] && attached.position.offset == 3)
        broker = Broker(limits: .limits(entriesMax: 2), firstEpoch: 1000)
        for now in 1...5 as ClosedRange<UInt64> { _ = try broker.publish("x", to: .message("a"), now: now) }
        let page = try broker.read(.message("a"), after: old, now: 6)
        #expect(page.gap && page.more && page.entries.isEmpty && page.position.offset == 3)
        let rest = try broker.read(.message("a"), after: page.position, now: 6)
        #expect(!rest.gap && rest.entries.map(\.offset) == [4, 5])
    }

    @Test("a detached interest and those of a closed link get nothing more, the others go on")
    mutating func detach() throws {
        let other = Interest(link: 1, id: 11)
        for interest in [one, other, two] {
            _ = try broker.attach(interest, to: .message("a"), after: nil, now: 0)
        }
        #expect(try broker.publish("1", to: .message("a"), now: 1).interests == [one, other, two])
        broker.detach(one, now: 3)
        broker.detach(one, now: 3)
        #expect(try broker.publish("2", to: .message("a"), now: 2).interests == [other, two])
        broker.linkClosed(1, now: 3)
        #expect(try broker.publish("3", to: .message("a"), now: 3).interests == [two])
        broker.detach(other, now: 3)
        broker.linkClosed(3, now: 3)
        #expect(try broker.publish("4", to: .message("a"), now: 4).interests == [two])
    }

    @Test("the same number again moves the interest to the new channel")
    mutating func move() throws {
        _ = try broker.attach(one, to: .message("a"), after: nil, now: 0)
        _ = try broker.attach(one, to: .message("b"), after: nil, now: 0)
        #expect(try broker.publish("1", to: .message("a"), now: 1).interests.isEmpty)
        #expect(try broker.publish("1", to: .message("b"), now: 1).interests == [one])
    }

    @Test("L-6: app, type and name make a channel; none of them alone")
    mutating func keys() throws {
        let keys = [
            ChannelKey(appID: "x", type: .message, name: "a"), ChannelKey(appID: "x", type: .user, name: "a"),
            ChannelKey(appID: "y", type: .message, name: "a"),
            ChannelKey(appID: "x", type: .message, name: "A"),
        ]
        for (id, key) in keys.enumerated() {
            _ = try broker.attach(Interest(link: 1, id: UInt64(id)), to: key, after: nil, now: 0)
        }
        for (id, key) in keys.enumerated() {
            #expect(
                try broker.publish("m", to: key, now: 1).interests == [Interest(link: 1, id: UInt64(id))])
        }
        #expect(broker.channelCount == 4)
    }

    // MARK: Publishing

    @Test("an entry's frame is what subscribers receive: length, then the publication with everything in it")
    mutating func publishedFrame() throws {
        let appended = try broker.publish("hällo", to: .user("bob"), by: "anna", session: 77, now: 5)
        let entry = appended.entries
        var frame = broker.frames(of: appended)
        let length = frame.readInteger(as: UInt32.self).map(Int.init) ?? -1
        #expect(length == frame.readableBytes)
        let bytes = frame.readBytes(length: frame.readableBytes) ?? []
        let publication = try Rtm_Client_ServerFrame(serializedBytes: bytes)
        let expected = Rtm_Client_ServerFrame.with {
            $0.publication = .with {
                $0.channelType = .user
                $0.channel = "bob"
                $0.offset = 1
                $0.timestampMs = entry.timestamp
                $0.publisher = "anna"
                $0.message = .with {
                    $0.type = .text
                    $0.payload = .init("hällo".utf8)
                    $0.customType = "hällo"
                }
            }
        }
        #expect(publication == expected)
        #expect(entry.publisherSession == 77)
        #expect(entry.feature == .message)
    }

    @Test(
        "M-31: a message to an inbox that nobody has attached is refused with -11033 and leaves no log behind"
    )
    mutating func receiverOffline() throws {
        let refusal = #expect(throws: RTMError.self) {
            try broker.publish("m", to: .user("bob"), needsReceiver: true, now: 1)
        }
        #expect(refusal?.code.rawValue == -11033)
        #expect(broker.channelCount == 0)
        _ = try broker.attach(one, to: .user("bob"), after: nil, now: 2)
        #expect(try broker.publish("m", to: .user("bob"), needsReceiver: true, now: 3).interests == [one])
        broker.detach(one, now: 3)
        #expect(throws: RTMError.self) {
            try broker.publish("m", to: .user("bob"), needsReceiver: true, now: 4)
        }
        #expect(try broker.publish("m", to: .user("bob"), now: 5).entries.offset == 2)
    }

    @Test("messages go to message and user channels only", arguments: [ChannelType.none, .stream])
    func channelType(_ type: ChannelType) {
        var broker = broker
        let refusal = #expect(throws: RTMError.self) {
            try broker.publish("m", to: ChannelKey(appID: "app", type: type, name: "a"), now: 1)
        }
        #expect(refusal?.code == .invalidChannelType)
        #expect(broker.channelCount == 0)
    }

    @Test("a number that is no channel type is refused like one")
    mutating func unknownChannelType() {
        let nothing = WireText(UnsafeRawBufferPointer(start: nil, count: 0))
        let request = PublishRequest(
            appID: nothing, channelType: nil, channel: nothing, publisher: nothing, publisherSession: 0,
            needsReceiver: false, messages: .messages(sizes: [0]))
        let refusal = #expect(throws: RTMError.self) { try broker.publish(request, now: 1) }
        #expect(refusal?.code == .invalidChannelType)
    }

    // MARK: Limits

    @Test("one channel more than the limit is refused by the limit's name and value; known ones go on")
    mutating func channelsMax() throws {
        broker = Broker(limits: .limits(channelsMax: 2), firstEpoch: 1)
        _ = try broker.publish("m", to: .message("a"), now: 1)
        _ = try broker.attach(one, to: .message("b"), after: nil, now: 1)
        let refusals = [
            #expect(throws: RTMError.self) { try broker.publish("m", to: .message("c"), now: 2) },
            #expect(throws: RTMError.self) {
                try broker.attach(two, to: .message("c"), after: nil, now: 2)
            },
            #expect(throws: RTMError.self) {
                try broker.read(.message("c"), after: StreamPosition(epoch: 1, offset: 0), now: 2)
            },
        ]
        for refusal in refusals {
            #expect(refusal?.code == .channelInstanceExceedLimitation)
            #expect(refusal?.limit == RTMError.Limit(name: "channels per node", value: 2))
        }
        #expect(try broker.publish("m", to: .message("a"), now: 3).entries.offset == 2)
        #expect(try broker.publish("m", to: .message("b"), now: 3).interests == [one])
        #expect(broker.channelCount == 2)
    }

    @Test("a refused attach leaves nothing behind that would receive entries")
    mutating func refusedAttach() throws {
        broker = Broker(limits: .limits(channelsMax: 1), firstEpoch: 1)
        _ = try broker.attach(one, to: .message("a"), after: nil, now: 1)
        #expect(throws: RTMError.self) { try broker.attach(two, to: .message("b"), after: nil, now: 1) }
        #expect(try broker.publish("m", to: .message("a"), now: 2).interests == [one])
        broker.linkClosed(2, now: 3)
        #expect(try broker.publish("m", to: .message("a"), now: 3).interests == [one])
    }
}
