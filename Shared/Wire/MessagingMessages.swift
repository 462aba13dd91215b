package import RTMModel

/// The messages of the messaging service, as the caller writes them
/// (protocol/schema/service/messaging.proto).
package enum MessagingMethod {
    package static let attach: UInt32 = 1
    package static let detach: UInt32 = 2
    package static let publish: UInt32 = 3
    package static let read: UInt32 = 4
    package static let delivery: UInt32 = 5
}

extension ChannelKey: WireMessage {
    package func write(to sink: inout some FieldSink) {
        sink.field(1, appID)
        sink.field(2, UInt64(type.rawValue))
        sink.field(3, name)
    }
}

package struct AttachRequest: WireMessage, Sendable, Hashable {
    package var channel: ChannelKey
    package var interest: UInt64
    package var after: StreamPosition?

    package init(channel: ChannelKey, interest: UInt64, after: StreamPosition?) {
        self.channel = channel
        self.interest = interest
        self.after = after
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, interest)
        if let after { sink.field(3, after) }
    }
}

package struct AttachResponse: WireMessage, Sendable, Hashable {
    package var position: StreamPosition
    package var gap: Bool

    package init(position: StreamPosition, gap: Bool) {
        self.position = position
        self.gap = gap
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, position)
        sink.field(2, gap)
    }
}

package struct DetachPush: WireMessage, Sendable, Hashable {
    package var interest: UInt64

    package init(interest: UInt64) { self.interest = interest }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, interest)
    }
}

/// A publish on its way from an edge to the log. The edge doesn't keep it, so everything is a view.
package struct PublishRequest: WireMessage {
    package let appID: WireText
    /// Nil for a number that is no channel type.
    package let channelType: ChannelType?
    package let channel: WireText
    package let publisher: WireText
    package let publisherSession: UInt64
    package let needsReceiver: Bool
    package let message: MessageView

    package init(
        appID: WireText, channelType: ChannelType?, channel: WireText, publisher: WireText,
        publisherSession: UInt64, needsReceiver: Bool, message: MessageView
    ) {
        self.appID = appID
        self.channelType = channelType
        self.channel = channel
        self.publisher = publisher
        self.publisherSession = publisherSession
        self.needsReceiver = needsReceiver
        self.message = message
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, Key(request: self))
        sink.field(2, publisher)
        sink.field(3, publisherSession)
        sink.field(4, needsReceiver)
        sink.field(5, message)
    }

    /// The request's channel key as views.
    private struct Key: WireMessage {
        let request: PublishRequest

        func write(to sink: inout some FieldSink) {
            sink.field(1, request.appID)
            sink.field(2, UInt64(request.channelType?.rawValue ?? 0))
            sink.field(3, request.channel)
        }
    }
}

package struct PublishResponse: WireMessage, Sendable, Hashable {
    package var offset: UInt64
    package var timestampMilliseconds: UInt64

    package init(offset: UInt64, timestampMilliseconds: UInt64) {
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, offset)
        sink.field(2, timestampMilliseconds)
    }
}

package struct ReadRequest: WireMessage, Sendable, Hashable {
    package var channel: ChannelKey
    package var after: StreamPosition
    package var exceptPublisher: String
    package var features: SubscriptionFeatures

    package init(
        channel: ChannelKey, after: StreamPosition, exceptPublisher: String, features: SubscriptionFeatures
    ) {
        self.channel = channel
        self.after = after
        self.exceptPublisher = exceptPublisher
        self.features = features
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, after)
        sink.field(3, exceptPublisher)
        sink.field(4, UInt64(features.rawValue))
    }
}

package struct ReadResponse: WireMessage {
    package let frames: WireText
    package let position: StreamPosition
    package let gap: Bool
    package let more: Bool

    package init(frames: WireText, position: StreamPosition, gap: Bool, more: Bool) {
        self.frames = frames
        self.position = position
        self.gap = gap
        self.more = more
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, frames)
        sink.field(2, position)
        sink.field(3, gap)
        sink.field(4, more)
    }
}

package struct DeliveryPush: WireMessage {
    package let interest: UInt64
    package let offset: UInt64
    package let publisherSession: UInt64
    package let feature: SubscriptionFeatures
    /// A whole ServerFrame with its length prefix.
    package let frame: WireText

    package init(
        interest: UInt64, offset: UInt64, publisherSession: UInt64, feature: SubscriptionFeatures,
        frame: WireText
    ) {
        self.interest = interest
        self.offset = offset
        self.publisherSession = publisherSession
        self.feature = feature
        self.frame = frame
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, interest)
        sink.field(2, offset)
        sink.field(3, publisherSession)
        sink.field(4, UInt64(feature.rawValue))
        sink.field(5, frame)
    }
}
