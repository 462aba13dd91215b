import RTMModel
import RTMWire

/// Keeps a change over HTTP in the audit trail of its app.
extension KeepAudit: StorageChange {
    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.group.keep(self)
        return .success(NoContent())
    }
}

/// Asks for a page of an app's audit lines.
extension AuditRequest: StorageQuery {
    var answerBytesMax: Int { 2 << 20 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> AuditResponse {
        let limit = min(max(1, Int(limit)), AuditTrail.pageMax)
        let lines = try store.audit(self, limit: limit + 1)
        return AuditResponse(lines: Array(lines.prefix(limit)), hasMore: lines.count > limit)
    }
}
