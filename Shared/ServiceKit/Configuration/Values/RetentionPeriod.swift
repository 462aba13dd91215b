/// How long the history of an app is kept (L-44).
package enum RetentionPeriod: String, Sendable, Hashable, CaseIterable {
    /// Nothing is stored.
    case off
    case oneDay = "1d"
    case oneWeek = "7d"
    case oneMonth = "30d"
    case threeMonths = "90d"
    case oneYear = "365d"
    case permanent
}
