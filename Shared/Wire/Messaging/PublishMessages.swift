package import NIOCore
package import RTMModel

/// What passes between an edge and messaging for every message
/// (protocol/schema/service/messaging_service.proto).
///
/// These messages are scanned where they lie and not read by the C decoder: their payloads are only passed
/// on, and a scan takes less time than a decode (docs/decisions/0002-one-schema-two-codecs.md).

/// Messages that one session publishes to one channel, one behind the other, on their way to the log. The
/// request is not kept, so everything in it is a view.
package struct PublishRequest: WireMessage {
    package typealias Fields = Schema.PublishRequest
    package let appID: WireText
    /// Nil for a number that is not a channel type.
    package let channelType: ChannelType?
    package let channel: WireText
    package let publisher: WireText
    package let publisherSession: UInt64
    package let needsReceiver: Bool
    package let origin: PublishOrigin
    package let messages: MessageRun

    package init(
        appID: WireText, channelType: ChannelType?, channel: WireText, publisher: WireText,
        publisherSession: UInt64, needsReceiver: Bool, origin: PublishOrigin = .none, messages: MessageRun
    ) {
        self.appID = appID
        self.channelType = channelType
        self.channel = channel
        self.publisher = publisher
        self.publisherSession = publisherSession
        self.needsReceiver = needsReceiver
        self.origin = origin
        self.messages = messages
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, Key(request: self))
        sink.field(Fields.publisher, publisher)
        sink.field(Fields.publisherSession, publisherSession)
        sink.field(Fields.needsReceiver, needsReceiver)
        sink.field(Fields.instance, origin.instance)
        sink.field(Fields.sequence, origin.sequence)
        if let age = origin.againAfter {
            sink.field(Fields.again, true)
            sink.field(Fields.ageMs, age)
            sink.field(Fields.epoch, origin.epoch)
        }
        // The messages are written last, because a reader takes everything from the first one on as the run.
        sink.raw(messages.bytes)
    }

    /// The request's channel key as views.
    private struct Key: WireMessage {
        typealias Fields = Schema.ChannelKey
        let request: PublishRequest

        @inline(__always)
        func write(to sink: inout some FieldSink) {
            sink.field(Fields.appId, request.appID)
            sink.field(Fields.type, request.channelType)
            sink.field(Fields.name, request.channel)
        }
    }
}

/// What identifies a publish when its client lost the connection before the answer and sends it once more.
package struct PublishOrigin: Sendable, Hashable {
    /// The number of the client object; 0 = unknown.
    package var instance: UInt64
    /// The number of the first message at this instance; 0 = none of the messages is ever sent again.
    package var sequence: UInt64
    /// How many milliseconds ago the publish was sent first; nil if it is sent for the first time.
    package var againAfter: UInt32?
    /// For what was sent before: the epoch of the log that the client knew then; 0 = unknown.
    package var epoch: UInt64

    package init(instance: UInt64, sequence: UInt64, againAfter: UInt32? = nil, epoch: UInt64 = 0) {
        self.instance = instance
        self.sequence = sequence
        self.againAfter = againAfter
        self.epoch = epoch
    }

    package static let none = PublishOrigin(instance: 0, sequence: 0)
}

/// The messages of a PublishRequest as they lie in it: its field `messages`, once for each message.
package struct MessageRun {
    static var field: SchemaField<[MessageView.Fields]> { PublishRequest.Fields.messages }

    let bytes: UnsafeRawBufferPointer
    package let count: Int

    package var byteCount: Int { bytes.count }

    /// - Parameter bytes: what `append` wrote for `count` messages.
    package init(_ bytes: UnsafeRawBufferPointer, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    /// Adds a message behind those that are in the buffer already.
    package static func append(_ message: MessageView, to buffer: inout ByteBuffer) {
        let entry = Entry(message: message)
        entry.encode(into: &buffer, length: entry.encodedLength)
    }

    private struct Entry: WireMessage {
        let message: MessageView

        @inline(__always)
        func write(to sink: inout some FieldSink) { sink.element(of: MessageRun.field, message) }
    }
}

extension MessageRun: Sequence {
    package func makeIterator() -> Iterator { Iterator(scanner: ProtobufScanner(bytes)) }

    /// The messages in order. They were read once before, so nothing malformed is found here.
    package struct Iterator: IteratorProtocol {
        fileprivate var scanner: ProtobufScanner

        package mutating func next() -> MessageView? {
            while let field = try? scanner.next() {
                guard field.number == MessageRun.field.number, let bytes = try? field.bytes else { continue }
                return try? MessageView(scanning: bytes)
            }
            return nil
        }
    }
}

/// The offset and the time of the first message in the log. Each further message has the next offset, and the
/// time that follows (`LogTime.following`).
package struct PublishResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.PublishResponse
    package var offset: UInt64
    package var timestampMilliseconds: UInt64
    package var order: UInt32

    package init(offset: UInt64, timestampMilliseconds: UInt64, order: UInt32 = 0) {
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
        self.order = order
    }

    package var time: LogTime { LogTime(milliseconds: timestampMilliseconds, order: order) }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.offset, offset)
        sink.field(Fields.timestampMs, timestampMilliseconds)
        sink.field(Fields.order, order)
    }
}

