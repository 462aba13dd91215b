import CProtobufC
package import RTMModel
import RTMProtocolC

/// Asks for the entries of a log from a position on.
package struct AttachRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.AttachRequest
    package var channel: ChannelKey
    package var interest: UInt64
    package var after: StreamPosition?
    /// For an interest that is exclusive: 0 for a new holder, or the number that an earlier answer gave. Nil
    /// for all other interests.
    package var claim: UInt64?
    /// The instance of the client that holds the claim. `SupersededPush` reports it to the holder that
    /// loses the claim. 0 = unknown.
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

extension AttachRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__attach_request__unpack)
        try self.init(
            channel: ChannelKey(decoded: message.channel), interest: message.interest,
            after: StreamPosition(message.after),
            claim: message.exclusive != 0 ? message.claim : nil,
            holder: message.exclusive != 0 ? message.holder : 0,
            returns: message.exclusive != 0 && message.returns != 0,
            attempt: message.exclusive != 0 ? message.attempt : 0)
    }
}
