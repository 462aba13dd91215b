package import NIOCore
package import RTMModel

/// What storage answers to clients and tells them, each encoded where it comes about and only copied from
/// there on.

package struct MetadataWritten: ServerFrameBody, Sendable, Hashable {
    package static let field: UInt32 = 30
    let majorRevision: Int64

    package init(majorRevision: Int64) { self.majorRevision = majorRevision }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(bitPattern: majorRevision))
    }
}

/// A whole set: the answer to a read, and the snapshot of a new subscriber.
package struct Metadata: ServerFrameBody {
    package static let field: UInt32 = 31
    let channel: ChannelKey
    let majorRevision: Int64
    let items: [MetadataItem]

    /// - Parameter channel: of type none for a user's metadata.
    package init(_ channel: ChannelKey, majorRevision: Int64, items: [MetadataItem]) {
        self.channel = channel
        self.majorRevision = majorRevision
        self.items = items
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(channel.type.rawValue))
        sink.field(2, channel.name)
        sink.field(3, UInt64(bitPattern: majorRevision))
        for item in items { sink.field(4, item) }
    }
}

package struct LockDetail: WireMessage, Sendable, Hashable {
    package var name: String
    /// Empty: it is free. In the event of a release: who had it.
    package var owner: String
    package var ttlSeconds: UInt32
    /// Of the latest acquisition; 0 before the first.
    package var fencingToken: UInt64

    package init(name: String, owner: String, ttlSeconds: UInt32, fencingToken: UInt64) {
        self.name = name
        self.owner = owner
        self.ttlSeconds = ttlSeconds
        self.fencingToken = fencingToken
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, name)
        sink.field(2, owner)
        sink.field(3, UInt64(ttlSeconds))
        sink.field(4, fencingToken)
    }
}

package struct LockAcquired: ServerFrameBody, Sendable, Hashable {
    package static let field: UInt32 = 42
    let fencingToken: UInt64

    package init(fencingToken: UInt64) { self.fencingToken = fencingToken }

    package func write(to sink: inout some FieldSink) { sink.field(1, fencingToken) }
}

/// All locks of a channel: the answer to a read, and the snapshot of a new subscriber.
package struct Locks: ServerFrameBody {
    package static let field: UInt32 = 45
    let channel: ChannelKey
    let revision: UInt64
    let locks: [LockDetail]

    package init(_ channel: ChannelKey, revision: UInt64, locks: [LockDetail]) {
        self.channel = channel
        self.revision = revision
        self.locks = locks
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(channel.type.rawValue))
        sink.field(2, channel.name)
        sink.field(3, revision)
        for lock in locks { sink.field(4, lock) }
    }
}

package struct HistoryPage: ServerFrameBody, Sendable, Hashable {
    package static let field: UInt32 = 50
    /// Newest first.
    package var messages: [HistoryMessage]
    /// Where the next page starts; 0 = there is none.
    package var newStart: UInt64

    package init(messages: [HistoryMessage], newStart: UInt64) {
        self.messages = messages
        self.newStart = newStart
    }

    package func write(to sink: inout some FieldSink) {
        for message in messages { sink.field(1, message) }
        sink.field(2, newStart)
    }
}

package struct HistoryMessage: WireMessage, Sendable, Hashable {
    package var type: MessageType
    package var payload: [UInt8]
    package var customType: String
    package var publisher: String
    package var timestampMilliseconds: UInt64

    package init(
        type: MessageType, payload: [UInt8], customType: String, publisher: String,
        timestampMilliseconds: UInt64
    ) {
        self.type = type
        self.payload = payload
        self.customType = customType
        self.publisher = publisher
        self.timestampMilliseconds = timestampMilliseconds
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(type.rawValue))
        payload.withUnsafeBytes { sink.field(2, $0) }
        sink.field(3, customType)
        sink.field(4, publisher)
        sink.field(5, timestampMilliseconds)
    }
}

/// The whole set after a write.
package struct StorageEvent: PublicationEvent {
    package static let field: UInt32 = 8
    let majorRevision: Int64
    let items: [MetadataItem]

    package init(majorRevision: Int64, items: [MetadataItem]) {
        self.majorRevision = majorRevision
        self.items = items
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(bitPattern: majorRevision))
        for item in items { sink.field(2, item) }
    }
}

package struct LockEvent: PublicationEvent, Sendable, Hashable {
    package static let field: UInt32 = 9

    package enum Kind: Int, Sendable, Hashable, CaseIterable {
        case set = 2
        case removed = 3
        case acquired = 4
        case released = 5
    }

    package var kind: Kind
    package var lock: LockDetail
    package var revision: UInt64

    package init(_ kind: Kind, _ lock: LockDetail, revision: UInt64) {
        self.kind = kind
        self.lock = lock
        self.revision = revision
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, UInt64(kind.rawValue))
        sink.field(2, lock)
        sink.field(3, revision)
    }
}

/// A body of Publication.event; `field` is its number there.
package protocol PublicationEvent: WireMessage {
    static var field: UInt32 { get }
}

extension PublicationEvent {
    /// The event with its key: what an AppendRequest carries.
    package var eventField: ByteBuffer { FrameField(number: Self.field, body: self).buffer }
}
