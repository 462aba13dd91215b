package import RTMModel

/// What storage answers to clients about locks (protocol/schema/client/lock.proto).

package struct LockDetail: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LockDetail
    package var name: String
    /// The user who owns the lock, or empty if it is free. In the event of a release: the user who had it.
    package var owner: String
    package var ttlSeconds: UInt32
    /// The token of the latest acquisition; 0 before the first one.
    package var fencingToken: UInt64

    package init(name: String, owner: String, ttlSeconds: UInt32, fencingToken: UInt64) {
        self.name = name
        self.owner = owner
        self.ttlSeconds = ttlSeconds
        self.fencingToken = fencingToken
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.name, name)
        sink.field(Fields.owner, owner)
        sink.field(Fields.ttlS, ttlSeconds)
        sink.field(Fields.fencingToken, fencingToken)
    }
}

package struct LockAcquired: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.LockAcquired
    package static var field: SchemaField<Fields> { Schema.ServerFrame.lockAcquired }
    let fencingToken: UInt64

    package init(fencingToken: UInt64) { self.fencingToken = fencingToken }

    package func write(to sink: inout some FieldSink) { sink.field(Fields.fencingToken, fencingToken) }
}

/// All locks of a channel. They are the answer to a read, and the snapshot for a new subscriber.
package struct Locks: ServerFrameBody {
    package typealias Fields = Schema.Locks
    package static var field: SchemaField<Fields> { Schema.ServerFrame.locks }
    let channel: ChannelKey
    let revision: UInt64
    let locks: [LockDetail]

    package init(_ channel: ChannelKey, revision: UInt64, locks: [LockDetail]) {
        self.channel = channel
        self.revision = revision
        self.locks = locks
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channel.type)
        sink.field(Fields.channel, channel.name)
        sink.field(Fields.revision, revision)
        sink.field(Fields.locks, locks)
    }
}

package struct LockEvent: PublicationEvent, Sendable, Hashable {
    package typealias Fields = Schema.LockEvent
    package static var field: SchemaField<Fields> { Schema.Publication.lock }

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
        sink.field(Fields.type, kind)
        sink.field(Fields.lock, lock)
        sink.field(Fields.revision, revision)
    }
}
