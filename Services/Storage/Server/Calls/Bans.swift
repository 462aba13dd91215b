import RTMModel
import RTMWire

extension BansResponse {
    /// Limit: bans of a page.
    static let countMax = 1_000
}

/// Asks for a page of the bans that hold.
extension BansRequest: StorageQuery {
    var appID: String { "" }
    var answerBytesMax: Int { 256 * 1024 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> BansResponse {
        let bans = try store.bans(after: self, now: now, limit: BansResponse.countMax + 1)
        return BansResponse(
            bans: Array(bans.prefix(BansResponse.countMax)), hasMore: bans.count > BansResponse.countMax)
    }
}
