import NIOCore
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("Events of other services in a channel's log")
struct BrokerAppendTests {
    @Test("an event gets the next offset and timestamp, and goes to whoever is interested")
    func append() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey.message("lobby")
        let interest = Broker.Interest(link: 1, id: 9)
        _ = try broker.attach(interest, to: key, after: nil, now: 1000)
        _ = try broker.publish("hello", to: key, now: 1000)
        let event = try broker.append(
            to: key, by: "anna", session: 5, feature: .presence, source: 3, sequence: 1, now: 1000)
        #expect(event.position == StreamPosition(epoch: 7, offset: 2))
        #expect(event.timestamp == 1002)
        let appended = try #require(event.appended.first)
        #expect(appended.interests == [interest])
        #expect(appended.entries.count == 1 && appended.entries.publisherSession == 5)
        #expect(appended.entries.feature == .presence)
    }

    @Test("the envelope of an event is that of a message, with the event's own bytes in it")
    func envelope() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey(appID: "app", type: .stream, name: "stage")
        let event = try broker.append(
            to: key, by: "anna", event: [0x42, 2, 1, 2], source: 0, sequence: 0, now: 50)
        let frame = broker.frames(of: try #require(event.appended.first))
        let body: [UInt8] = [
            0x08, 2, 0x12, 5, 0x73, 0x74, 0x61, 0x67, 0x65, 0x18, 1, 0x20, 51, 0x2A, 4, 0x61, 0x6E, 0x6E,
            0x61,
            0x42, 2, 1, 2,
        ]
        #expect(
            Array(frame.readableBytesView) == [0, 0, 0, UInt8(body.count + 2), 0x52, UInt8(body.count)] + body
        )
    }

    @Test("what a source appended before is answered with its own place, and is in the log once")
    func repeated() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey.message("lobby")
        for sequence in [4, 9] as [UInt64] {
            let event = try broker.append(to: key, source: 1, sequence: sequence, now: 10)
            #expect(event.appended.count == 1)
        }
        for (sequence, offset) in [(1, 0), (4, 1), (5, 1), (9, 2)] as [(UInt64, UInt64)] {
            let again = try broker.append(to: key, source: 1, sequence: sequence, now: 99)
            #expect(again.appended.isEmpty && again.position.offset == offset, "\(sequence)")
            #expect(again.timestamp == 10 + max(offset, 1))
        }
        let other = try broker.append(to: key, source: 2, sequence: 4, now: 10)
        let elsewhere = try broker.append(to: .message("hall"), source: 1, sequence: 4, now: 10)
        #expect(other.appended.count == 1 && elsewhere.appended.count == 1)
        let next = try broker.append(to: key, source: 1, sequence: 10, now: 10)
        #expect(next.position.offset == 5, "one of the other channel lies between")
    }

    @Test("source 0 doesn't ask twice: everything it appends is new")
    func withoutSource() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        for offset in 1...3 as ClosedRange<UInt64> {
            let event = try broker.append(to: .message("lobby"), source: 0, sequence: 1, now: 10)
            #expect(event.position.offset == offset)
        }
    }

    @Test("so many sources are remembered per log; the one that was silent for longest is forgotten")
    func sourcesAreBounded() {
        var sources = HighWaterMarks()
        for source in 1...UInt64(HighWaterMarks.countMax) { admits(source, 5, true) }
        admits(1, 6, true)
        admits(100, 1, true)
        #expect(sources.count == HighWaterMarks.countMax)
        admits(1, 6, false)
        admits(3, 5, false)
        // The log has forgotten this one.
        admits(2, 5, true)

        func admits(_ source: UInt64, _ sequence: UInt64, _ expected: Bool) {
            let isAdmitted = sources.admits(source, sequence)
            #expect(isAdmitted == expected, "source \(source), sequence \(sequence)")
        }
    }

    @Test("a source's last places are remembered; what lies before them is said to lie before them")
    func placesAreBounded() {
        var sources = AppendSources()
        for sequence in 1...20 as ClosedRange<UInt64> {
            sources.appended(sequence, from: 1, at: .init(offset: 100 + sequence, timestamp: sequence))
        }
        #expect(sources.position(of: 20, from: 1)?.offset == 120)
        #expect(sources.position(of: 13, from: 1)?.offset == 113)
        #expect(sources.position(of: 12, from: 1)?.offset == 112)
        #expect(sources.position(of: 2, from: 1)?.offset == 112)
        #expect(sources.position(of: 21, from: 1) == nil)
        for source in 2...UInt64(AppendSources.countMax + 1) {
            sources.appended(1, from: source, at: .init(offset: 1, timestamp: 1))
        }
        #expect(sources.count == AppendSources.countMax)
        #expect(sources.position(of: 20, from: 1) == nil, "it was silent for longest")
    }

    @Test("an append of nothing says where the log stands, and leaves it as it is")
    func head() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey.message("lobby")
        _ = try broker.append(to: key, source: 1, sequence: 1, now: 10)
        for source in [0, 1, 2] as [UInt64] {
            let head = try broker.append([], to: key, source: source, now: 10)
            #expect(head.position == StreamPosition(epoch: 7, offset: 1) && head.appended.isEmpty)
        }
    }

    @Test("the log of a user's metadata (type none) is appended to, attached and read like any other")
    func userMetadata() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey(appID: "app", type: .none, name: "anna")
        let attached = try broker.attach(.init(link: 1, id: 1), to: key, after: nil, now: 10)
        let event = try broker.append(
            to: key, by: "anna", feature: .metadata, source: 1, sequence: 1, now: 10)
        #expect(event.appended.first?.interests.count == 1)
        let page = try broker.read(key, after: attached.position, now: 10)
        #expect(page.entries.map(\.offset) == [1])
    }

    @Test("D-43: an event that its user's session may see is read by him too; others he is spared")
    func readOwn() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey.message("lobby")
        let start = try broker.attach(.init(link: 1, id: 1), to: key, after: nil, now: 10).position
        _ = try broker.append(to: key, by: "anna", session: 5, source: 1, sequence: 1, now: 10)
        _ = try broker.append(to: key, by: "anna", session: 0, source: 1, sequence: 2, now: 10)
        let page = try broker.read(key, after: start, except: "anna", now: 10)
        #expect(page.entries.map(\.offset) == [2])
    }

    @Test(
        "what is no event is refused, and leaves no trace",
        arguments: [[0x32, 1, 0], [0x42, 2, 1], [0x40, 1], [0x42, 0, 0x42, 0], [0x52, 0]] as [[UInt8]])
    func noEvent(_ bytes: [UInt8]) throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let error = #expect(throws: RTMError.self) {
            try broker.append(to: .message("lobby"), event: bytes, source: 1, sequence: 1, now: 10)
        }
        #expect(error?.code == .invalidParameter)
        #expect(broker.channelCount == 0)
    }

    @Test("several events of one request are entries in its order; those that are there already are left out")
    func run() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey.message("lobby")
        let first = try broker.append([(1, [0x42, 1, 1]), (2, [0x42, 1, 2])], to: key, source: 4, now: 10)
        #expect(first.position.offset == 2 && first.appended.map(\.entries.offset) == [1, 2])
        let again = try broker.append(
            [(1, [0x42, 1, 1]), (2, [0x42, 1, 2]), (5, [0x4A, 1, 3])], to: key, source: 4, now: 10)
        #expect(again.position.offset == 3 && again.appended.map(\.entries.offset) == [3])
    }

    @Test("when one event of a request is none, nothing of it is appended")
    func runWithOneThatIsNoEvent() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey.message("lobby")
        #expect(throws: RTMError.self) {
            try broker.append([(1, [0x42, 1, 1]), (2, [0x32, 1, 0])], to: key, source: 4, now: 10)
        }
        let after = try broker.append([(1, [0x42, 1, 1])], to: key, source: 4, now: 10)
        #expect(after.position.offset == 1)
    }

    @Test("M-39: a message that storage appends is like a published one, and one sent again is there once")
    func message() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey.message("lobby")
        let interest = Broker.Interest(link: 1, id: 9)
        _ = try broker.attach(interest, to: key, after: nil, now: 10)
        let published = try broker.publish("hello", to: key, now: 10)
        let event = Self.message("hello")
        let appended = try broker.append(
            to: key, by: "anna", feature: .message, event: event, source: 3, sequence: 5, now: 10)
        let again = try broker.append(
            to: key, by: "anna", feature: .message, event: event, source: 3, sequence: 5, now: 99)
        #expect(again.appended.isEmpty && again.position == appended.position)
        let new = try #require(appended.appended.first)
        #expect(new.interests == [interest] && new.entries.feature == .message)
        // Both frames differ in offset and time, which are one byte each.
        let frames = [broker.frames(of: published), broker.frames(of: new)].map {
            Array($0.readableBytesView)
        }
        #expect(frames[0].count == frames[1].count)
        #expect(zip(frames[0], frames[1]).count { $0 != $1 } == 2)
    }

    @Test("M-41: a message to a user without a receiver is left out, and leaves no trace")
    func receiver() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let inbox = ChannelKey(appID: "app", type: .user, name: "ben")
        let event = Self.message("hello")
        let lost = try broker.append(
            to: inbox, by: "anna", feature: .message, event: event, source: 3, sequence: 5, now: 10)
        #expect(lost.appended.isEmpty && broker.channelCount == 0)
        _ = try broker.attach(.init(link: 1, id: 9), to: inbox, after: nil, now: 10)
        let found = try broker.append(
            to: inbox, by: "anna", feature: .message, event: event, source: 3, sequence: 6, now: 10)
        #expect(found.appended.count == 1)
    }

    @Test(
        "a message has the feature of messages and no event has it, and a stream channel has no messages",
        arguments: [
            (ChannelType.message, SubscriptionFeatures.presence, true),
            (.message, .message, false), (.stream, .message, true), (.none, .message, true),
        ])
    func mismatch(_ type: ChannelType, _ feature: SubscriptionFeatures, isMessage: Bool) throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let key = ChannelKey(appID: "app", type: type, name: "lobby")
        #expect(throws: RTMError.self) {
            try broker.append(
                to: key, feature: feature, event: isMessage ? Self.message("x") : [0x3A, 2, 0x08, 3],
                source: 1, sequence: 1, now: 10)
        }
        #expect(broker.channelCount == 0)
    }

    private static func message(_ text: String) -> [UInt8] {
        text.withWireText { payload in
            Array(
                MessageView(type: .text, payload: payload, customType: payload).eventField.readableBytesView)
        }
    }

    @Test("M-35: an inbox has no events")
    func inbox() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let error = #expect(throws: RTMError.self) {
            try broker.append(to: .user("anna"), source: 1, sequence: 1, now: 10)
        }
        #expect(error?.code == .invalidChannelType)
    }
}

