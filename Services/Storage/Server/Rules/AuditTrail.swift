import RTMModel
import RTMWire

/// What is kept of the changes that holders of API keys make over HTTP (W-31). Gateways write the lines.
package enum AuditTrail {
    /// Limit: lines of one key and one kind of change in an app. There are about twenty kinds.
    package static let linesPerKindMax = 1_000
    /// Limit: lines of a page.
    static let pageMax = 1_000
    /// Limit: bytes of a text of a line.
    static let textBytesMax = 512

    static func check(_ line: AuditLine) throws(RTMError) {
        for text in [line.by, line.address, line.what, line.whom, line.outcome] {
            guard text.utf8.count > textBytesMax else { continue }
            throw RTMError(
                .invalidParameter, "a text of the audit line has \(text.utf8.count) bytes",
                limit: .init(name: "bytes of an audit line's text", value: UInt64(textBytesMax)))
        }
    }
}
