import CProtobufC
package import RTMModel
import RTMProtocolC

/// Asks for the entries of a log from a position on.
package struct AttachRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AttachRequest
    package var channel: ChannelKey
    package var interest: UInt64
    package var after: StreamPosition?
    /// For an interest that is exclusive: 0 for a new owner, or the number that an earlier answer gave. Nil
    /// for all other interests.
    package var ownership: UInt64?
    /// The instance of the client that holds the ownership. `SupersededPush` reports it to the owner that
    /// loses the ownership. 0 = unknown.
    package var owner: UInt64
    /// Whether the owner had the ownership before and comes back. Then a newer owner keeps it.
    package var returns: Bool
    /// For a new owner: the number of its attempt, by which one that arrives late is recognised; 0 = not
    /// counted.
    package var attempt: UInt64

    package init(
        channel: ChannelKey, interest: UInt64, after: StreamPosition?, ownership: UInt64? = nil,
        owner: UInt64 = 0, returns: Bool = false, attempt: UInt64 = 0
    ) {
        self.channel = channel
        self.interest = interest
        self.after = after
        self.ownership = ownership
        self.owner = owner
        self.returns = returns
        self.attempt = attempt
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.interest, interest)
        if let after { sink.field(Fields.after, after) }
        if let ownership {
            sink.field(Fields.exclusive, true)
            sink.field(Fields.ownership, ownership)
            sink.field(Fields.owner, owner)
            sink.field(Fields.returns, returns)
            sink.field(Fields.attempt, attempt)
        }
    }
}

extension AttachRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__attach_request__unpack)
        try self.init(
            channel: ChannelKey(decoded: message.channel), interest: message.interest,
            after: StreamPosition(message.after),
            ownership: message.exclusive != 0 ? message.ownership : nil,
            owner: message.exclusive != 0 ? message.owner : 0,
            returns: message.exclusive != 0 && message.returns != 0,
            attempt: message.exclusive != 0 ? message.attempt : 0)
    }
}