/// Entries of a channel with consecutive offsets that one session published, for the subscribers at one edge.
package struct DeliveryPush: WireMessage {
    package typealias Fields = Schema.DeliveryPush
    package let interest: UInt64
    /// The offset of the first entry.
    package let offset: UInt64
    /// The number of offsets between the channel's previous entry and the first entry here. They belong to
    /// other channels.
    package let offsetsBetween: UInt64
    package let count: Int
    package let publisherSession: UInt64
    package let feature: SubscriptionFeatures
    /// For each entry a whole ServerFrame with its length prefix.
    package let frames: WireText

    package init(
        interest: UInt64, offset: UInt64, offsetsBetween: UInt64 = 0, count: Int, publisherSession: UInt64,
        feature: SubscriptionFeatures, frames: WireText
    ) {
        self.interest = interest
        self.offset = offset
        self.offsetsBetween = offsetsBetween
        self.count = count
        self.publisherSession = publisherSession
        self.feature = feature
        self.frames = frames
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.interest, interest)
        sink.field(Fields.offset, offset)
        sink.field(Fields.publisherSession, publisherSession)
        sink.field(Fields.feature, feature.rawValue)
        sink.field(Fields.frames, frames)
        sink.field(Fields.count, UInt32(truncatingIfNeeded: count))
        sink.field(Fields.offsetsBetween, offsetsBetween)
    }
}

// MARK: - Reading

extension PublishRequest: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key = ScannedKey()
        var publisher = WireText.empty
        var publisherSession: UInt64 = 0
        var needsReceiver = false
        var origin = PublishOrigin.none
        var isAgain = false
        var age: UInt32 = 0
        var epoch: UInt64 = 0
        var first: Int?
        var count = 0
        var scanner = ProtobufScanner(bytes)
        var offset = 0
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: key = try ScannedKey(scanning: field.bytes)
            case Fields.publisher: publisher = try field.view
            case Fields.publisherSession: publisherSession = try field.uint64
            case Fields.needsReceiver: needsReceiver = try field.bool
            case Fields.messages:
                _ = try MessageView(scanning: field.bytes)
                first = first ?? offset
                count += 1
            case Fields.instance: origin.instance = try field.uint64
            case Fields.sequence: origin.sequence = try field.uint64
            case Fields.again: isAgain = try field.bool
            case Fields.ageMs: age = try field.uint32
            case Fields.epoch: epoch = try field.uint64
            default: break
            }
            offset = scanner.offset
        }
        guard let first, let channelType = key.type else { throw .undecodable }
        if isAgain {
            origin.againAfter = age
            origin.epoch = epoch
        }
        self.init(
            appID: key.appID, channelType: ChannelType(rawValue: channelType), channel: key.name,
            publisher: publisher, publisherSession: publisherSession, needsReceiver: needsReceiver,
            origin: origin,
            messages: MessageRun(UnsafeRawBufferPointer(rebasing: bytes[first...]), count: count))
    }
}

extension MessageView: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var type = 0
        var payload = WireText.empty
        var customType = WireText.empty
        var priority = TopicPriority.normal
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.type: type = try field.enumeration
            case Fields.payload: payload = try field.view
            case Fields.customType: customType = try field.view
            case Fields.priority: priority = TopicPriority(wire: try field.enumeration)
            default: break
            }
        }
        self.init(
            type: MessageType(rawValue: type), payload: payload, customType: customType, priority: priority)
    }
}

extension PublishResponse: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(offset: 0, timestampMilliseconds: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.offset: offset = try field.uint64
            case Fields.timestampMs: timestampMilliseconds = try field.uint64
            case Fields.order: order = try field.uint32
            default: break
            }
        }
    }
}

extension DeliveryPush: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var interest: UInt64 = 0
        var offset: UInt64 = 0
        var offsetsBetween: UInt64 = 0
        var publisherSession: UInt64 = 0
        var feature: UInt32 = 0
        var frames = WireText.empty
        var count: UInt32 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.interest: interest = try field.uint64
            case Fields.offset: offset = try field.uint64
            case Fields.publisherSession: publisherSession = try field.uint64
            case Fields.feature: feature = try field.uint32
            case Fields.frames: frames = try field.view
            case Fields.count: count = try field.uint32
            case Fields.offsetsBetween: offsetsBetween = try field.uint64
            default: break
            }
        }
        self.init(
            interest: interest, offset: offset, offsetsBetween: offsetsBetween, count: Int(count),
            publisherSession: publisherSession, feature: SubscriptionFeatures(rawValue: feature),
            frames: frames)
    }
}
