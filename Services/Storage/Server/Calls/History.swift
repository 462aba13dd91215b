import RTMModel
import RTMWire

/// Asks for a page of a channel's stored messages.
extension HistorySelection: StorageQuery {
    static let failureCode = ErrorCode.historyOperationFailed

    var appID: String { channel.appID }
    var answerBytesMax: Int {
        let item = EventPage.itemBytesMax
        return min(count * item, Self.pageBytesMax + item)
    }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> ClientAnswer {
        ClientAnswer(field: page(try store.messages(self, now: now)).field)
    }
}
