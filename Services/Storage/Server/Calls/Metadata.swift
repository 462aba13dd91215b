import NIOCore
import RTMModel
import RTMWire

/// Sets, updates or removes items of the metadata of a channel or a user.
struct MetadataEdit: StorageChange {
    let request: WriteMetadata
    let channel: ChannelKey
    let user: String

    init(_ request: WriteMetadata, of channel: ChannelKey, by user: String) {
        (self.request, self.channel, self.user) = (request, channel, user)
    }

    /// Removals give room.
    var room: StorageRoom { request.kind == .remove ? .locks : .usual }
    var dependsOnLocks: Bool { !request.lock.isEmpty }

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) {
        keys.sets.insert(channel)
        keys.apps.insert(channel.appID)
        if dependsOnLocks, registry[channel] == nil { keys.locks.insert(channel) }
    }

    func apply(
        _ transaction: inout StorageTransaction
    ) throws(StoreFailure) -> Result<ClientAnswer, RTMError>? {
        let before = try transaction.group.metadata(of: channel)
        var set = before
        let locks = dependsOnLocks ? try transaction.table(of: channel) : nil
        let change: MetadataSet.Change
        do throws(RTMError) {
            try locks?.checkOwner(request.lock, user: user, token: request.fencingToken)
            change = try set.apply(
                request, by: user, limits: transaction.rules.metadata, now: transaction.now.wall)
        } catch {
            return .failure(error)
        }
        let counts: [(kind: AppUsage.Kind, before: Int, after: Int)] = [
            (
                channel.type == .none ? .userSets : .channelSets, before.entries.isEmpty ? 0 : 1,
                set.entries.isEmpty ? 0 : 1
            ), (.metadataBytes, before.storedBytes, set.storedBytes),
        ]
        if let refusal = try transaction.count(counts, of: channel.appID) { return .failure(refusal) }
        transaction.group.save(change, to: set, of: channel)
        transaction.announce(
            StorageEvent(majorRevision: set.majorRevision, items: set.items), in: channel, by: user,
            .metadata)
        return .success(ClientAnswer(MetadataWritten(majorRevision: set.majorRevision)))
    }
}

/// Asks for the metadata of a channel or a user.
struct MetadataQuery: StorageQuery {
    /// About how many bytes an answer has: a set with many small items is the longest that clients can have
    /// made.
    static let answerBytesMax = 256 * 1024

    let channel: ChannelKey

    var appID: String { channel.appID }
    var answerBytesMax: Int { Self.answerBytesMax }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> ClientAnswer {
        ClientAnswer(try store.metadataAnswer(channel))
    }
}

/// Asks for what a new subscriber of a channel begins with.
extension SnapshotRequest: StorageQuery {
    var appID: String { channel.appID }
    var answerBytesMax: Int { MetadataQuery.answerBytesMax }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> SnapshotFrames {
        var frames = ByteBuffer()
        if metadata { ServerFrame(try store.metadataAnswer(channel)).encodeFrame(into: &frames) }
        if locks, channel.type != .none {
            ServerFrame(try store.locksAnswer(channel)).encodeFrame(into: &frames)
        }
        return SnapshotFrames(frames: frames)
    }
}

extension ReadableStore {
    fileprivate func metadataAnswer(_ channel: ChannelKey) throws(StoreFailure) -> Metadata {
        let set = try metadata(of: channel)
        return Metadata(channel, majorRevision: set.majorRevision, items: set.items)
    }
}
