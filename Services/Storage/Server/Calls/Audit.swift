import RTMModel
import RTMWire

/// Asks for a page of an app's audit lines.
extension AuditRequest: StorageQuery {
    var answerBytesMax: Int { 2 << 20 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> AuditResponse {
        let limit = min(max(1, Int(limit)), AuditTrail.pageMax)
        let lines = try store.audit(self, limit: limit + 1)
        return AuditResponse(lines: Array(lines.prefix(limit)), hasMore: lines.count > limit)
    }
}
