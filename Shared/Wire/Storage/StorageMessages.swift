package import RTMModel

/// The messages of the storage service (protocol/schema/service/storage_service.proto).
package enum StorageMethod {
    package static let appendHistory: UInt32 = 1
    package static let call: UInt32 = 2
    package static let snapshot: UInt32 = 3
    package static let lockGranted: UInt32 = 4
    package static let session: UInt32 = 5
}

/// A message to be found later. It is kept once, however often it is sent.
package struct AppendHistoryRequest: WireMessage {
    package let channel: ChannelKey
    package let publisher: String
    /// When another message of the channel has it, one behind the newest is taken.
    package let timestampMilliseconds: UInt64
    package let message: MessageView
    /// By what it is known again. Without one it is by its time and content.
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
        sink.field(1, channel)
        sink.field(2, publisher)
        sink.field(3, timestampMilliseconds)
        sink.field(4, message)
        sink.field(5, origin.instance)
        sink.field(6, origin.sequence)
    }
}

/// A call is answered at once, or its caller waits in line for a lock.
package struct StorageCallResponse: WireMessage {
    /// The one field of ServerFrame.body, with its key; empty while the caller waits.
    package let response: WireText
    /// Of the one who waits; comes back in the LockGrantedPush.
    package let ticket: UInt64

    package init(response: WireText, ticket: UInt64 = 0) {
        self.response = response
        self.ticket = ticket
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, response)
        sink.field(2, ticket)
    }
}

/// How the wait for a lock ended: with an answer, or with an error.
package struct LockGrantedPush: WireMessage {
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
        sink.field(1, ticket)
        sink.field(2, response)
        if let error { sink.field(3, error) }
    }
}

package struct SnapshotRequest: WireMessage, Sendable, Hashable {
    /// Type none: a user's metadata.
    package var channel: ChannelKey
    package var metadata: Bool
    package var locks: Bool

    package init(channel: ChannelKey, metadata: Bool, locks: Bool) {
        self.channel = channel
        self.metadata = metadata
        self.locks = locks
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, metadata)
        sink.field(3, locks)
    }
}

package struct SnapshotResponse: WireMessage {
    /// ServerFrames with their length prefixes.
    package let frames: WireText

    package init(frames: WireText) { self.frames = frames }

    package func write(to sink: inout some FieldSink) { sink.field(1, frames) }
}

/// What became of a session that has used locks.
package enum SessionChange: Int, Sendable, Hashable, CaseIterable {
    case ended = 1
    case left = 2
    case entered = 3
}

package struct SessionPush: WireMessage, Sendable, Hashable {
    package var caller: Caller
    package var change: SessionChange
    /// Nil when the session ended.
    package var channel: ChannelKey?

    package init(caller: Caller, change: SessionChange, channel: ChannelKey?) {
        self.caller = caller
        self.change = change
        self.channel = channel
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, caller)
        sink.field(2, UInt64(change.rawValue))
        if let channel { sink.field(3, channel) }
    }
}
