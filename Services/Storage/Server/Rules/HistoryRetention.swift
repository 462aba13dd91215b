import RTMModel
import RTMServiceKit

/// How long stored messages are kept, per app (L-44). A change holds for what is stored afterwards.
struct HistoryRetention: Sendable {
    let usual: RetentionPeriod
    let ofApps: [String: RetentionPeriod]

    func period(of app: String) -> RetentionPeriod { ofApps[app] ?? usual }

    /// H-11.
    func check(_ app: String) throws(RTMError) {
        guard period(of: app) != .off else {
            throw RTMError(.historyNotAvailable, "history is switched off for this app")
        }
    }

    /// When a message of this time is no longer shown; nil = never. UTC in milliseconds.
    func expiry(of timestamp: UInt64, app: String) -> UInt64? {
        period(of: app).days.map { timestamp + UInt64($0) * 86_400_000 }
    }
}

extension RetentionPeriod {
    fileprivate var days: Int? {
        switch self {
        case .off: 0
        case .oneDay: 1
        case .oneWeek: 7
        case .oneMonth: 30
        case .threeMonths: 90
        case .oneYear: 365
        case .permanent: nil
        }
    }
}
