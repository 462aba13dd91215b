import NIOCore
import RTMModel
import RTMWire

@testable import RTMMessagingServer

extension BrokerLimits {
    static func limits(
        entriesMax: Int = 1000, bytesMax: Int = 1 << 20, ageMax: UInt64 = 120_000, idleMax: UInt64 = 120_000,
        channelsMax: Int = 1000, channelsPerAppMax: Int = .max, channelsPerSessionMax: Int = 1_000_000,
        forgottenPerAppMax: Int = 1_000, tailBytesMax: Int = .max,
        partitionCount: Int = 1,
        segmentBytes: Int = 60 * 1024
    ) -> Self {
        .init(
            partitionCount: partitionCount, ageMax: ageMax, catchUpEntriesMax: entriesMax,
            catchUpBytesMax: bytesMax, idleMax: idleMax, channelsMax: channelsMax,
            channelsPerAppMax: channelsPerAppMax,
            channelsPerSessionMax: channelsPerSessionMax, forgottenPerAppMax: forgottenPerAppMax,
            tailBytesMax: tailBytesMax, segmentBytes: segmentBytes)
    }
}

extension ChannelKey {
    static func message(_ name: String) -> ChannelKey { ChannelKey(appID: "app", type: .message, name: name) }
    static func message(_ name: String, of appID: String) -> ChannelKey {
        ChannelKey(appID: appID, type: .message, name: name)
    }
    static func user(_ name: String) -> ChannelKey { ChannelKey(appID: "app", type: .user, name: name) }
}

extension Broker {
    func slot(of key: ChannelKey) -> ChannelSlot? { key.withView { channels.slot(of: $0) } }

    /// Publishes the text `count` times in one request.
    mutating func publish(
        _ text: String, times: Int = 1, to key: ChannelKey, by publisher: String = "anna",
        session: UInt64 = 1, needsReceiver: Bool = false, origin: PublishOrigin = .none, now: UInt64
    ) throws(RTMError) -> Appended {
        let texts = [key.appID, key.name, publisher, text].map { Array($0.utf8) }
        let result: Result<Appended, RTMError> = texts[0].withWireText { appID in
            texts[1].withWireText { name in
                texts[2].withWireText { publisher in
                    texts[3].withWireText { payload in
                        Result { () throws(RTMError) in
                            try publish(
                                PublishRequest(
                                    appID: appID, channelType: key.type, channel: name, publisher: publisher,
                                    publisherSession: session, needsReceiver: needsReceiver,
                                    origin: origin,
                                    messages: .messages(
                                        Array(
                                            repeating: MessageView(
                                                type: .text, payload: payload, customType: payload),
                                            count: times))),
                                now: now)
                        }
                    }
                }
            }
        }
        return try result.get()
    }

    mutating func read(
        _ key: ChannelKey, after: StreamPosition, except publisher: String = "",
        features: SubscriptionFeatures = .all, bytesMax: Int = 1 << 20, now: UInt64
    ) throws(RTMError) -> Page {
        let request = ReadRequest(
            channel: key, after: after, exceptPublisher: publisher, features: features)
        return try read(request, bytesMax: bytesMax, now: now)
    }
}

extension Broker {
    /// Everything in memory, as it is written to a journal that was lost.
    func checkpoint(now: UInt64) -> [ByteBuffer] {
        var cursor = CheckpointCursor()
        var batches: [ByteBuffer] = []
        var isLast = false
        while !isLast {
            let page = checkpointPage(&cursor, now: now)
            batches.append(page.bytes)
            isLast = page.isLast
        }
        return batches
    }
}

extension Broker.Attached {
    var gap: Bool { skippedTo != nil }
}

extension MessageRun {
    /// The memory is never given back: the tests need little, and so nobody has to keep it.
    static func messages(_ messages: [MessageView]) -> MessageRun {
        var buffer = ByteBuffer()
        for message in messages { append(message, to: &buffer) }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.readableBytes, alignment: 1)
        buffer.withUnsafeReadableBytes { copy.copyMemory(from: $0) }
        return MessageRun(UnsafeRawBufferPointer(copy), count: messages.count)
    }

    static func messages(sizes: [Int]) -> MessageRun {
        let longest = [UInt8](repeating: 0, count: sizes.max() ?? 0)
        return longest.withUnsafeBytes { bytes in
            messages(
                sizes.map {
                    let payload = WireText(UnsafeRawBufferPointer(rebasing: bytes[..<$0]))
                    let none = WireText(UnsafeRawBufferPointer(rebasing: bytes[..<0]))
                    return MessageView(type: .binary, payload: payload, customType: none)
                })
        }
    }
}

extension [UInt8] {
    fileprivate func withWireText<Result>(_ body: (WireText) -> Result) -> Result {
        withUnsafeBytes { body(WireText($0)) }
    }
}
