import RTMClient

/// Cuts a stream of bytes into lines. The last line needs no line end.
struct LineSplitter: Sendable {
    /// Limit: bytes of a line. A longer line is refused; no message is that long (L-20).
    static let lineBytesMax = 1024 * 1024

    private var pending: [UInt8] = []

    /// - Throws: `.channelMessageLengthExceedLimitation` (-11010) when a line has more bytes than the limit.
    mutating func split(_ bytes: some Sequence<UInt8>) throws(RTMError) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(takeLine())
            } else {
                pending.append(byte)
            }
        }
        guard pending.count <= Self.lineBytesMax else {
            throw RTMError(
                .channelMessageLengthExceedLimitation, "a line of standard input has more than 1 MiB",
                operation: "publish")
        }
        return lines
    }

    /// The text after the last line end, if there is any.
    mutating func finish() -> String? { pending.isEmpty ? nil : takeLine() }

    private mutating func takeLine() -> String {
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        defer { pending.removeAll(keepingCapacity: true) }
        return String(decoding: pending, as: UTF8.self)
    }
}
