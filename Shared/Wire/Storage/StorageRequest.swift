package import RTMModel

/// What a client asks of storage, copied out of its frame: it goes to another thread.
///
/// A channel type is nil for a number that is none.
package enum StorageRequest: Sendable, Hashable {
    case writeMetadata(WriteMetadata)
    case getMetadata(MetadataTarget)
    case lock(LockRequest)
    case getLocks(LockPlace)
    case getHistory(GetHistory)
}

/// Whose metadata: a channel's (message or stream) or a user's (none).
package struct MetadataTarget: Sendable, Hashable {
    package var channelType: ChannelType?
    /// Channel name or user id; empty = the caller's own.
    package var target: String

    package init(channelType: ChannelType?, target: String) {
        self.channelType = channelType
        self.target = target
    }
}

package enum MetadataWriteKind: Int, Sendable, Hashable, CaseIterable {
    /// Creates or overwrites.
    case set = 0
    /// Every item must exist.
    case update = 1
    /// Every item must exist; no items = the whole set.
    case remove = 2
}

package struct WriteMetadata: Sendable, Hashable {
    package var target: MetadataTarget
    package var kind: MetadataWriteKind
    package var items: [MetadataItem]
    /// Apply only if this is the set's revision; -1 = only if nothing was ever written; 0 = don't compare.
    package var majorRevision: Int64
    package var recordsTime: Bool
    package var recordsAuthor: Bool
    /// Apply only if the caller owns this lock of the channel; empty = don't look.
    package var lock: String
    /// Apply only if this is that lock's present token; 0 = owning it is enough.
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

/// An item of a set; in a write, what is to become of it.
package struct MetadataItem: WireMessage, Sendable, Hashable {
    package var key: String
    package var value: String
    /// In a write: apply only if this is the item's revision; 0 = don't compare.
    package var revision: Int64
    /// When it was written, if that was to be recorded.
    package var updatedMilliseconds: UInt64
    /// Who wrote it, if that was to be recorded.
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
        sink.field(1, key)
        sink.field(2, value)
        sink.field(3, UInt64(bitPattern: revision))
        sink.field(4, updatedMilliseconds)
        sink.field(5, author)
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
        /// Seconds; 0 = the default.
        case set(ttlSeconds: UInt32)
        case remove
        case acquire(retry: Bool, heldToken: UInt64)
        /// `withdraw`: also from the line, and content with not owning it.
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
    /// The newer bound; 0 = none. Exclusive without `end`, inclusive with it (H-4).
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
