package import RTMModel

/// What a client asks of storage, copied out of its frame, because it goes to another thread.
///
/// A channel type is nil if its number is not a channel type.
package enum StorageRequest: Sendable, Hashable {
    case writeMetadata(WriteMetadata)
    case getMetadata(MetadataTarget)
    case lock(LockRequest)
    case getLocks(LockPlace)
    case getHistory(GetHistory)
}

/// Whose metadata a request is about: a channel's (type message or stream) or a user's (type none).
package struct MetadataTarget: Sendable, Hashable {
    package var channelType: ChannelType?
    /// The channel's name or the user's id; empty for the caller's own metadata.
    package var target: String

    package init(channelType: ChannelType?, target: String) {
        self.channelType = channelType
        self.target = target
    }
}

package enum MetadataWriteKind: Int, Sendable, Hashable, CaseIterable {
    /// Creates or overwrites the items.
    case set = 0
    /// Every item must exist.
    case update = 1
    /// Every item must exist. Without items the whole set is removed.
    case remove = 2
}

package struct WriteMetadata: Sendable, Hashable {
    package var target: MetadataTarget
    package var kind: MetadataWriteKind
    package var items: [MetadataItem]
    /// The write applies only if this is the set's revision. -1: only if nothing was ever written. 0: always.
    package var majorRevision: Int64
    package var recordsTime: Bool
    package var recordsAuthor: Bool
    /// The write applies only if the caller owns this lock of the channel. Empty: no lock is needed.
    package var lock: String
    /// The write applies only if this is the present token of that lock. 0: to own the lock is enough.
    package var fencingToken: UInt64

    package init(
        _ kind: MetadataWriteKind, of target: MetadataTarget, items: [MetadataItem], majorRevision: Int64 = 0,
        recordsTime: Bool = false, recordsAuthor: Bool = false, lock: String = "", fencingToken: UInt64 = 0
    ) {
        self.kind = kind
        self.target = target
        self.items = items
        self.majorRevision = majorRevision
        self.recordsTime = recordsTime
        self.recordsAuthor = recordsAuthor
        self.lock = lock
        self.fencingToken = fencingToken
    }
}

/// An item of a set; in a write, what the item shall become.
package struct MetadataItem: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.MetadataItem
    package var key: String
    package var value: String
    /// In a write: it applies only if this is the item's revision. -1: only if there is no such item. 0:
    /// always.
    package var revision: Int64
    /// When the item was written, if the writer had that recorded.
    package var updatedMilliseconds: UInt64
    /// Who wrote the item, if the writer had that recorded.
    package var author: String

    package init(
        key: String, value: String = "", revision: Int64 = 0, updatedMilliseconds: UInt64 = 0,
        author: String = ""
    ) {
        self.key = key
        self.value = value
        self.revision = revision
        self.updatedMilliseconds = updatedMilliseconds
        self.author = author
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.key, key)
        sink.field(Fields.value, value)
        sink.field(Fields.revision, revision)
        sink.field(Fields.updateTsMs, updatedMilliseconds)
        sink.field(Fields.author, author)
    }
}

/// The locks of a channel.
package struct LockPlace: Sendable, Hashable {
    package var channelType: ChannelType?
    package var channel: String

    package init(channelType: ChannelType?, channel: String) {
        self.channelType = channelType
        self.channel = channel
    }
}

package struct LockRequest: Sendable, Hashable {
    package enum Action: Sendable, Hashable {
        /// 0 stands for the default.
        case set(ttlSeconds: UInt32)
        case remove
        case acquire(retry: Bool, heldToken: UInt64)
        /// With `withdraw` the caller also leaves the line, and not to own the lock is no error.
        case release(withdraw: Bool)
        case revoke(owner: String)
    }

    package var place: LockPlace
    package var name: String
    package var action: Action

    package init(_ action: Action, _ name: String, at place: LockPlace) {
        self.action = action
        self.name = name
        self.place = place
    }
}

package struct GetHistory: Sendable, Hashable {
    package var channelType: ChannelType?
    package var channel: String
    package var count: UInt32
    /// The newer bound; 0 = none. It is exclusive without `end`, and inclusive with it (H-4).
    package var start: UInt64
    /// The older bound, inclusive; 0 = none.
    package var end: UInt64

    package init(channelType: ChannelType?, channel: String, count: UInt32, start: UInt64, end: UInt64) {
        self.channelType = channelType
        self.channel = channel
        self.count = count
        self.start = start
        self.end = end
    }
}
