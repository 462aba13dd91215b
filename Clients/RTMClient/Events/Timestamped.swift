public import Foundation

/// What happened at a time that the server knows.
public protocol Timestamped: Sendable {
    /// Milliseconds since 1970 by the server's clock.
    var timestampMilliseconds: UInt64 { get }
}

extension Timestamped {
    /// ``timestampMilliseconds`` as a date. Its milliseconds are exact.
    public var timestamp: Date { Date(milliseconds: timestampMilliseconds) }
}

extension MessageEvent: Timestamped {}
extension PublishReceipt: Timestamped {}
extension HistoryMessage: Timestamped {}
extension PresenceEvent: Timestamped {}
extension TopicEvent: Timestamped {}
extension MetadataEvent: Timestamped {}
extension LockEvent: Timestamped {}
extension LockDetail: Timestamped {}
extension LinkStateEvent: Timestamped {}

extension MetadataItem {
    /// ``updatedAtMilliseconds`` as a date. `nil` if the write didn't have its time recorded (D-11).
    public var updatedAt: Date? { updatedAtMilliseconds.map(Date.init(milliseconds:)) }
}

extension Date {
    init(milliseconds: UInt64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    /// The first whole millisecond since 1970 that isn't before the date, and 0 for a date before 1970.
    var firstMillisecond: UInt64 {
        // A date holds a fraction of a second as a binary one: a whole millisecond is off by less than this.
        let milliseconds = (timeIntervalSince1970 * 1_000 - 0.01).rounded(.up)
        return milliseconds > 0 ? UInt64(min(milliseconds, 0x1p53)) : 0
    }
}
