package import RTMModel

/// The messages of the messaging service, as the caller writes them
/// (protocol/schema/service/messaging_service.proto).
package enum MessagingMethod {
    package static let attach: UInt32 = 1
    package static let detach: UInt32 = 2
    package static let publish: UInt32 = 3
    package static let read: UInt32 = 4
    package static let delivery: UInt32 = 5
    package static let superseded: UInt32 = 6
    package static let append: UInt32 = 7
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
    /// Who has the claim, for the one who loses it: the instance of a client; 0 = unknown.
    package var holder: UInt64
    /// The holder has had it before and comes back: no newer one must lose it for that.
    package var returns: Bool
    /// Of a new holder: counts its attempts, so that a late one is known; 0 = not counted.
    package var attempt: UInt64

    package init(
        channel: ChannelKey, interest: UInt64, after: StreamPosition?, claim: UInt64? = nil,
        holder: UInt64 = 0, returns: Bool = false, attempt: UInt64 = 0
    ) {
        self.channel = channel
        self.interest = interest
        self.after = after
        self.claim = claim
        self.holder = holder
        self.returns = returns
        self.attempt = attempt
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, interest)
        if let after { sink.field(3, after) }
        if let claim {
            sink.field(4, true)
            sink.field(5, claim)
            sink.field(6, holder)
            sink.field(7, returns)
            sink.field(8, attempt)
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
    /// Who the newer one is; 0 = unknown.
    package var holder: UInt64

    package init(interest: UInt64, holder: UInt64 = 0) {
        self.interest = interest
        self.holder = holder
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, interest)
        sink.field(2, holder)
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

package struct AppendResponse: WireMessage, Sendable, Hashable {
    /// Of the last event, also when it was appended before; of the log's head when there was none.
    package var position: StreamPosition
    package var timestampMilliseconds: UInt64

    package init(position: StreamPosition, timestampMilliseconds: UInt64) {
        self.position = position
        self.timestampMilliseconds = timestampMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, position)
        sink.field(2, timestampMilliseconds)
    }
}