extension Broker {
    mutating func append(
        to key: ChannelKey, by publisher: String = "", session: UInt64 = 0,
        feature: SubscriptionFeatures = .presence, event: [UInt8] = [0x3A, 2, 0x08, 3], source: UInt64,
        sequence: UInt64, now: UInt64
    ) throws(RTMError) -> EventsAppended {
        try append(
            [(sequence, event)], to: key, by: publisher, session: session, feature: feature, source: source,
            now: now)
    }

    mutating func append(
        _ events: [(sequence: UInt64, event: [UInt8])], to key: ChannelKey, by publisher: String = "",
        session: UInt64 = 0, feature: SubscriptionFeatures = .presence, source: UInt64, now: UInt64
    ) throws(RTMError) -> EventsAppended {
        var run = ByteBuffer()
        for event in events {
            event.event.withUnsafeBytes { bytes in
                publisher.withWireText { publisher in
                    EventRun.append(
                        AppendedEvent(
                            publisher: publisher, publisherSession: session, feature: feature,
                            event: WireText(bytes), sequence: event.sequence), to: &run)
                }
            }
        }
        let result: Result<EventsAppended, RTMError> = run.withUnsafeReadableBytes { run in
            Result { () throws(RTMError) in
                try append(AppendRequest(channel: key, source: source, events: EventRun(run)), now: now)
            }
        }
        return try result.get()
    }
}
