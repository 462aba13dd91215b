import Logging

/// Writes each record as one line: the time in UTC, the level, the message, and what is known about it.
struct FileLogHandler: LogHandler {
    let file: LogFile
    /// Limit: bytes of the file.
    let bytesMax: Int
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(_ file: LogFile, bytesMax: Int, level: Logger.Level) {
        self.file = file
        self.bytesMax = bytesMax
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        file.write(Self.line(event, metadata, metadataProvider, at: .now), bytesMax: bytesMax)
    }

    static func line(
        _ event: LogEvent, _ metadata: Logger.Metadata, _ provider: Logger.MetadataProvider?, at time: Date
    ) -> String {
        var facts = metadata
        if let provider { facts.merge(provider.get()) { $1 } }
        if let own = event.metadata { facts.merge(own) { $1 } }
        let words = facts.sorted { $0.key < $1.key }.map { " \($0.key)=\(escaped("\($0.value)"))" }
        let stamp = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return "\(stamp) \(event.level) \(escaped("\(event.message)"))\(words.joined())"
    }

    /// A text of another side can't begin a line of its own.
    private static func escaped(_ text: String) -> String {
        text.replacing("\n", with: "\\n").replacing("\r", with: "\\r")
    }
}
