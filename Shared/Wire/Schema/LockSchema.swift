// Written by protocol/generate_wire.py from client/lock.proto: `make generate`.
// swift-format-ignore-file

package import RTMModel

extension Schema {
    /// rtm.client.LockDetail
    package enum LockDetail {
        package static var name: SchemaField<String> { SchemaField(1) }
        package static var owner: SchemaField<String> { SchemaField(2) }
        package static var ttlS: SchemaField<UInt32> { SchemaField(3) }
        package static var fencingToken: SchemaField<UInt64> { SchemaField(4) }
    }

    /// rtm.client.SetLock
    package enum SetLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
        package static var ttlS: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.client.RemoveLock
    package enum RemoveLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.client.AcquireLock
    package enum AcquireLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
        package static var retry: SchemaField<Bool> { SchemaField(4) }
        package static var heldToken: SchemaField<UInt64> { SchemaField(5) }
    }

    /// rtm.client.LockAcquired
    package enum LockAcquired {
        package static var fencingToken: SchemaField<UInt64> { SchemaField(1) }
    }

    /// rtm.client.ReleaseLock
    package enum ReleaseLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
        package static var withdraw: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.client.RevokeLock
    package enum RevokeLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
        package static var owner: SchemaField<String> { SchemaField(4) }
    }

    /// rtm.client.GetLocks
    package enum GetLocks {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.Locks
    package enum Locks {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var revision: SchemaField<UInt64> { SchemaField(3) }
        package static var locks: SchemaField<[LockDetail]> { SchemaField(4) }
    }

    /// rtm.client.LockEvent
    package enum LockEvent {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var lock: SchemaField<LockDetail> { SchemaField(2) }
        package static var revision: SchemaField<UInt64> { SchemaField(3) }
    }
}

extension LockEvent {
    package enum Kind: Int, Sendable, Hashable, CaseIterable {
        case set = 2
        case removed = 3
        case acquired = 4
        case released = 5
    }
}

package struct LockDetail: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.LockDetail
    /// 1..64 bytes of printable ASCII.
    package var name: String
    /// User id; empty = free. In the event of a release: the user who owned it.
    package var owner: String
    /// How long it outlives its owner's connection.
    package var ttlSeconds: UInt32
    /// Of the latest acquisition; 0 before the first.
    package var fencingToken: UInt64

    package init(name: String = "", owner: String = "", ttlSeconds: UInt32 = 0, fencingToken: UInt64 = 0) {
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
    package var fencingToken: UInt64

    package init(fencingToken: UInt64 = 0) {
        self.fencingToken = fencingToken
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.fencingToken, fencingToken)
    }
}

/// All locks of a channel. Also sent without request, once after Subscribed, as the snapshot that events
/// continue.
package struct Locks: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Locks
    package static var field: SchemaField<Fields> { Schema.ServerFrame.locks }
    package var channel: ChannelKey
    /// Grows with each change of a lock of this channel.
    package var revision: UInt64
    /// By name.
    package var locks: [LockDetail]

    package init(_ channel: ChannelKey, revision: UInt64 = 0, locks: [LockDetail] = []) {
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

/// An entry of a channel's log. Pass it over if its revision isn't above that of the snapshot you have.
package struct LockEvent: PublicationEvent, Sendable, Hashable {
    package typealias Fields = Schema.LockEvent
    package static var field: SchemaField<Fields> { Schema.Publication.lock }
    package var kind: LockEvent.Kind
    package var lock: LockDetail
    package var revision: UInt64

    package init(_ kind: LockEvent.Kind, _ lock: LockDetail, revision: UInt64 = 0) {
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
