import RTMModel
import RTMWire

/// Asks for the locks of a channel.
struct LocksQuery: StorageQuery {
    static let failureCode = ErrorCode.lockOperationFailed

    let channel: ChannelKey

    var appID: String { channel.appID }
    var answerBytesMax: Int { 16 * 1024 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> ClientAnswer {
        ClientAnswer(field: try store.locksAnswer(channel).field)
    }
}

extension ReadableStore {
    /// The revision is the store's counter. It is at least as high as the last change of a lock of this
    /// channel, and lower than the next one.
    func locksAnswer(_ channel: ChannelKey) throws(StoreFailure) -> Locks {
        Locks(channel, revision: try committedCounter(), locks: try locks(of: channel).details)
    }
}
