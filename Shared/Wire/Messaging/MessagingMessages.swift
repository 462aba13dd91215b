package import RTMModel

/// The numbers of the methods of messaging (protocol/schema/service/messaging_service.proto).
package enum MessagingMethod {
    package static let attach: UInt32 = 1
    package static let detach: UInt32 = 2
    package static let publish: UInt32 = 3
    package static let read: UInt32 = 4
    package static let delivery: UInt32 = 5
    package static let superseded: UInt32 = 6
    package static let append: UInt32 = 7
    package static let skip: UInt32 = 8
    package static let lead: UInt32 = 9
    package static let outdated: UInt32 = 10
    package static let nodes: UInt32 = 11
}

extension ChannelKey: WireMessage {
    package typealias Fields = Schema.ChannelKey
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.type, type)
        sink.field(Fields.name, name)
    }
}

/// Asks for the entries of a log from a position on.
package struct AttachRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AttachRequest
    package var channel: ChannelKey
    package var interest: UInt64
    package var after: StreamPosition?
    /// For an interest that is exclusive: 0 for a new holder, or the number that an earlier answer gave. Nil
    /// for all other interests.
    package var claim: UInt64?
    /// The instance of the client that holds the claim, which the one who loses it is told; 0 = unknown.
    package var holder: UInt64
    /// Whether the holder had the claim before and comes back. Then a newer holder keeps it.
    package var returns: Bool
    /// For a new holder: the number of its attempt, by which one that arrives late is recognised; 0 = not
    /// counted.
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
        sink.field(Fields.channel, channel)
        sink.field(Fields.interest, interest)
        if let after { sink.field(Fields.after, after) }
        if let claim {
            sink.field(Fields.exclusive, true)
            sink.field(Fields.claim, claim)
            sink.field(Fields.holder, holder)
            sink.field(Fields.returns, returns)
            sink.field(Fields.attempt, attempt)
        }
    }
}

package struct AttachResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AttachResponse
    package var position: StreamPosition
    /// The claim of an exclusive interest; 0 for all others.
    package var claim: UInt64

    package init(position: StreamPosition, claim: UInt64 = 0) {
        self.position = position
        self.claim = claim
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.claim, claim)
    }
}

/// Tells an interest that entries which followed its position are lost, before it gets those that are left.
package struct SkipPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SkipPush
    package var interest: UInt64
    /// Deliveries continue after this position.
    package var position: StreamPosition
    /// Subscription features that select lost entries. If the position has another epoch, entries of all
    /// features may be lost.
    package var features: SubscriptionFeatures

    package init(interest: UInt64, position: StreamPosition, features: SubscriptionFeatures) {
        self.interest = interest
        self.position = position
        self.features = features
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.interest, interest)
        sink.field(Fields.position, position)
        sink.field(Fields.features, features.rawValue)
    }
}

/// The node that sends it keeps the logs. A caller that knows of a lead after the one that this one follows
/// sends that back: Redis has forgotten it.
package struct LeadPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LeadPush
    package var term: UInt64
    /// The term of the lead whose logs it goes on with; of new logs: its own term.
    package var follows: UInt64

    package init(term: UInt64, follows: UInt64) {
        self.term = term
        self.follows = follows
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.term, term)
        sink.field(Fields.follows, follows)
    }
}

/// The messaging nodes that live, as far as they say where they are reached.
package struct NodesPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.NodesPush
    package var nodes: [NodeAddress]

    package init(nodes: [NodeAddress]) { self.nodes = nodes }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.nodes, nodes)
    }
}

/// Where a node listens for the other services.
package struct NodeAddress: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.NodeAddress
    package var host: String
    package var port: UInt32

    package init(host: String, port: UInt32) {
        self.host = host
        self.port = port
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.host, host)
        sink.field(Fields.port, port)
    }
}

/// Tells the holder of an exclusive interest that a newer one has taken its place and that nothing more will
/// come.
package struct SupersededPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SupersededPush
    package var interest: UInt64
    /// The instance of the newer holder; 0 = unknown.
    package var holder: UInt64

    package init(interest: UInt64, holder: UInt64 = 0) {
        self.interest = interest
        self.holder = holder
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.interest, interest)
        sink.field(Fields.holder, holder)
    }
}

/// Ends an interest.
package struct DetachPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.DetachPush
    package var interest: UInt64
    /// The holder of an exclusive interest has logged out, so an earlier holder may come back (S-10).
    package var isLoggedOut: Bool

    package init(interest: UInt64, isLoggedOut: Bool = false) {
        self.interest = interest
        self.isLoggedOut = isLoggedOut
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.interest, interest)
        sink.field(Fields.loggedOut, isLoggedOut)
    }
}

/// Asks for the entries after a position, for one subscriber who catches up.
package struct ReadRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.ReadRequest
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
        sink.field(Fields.channel, channel)
        sink.field(Fields.after, after)
        sink.field(Fields.exceptPublisher, exceptPublisher)
        sink.field(Fields.features, features.rawValue)
    }
}

package struct ReadResponse: WireMessage {
    package typealias Fields = Schema.ReadResponse
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
        sink.field(Fields.frames, frames)
        sink.field(Fields.position, position)
        sink.field(Fields.gap, gap)
        sink.field(Fields.more, more)
    }
}

package struct AppendResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AppendResponse
    /// The position of the last event, also if it was appended before, or of the log's head if there was no
    /// event.
    package var position: StreamPosition
    package var timestampMilliseconds: UInt64

    package init(position: StreamPosition, timestampMilliseconds: UInt64) {
        self.position = position
        self.timestampMilliseconds = timestampMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.timestampMs, timestampMilliseconds)
    }
}
