import Foundation
import NIOCore

/// What the header `Retry-After` asks for (RFC 9110, 10.2.3): seconds, or a date. Pure.
enum RetryAfter {
    /// Dates as servers write them, and the two older forms.
    private static let forms = [
        "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
    ]

    /// - Parameters:
    ///   - sent: the header `Date` of the same answer. The pause is counted from it, because clocks differ.
    ///   - now: used where there is no such header.
    /// - Returns: nil if there is no such header, or it can't be read.
    static func pause(_ text: String?, sent: String?, now: Date) -> TimeAmount? {
        guard let text else { return nil }
        if let seconds = UInt32(text) { return .seconds(Int64(seconds)) }
        guard let until = seconds(ofDate: text) else { return nil }
        let start = sent.flatMap(seconds(ofDate:)) ?? Int64(now.timeIntervalSince1970)
        return .seconds(min(max(0, until - start), Int64(UInt32.max)))
    }

    /// - Returns: the seconds since 1970.
    private static func seconds(ofDate text: String) -> Int64? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for form in forms {
            formatter.dateFormat = form
            if let date = formatter.date(from: text) { return Int64(date.timeIntervalSince1970) }
        }
        return nil
    }
}
