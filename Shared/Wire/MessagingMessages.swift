package import RTMModel

/// The messages of the messaging service, as the caller writes them
/// (protocol/schema/service/messaging.proto).
package enum MessagingMethod {
    package static let attach: UInt32 = 1
    package static let detach: UInt32 = 2
    package static let publish: UInt32 = 3
    package static let read: UInt32 = 4
    package static let delivery: UInt32 = 5
    package static let superseded: UInt32 = 6
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
    /// Of one who has to be alone: 0 for a new holder, else the number that an earlier answer gave. Nil for
    /// all others.
    package var claim: UInt64?

    package init(channel: ChannelKey, interest: UInt64, after: StreamPosition?, claim: UInt64? = nil) {
        self.channel = channel
        self.interest = interest
        self.after = after
        self.claim = claim
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, interest)
        if let after { sink.field(3, after) }
        if let claim {
            sink.field(4, true)
            sink.field(5, claim)
        }
    }
}

package struct AttachResponse: WireMessage, Sendable, Hashable {
    package var position: StreamPosition
    package var gap: Bool
    /// Of an exclusive interest; else 0.
    package var claim: UInt64

    package init(position: StreamPosition, gap: Bool, claim: UInt64 = 0) {
        self.position = position
        self.gap = gap
        self.claim = claim
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, position)
        sink.field(2, gap)
        sink.field(3, claim)
    }
}

/// To the holder of an exclusive interest: a newer one has taken its place, and nothing more will come.
package struct SupersededPush: WireMessage, Sendable, Hashable {
    package var interest: UInt64

    package init(interest: UInt64) { self.interest = interest }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, interest)
    }
}

package struct DetachPush: WireMessage, Sendable, Hashable {
    package var interest: UInt64

    package init(interest: UInt64) { self.interest = interest }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, interest)
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
