package import NIOCore
package import RTMModel

/// What passes between an edge and messaging for every message
/// (protocol/schema/service/messaging_service.proto).
///
/// These are read by hand, where they lie, and not by the generated decoder: payloads are only passed on, and
/// a scan costs a sixth of a decode (docs/decisions/0008).

/// Messages that one session publishes to one channel, one behind the other, on their way to the log. Nobody
/// keeps it, so everything is a view.
package struct PublishRequest: WireMessage {
    package let appID: WireText
    /// Nil for a number that is no channel type.
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
        sink.field(1, Key(request: self))
        sink.field(2, publisher)
        sink.field(3, publisherSession)
        sink.field(4, needsReceiver)
        sink.field(6, origin.instance)
        sink.field(7, origin.sequence)
        if let age = origin.againAfter {
            sink.field(8, true)
            sink.field(9, UInt64(age))
            sink.field(10, origin.epoch)
        }
        // Last: a reader takes everything from the first message on as the run.
        sink.raw(messages.bytes)
    }

    /// The request's channel key as views.
    private struct Key: WireMessage {
        let request: PublishRequest

        @inline(__always)
        func write(to sink: inout some FieldSink) {
            sink.field(1, request.appID)
            sink.field(2, UInt64(request.channelType?.rawValue ?? 0))
            sink.field(3, request.channel)
        }
    }
}

/// By what a publish is known again when its client, who lost the connection before the answer, sends it once
/// more.
package struct PublishOrigin: Sendable, Hashable {
    /// Of the client object; 0 = unknown.
    package var instance: UInt64
    /// Of the first message at this instance; 0 = none of them is ever sent again.
    package var sequence: UInt64
    /// Sent before: how long ago, in milliseconds. Nil for what is sent for the first time.
    package var againAfter: UInt32?
    /// Of what was sent before: of a log that the client knew then; 0 = unknown.
    package var epoch: UInt64

    package init(instance: UInt64, sequence: UInt64, againAfter: UInt32? = nil, epoch: UInt64 = 0) {
        self.instance = instance
        self.sequence = sequence
        self.againAfter = againAfter
        self.epoch = epoch
    }

    package static let none = PublishOrigin(instance: 0, sequence: 0)
}

/// The messages of a PublishRequest as they lie in it: its field `messages`, once for each.
package struct MessageRun {
    static let field: UInt32 = 5

    let bytes: UnsafeRawBufferPointer
    package let count: Int

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
        func write(to sink: inout some FieldSink) { sink.field(MessageRun.field, message) }
    }
}

extension MessageRun: Sequence {
    package func makeIterator() -> Iterator { Iterator(scanner: ProtobufScanner(bytes)) }

    /// The messages in order. They have been read once already, so this finds nothing malformed.
    package struct Iterator: IteratorProtocol {
        fileprivate var scanner: ProtobufScanner

        package mutating func next() -> MessageView? {
            while let field = try? scanner.next() {
                guard field.number == MessageRun.field, let bytes = try? field.bytes else { continue }
                return try? MessageView(scanning: bytes)
            }
            return nil
        }
    }
}

/// Of the first message; each further one has both greater by one.
package struct PublishResponse: WireMessage, Sendable, Hashable {
    package var offset: UInt64
    package var timestampMilliseconds: UInt64

    package init(offset: UInt64, timestampMilliseconds: UInt64) {
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(1, offset)
        sink.field(2, timestampMilliseconds)
    }
}

/// Consecutive entries of a log that one session published, for whoever is subscribed at that edge.
package struct DeliveryPush: WireMessage {
    package let interest: UInt64
    /// Of the first entry.
    package let offset: UInt64
    package let count: Int
    package let publisherSession: UInt64
    package let feature: SubscriptionFeatures
    /// A whole ServerFrame with its length prefix for each entry.
    package let frames: WireText

    package init(
        interest: UInt64, offset: UInt64, count: Int, publisherSession: UInt64, feature: SubscriptionFeatures,
        frames: WireText
    ) {
        self.interest = interest
        self.offset = offset
        self.count = count
        self.publisherSession = publisherSession
        self.feature = feature
        self.frames = frames
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(1, interest)
        sink.field(2, offset)
        sink.field(3, publisherSession)
        sink.field(4, UInt64(feature.rawValue))
        sink.field(5, frames)
        sink.field(6, UInt64(count))
    }
}
