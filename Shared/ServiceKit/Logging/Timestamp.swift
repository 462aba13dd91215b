#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The time for log lines: RFC 3339 in UTC with milliseconds, `2026-11-21T08:15:30.042Z`.
package enum Timestamp {
    static func now() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return text(secondsSince1970: Int(time.tv_sec), milliseconds: Int(time.tv_nsec) / 1_000_000)
    }

    /// - Parameter milliseconds: since 1970.
    package static func text(_ milliseconds: UInt64) -> String {
        // Limit: the year 9999, the last that the format has.
        let bounded = Int(min(milliseconds, 253_402_300_799_999))
        return text(secondsSince1970: bounded / 1_000, milliseconds: bounded % 1_000)
    }

    static func text(secondsSince1970 seconds: Int, milliseconds: Int) -> String {
        let (days, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = date(daysSince1970: days)
        let time = [second / 3_600, second / 60 % 60, second % 60].map { digits($0, 2) }.joined(
            separator: ":")
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(time).\(digits(milliseconds, 3))Z"
    }

    /// Howard Hinnant's civil_from_days: eras of 400 years that begin in March, so that leap days come last.
    private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let leaps = dayOfEra / 1_460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leaps) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
