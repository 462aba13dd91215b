import RTMClient

/// Cuts a stream of bytes into lines. The last line needs no end.
struct LineSplitter: Sendable {
    /// Limit: a longer line is refused. No message is that long (L-20).
    static let lineBytesMax = 1024 * 1024

    private var pending: [UInt8] = []

    /// - Throws: -11010 when a line has no end for too long.
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

    /// What came after the last line's end, if anything.
    mutating func finish() -> String? { pending.isEmpty ? nil : takeLine() }

    private mutating func takeLine() -> String {
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        defer { pending.removeAll(keepingCapacity: true) }
        return String(decoding: pending, as: UTF8.self)
    }
}
