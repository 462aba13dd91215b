import RTMModel
import RTMServiceKit

/// How long stored messages are kept, per app (L-44). A change concerns only messages that are stored
/// afterwards.
struct HistoryRetention: Sendable {
    let usual: RetentionPeriod
    let ofApps: [String: RetentionPeriod]

    func period(of app: String) -> RetentionPeriod { ofApps[app] ?? usual }

    /// Throws `.historyNotAvailable` (-15005) if the app has no history (H-11).
    func check(_ app: String) throws(RTMError) {
        guard period(of: app) != .off else {
            throw RTMError(.historyNotAvailable, "history is switched off for this app")
        }
    }

    /// The time from which a message with this timestamp is no longer shown, or nil if it is kept for ever;
    /// in milliseconds (UTC).
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
