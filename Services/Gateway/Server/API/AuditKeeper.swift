import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire
import Synchronization

/// Sends audit lines to storage, which keeps them. A change neither waits for its line nor fails with it.
final class AuditKeeper: Sendable {
    private let backend: Backend
    private let metrics: GatewayMetrics
    private let logger: Logger
    private let budget = Mutex(AuditBudget())

    init(_ backend: Backend, _ metrics: GatewayMetrics, _ logger: Logger) {
        (self.backend, self.metrics, self.logger) = (backend, metrics, logger)
    }

    func keep(_ line: AuditLine, of appID: String) {
        let kind = AuditBudget.Kind(appID: appID, by: line.by, what: line.what)
        guard let omitted = budget.withLock({ $0.admit(kind, now: .now()) }) else {
            return metrics.audited(.omitted)
        }
        var line = line.shortened
        line.omitted = omitted
        backend.ask(StorageMethod.keepAudit, KeepAudit(appID: appID, line: line)) { [self] outcome in
            budget.withLock { $0.ended() }
            guard case .failure(let error) = outcome else { return metrics.audited(.kept) }
            metrics.audited(.lost)
            logger.warning("an audit line isn't kept", metadata: ["cause": "\(error.reason)"])
        }
    }
}

/// How many audit lines are kept. A backend that changes something all the time must not cost storage a write
/// more for each. Pure.
struct AuditBudget {
    /// Limits: lines of a key and a kind of change, and lines under way.
    static let rate = Rate(perSecond: 10, timesAtOnce: 1)
    static let pendingMax = 64

    struct Kind: Hashable {
        let appID: String
        let by: String
        let what: String
    }

    private var buckets = TokenBuckets<Kind>()
    private var omitted: [Kind: UInt64] = [:]
    private var pending = 0

    /// - Returns: how many lines were left out before this one; nil if it is left out, too.
    mutating func admit(_ kind: Kind, now: NIODeadline) -> UInt64? {
        guard pending < Self.pendingMax, buckets.take(kind, Self.rate, now: now) == nil else {
            omitted[kind, default: 0] += 1
            return nil
        }
        pending += 1
        return omitted.removeValue(forKey: kind) ?? 0
    }

    /// A line that was admitted is kept, or lost.
    mutating func ended() { pending -= 1 }
}

extension AuditLine {
    /// Limit: bytes of a text that is kept. Names in a path may be longer, where that was refused.
    private static let textBytesMax = 256

    var shortened: AuditLine {
        var line = self
        for text in [\AuditLine.by, \.address, \.what, \.whom, \.outcome] {
            guard line[keyPath: text].utf8.count > Self.textBytesMax else { continue }
            line[keyPath: text] = String(
                decoding: line[keyPath: text].utf8.prefix(Self.textBytesMax), as: UTF8.self)
        }
        return line
    }
}
