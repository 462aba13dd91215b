extension StringProtocol {
    /// What a line of a log shows of a text from outside: at most so many bytes. They are bytes because one
    /// character may be thousands of them long.
    package func cut(_ bytesMax: Int = 64) -> String {
        guard utf8.count > bytesMax else { return String(self) }
        return String(decoding: utf8.prefix(bytesMax), as: UTF8.self) + "…"
    }
}
