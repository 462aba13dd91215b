import NIOCore
import RTMModel
import RTMWire

/// Asks for the metadata of a channel or a user.
struct MetadataQuery: StorageQuery {
    /// About how many bytes an answer has: a set with many small items is the longest that clients can have
    /// made.
    static let answerBytesMax = 256 * 1024

    let channel: ChannelKey

    var appID: String { channel.appID }
    var answerBytesMax: Int { Self.answerBytesMax }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> ClientAnswer {
        ClientAnswer(field: try store.metadataAnswer(channel).field)
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
