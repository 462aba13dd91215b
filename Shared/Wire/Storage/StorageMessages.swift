package import RTMModel

/// The numbers of the methods of storage (protocol/schema/service/storage_service.proto).
package enum StorageMethod {
    package static let appendHistory: UInt32 = 1
    package static let call: UInt32 = 2
    package static let snapshot: UInt32 = 3
    package static let lockGranted: UInt32 = 4
    package static let session: UInt32 = 5
    package static let ban: UInt32 = 6
    package static let banned: UInt32 = 7
    package static let banReport: UInt32 = 8
    package static let bans: UInt32 = 9
}

/// Stores a message, so that it can be found later. Storage keeps it once, however often it is sent.
package struct AppendHistoryRequest: WireMessage {
    package typealias Fields = Schema.AppendHistoryRequest
    package let channel: ChannelKey
    package let publisher: String
    /// If another message of the channel has this time, storage takes the one after the newest.
    package let timestampMilliseconds: UInt64
    package let message: MessageView
    /// What identifies the message when it is sent again. Without an origin its time and content do.
    package let origin: PublishOrigin

    package init(
        channel: ChannelKey, publisher: String, timestampMilliseconds: UInt64, message: MessageView,
        origin: PublishOrigin = .none
    ) {
        self.channel = channel
        self.publisher = publisher
        self.timestampMilliseconds = timestampMilliseconds
        self.message = message
        self.origin = origin
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.publisher, publisher)
        sink.field(Fields.timestampMs, timestampMilliseconds)
        sink.field(Fields.message, message)
        sink.field(Fields.instance, origin.instance)
        sink.field(Fields.sequence, origin.sequence)
    }
}

/// Either the answer to a call, or a ticket for a caller who waits in line for a lock.
package struct StorageCallResponse: WireMessage {
    package typealias Fields = Schema.StorageCallResponse
    /// The one field of ServerFrame.body, with its key. It is empty while the caller waits.
    package let response: WireText
    /// The number of the caller who waits. It comes back in the LockGrantedPush.
    package let ticket: UInt64

    package init(response: WireText, ticket: UInt64 = 0) {
        self.response = response
        self.ticket = ticket
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.response, response)
        sink.field(Fields.ticket, ticket)
    }
}

/// Says how the wait for a lock ended: with an answer or with an error.
package struct LockGrantedPush: WireMessage {
    package typealias Fields = Schema.LockGrantedPush
    package let ticket: UInt64
    package let response: WireText
    package let error: RTMError?

    package init(ticket: UInt64, response: WireText) {
        self.ticket = ticket
        self.response = response
        error = nil
    }

    package init(ticket: UInt64, error: RTMError) {
        self.ticket = ticket
        response = .empty
        self.error = error
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.ticket, ticket)
        sink.field(Fields.response, response)
        if let error { sink.field(Fields.error, error) }
    }
}

/// Asks for what a new subscriber begins with.
package struct SnapshotRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SnapshotRequest
    /// A channel of type none stands for a user's metadata.
    package var channel: ChannelKey
    package var metadata: Bool
    package var locks: Bool

    package init(channel: ChannelKey, metadata: Bool, locks: Bool) {
        self.channel = channel
        self.metadata = metadata
        self.locks = locks
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channel, channel)
        sink.field(Fields.metadata, metadata)
        sink.field(Fields.locks, locks)
    }
}

package struct SnapshotResponse: WireMessage {
    package typealias Fields = Schema.SnapshotResponse
    /// ServerFrames with their length prefixes.
    package let frames: WireText

    package init(frames: WireText) { self.frames = frames }

    package func write(to sink: inout some FieldSink) { sink.field(Fields.frames, frames) }
}

/// What happened to a session that has used locks.
package enum SessionChange: Int, Sendable, Hashable, CaseIterable {
    case ended = 1
    case left = 2
    case entered = 3
}

/// Tells storage about a session that has used locks.
package struct SessionPush: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.SessionPush
    package var caller: Caller
    package var change: SessionChange
    /// Nil if the session ended.
    package var channel: ChannelKey?

    package init(caller: Caller, change: SessionChange, channel: ChannelKey?) {
        self.caller = caller
        self.change = change
        self.channel = channel
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.caller, caller)
        sink.field(Fields.change, change)
        if let channel { sink.field(Fields.channel, channel) }
    }
}
