import RTMModel
import RTMWire

extension ReadersResponse {
    /// Limit: readers of a page. The state of each of them may have 64 KiB.
    static let countMax = 100
}

/// Asks for a page of the readers of an app's events.
extension ReadersRequest: StorageQuery {
    var answerBytesMax: Int { 2 << 20 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> ReadersResponse {
        let readers = try store.readers(self, limit: ReadersResponse.countMax + 1, now: now)
        let bounds = try store.eventBounds(of: appID)
        return ReadersResponse(
            readers: Array(readers.prefix(ReadersResponse.countMax)),
            hasMore: readers.count > ReadersResponse.countMax, newest: bounds.newest, oldest: bounds.oldest)
    }
}

extension DeadLettersResponse {
    /// Limit: dead letters of a page.
    static let countMax = 100
}

/// Asks for a page of a reader's dead letters.
extension DeadLettersRequest: StorageQuery {
    var answerBytesMax: Int { 2 << 20 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> DeadLettersResponse {
        let limit = min(max(1, Int(limit)), DeadLettersResponse.countMax)
        let letters = try store.deadLetters(self, limit: limit + 1)
        return DeadLettersResponse(letters: Array(letters.prefix(limit)), hasMore: letters.count > limit)
    }
}
