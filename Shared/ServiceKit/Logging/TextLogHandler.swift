package import Logging

/// One line for people: time of day, level, logger, message, then `name=value` pairs.
///
/// Values with blanks or control characters are quoted, so no input can forge a line.
package struct TextLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel: Logger.Level = .info

    private let label: String
    private let now: @Sendable () -> String
    private let write: @Sendable (String) -> Void

    /// - Parameter write: gets one line with its line end.
    package init(
        label: String, now: @escaping @Sendable () -> String, write: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        self.now = now
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        // The message is a constant text of this project, but quoting it costs nothing if it isn't.
        var words = [
            String(now().dropFirst(11).prefix(12)), Self.padded(event.level.rawValue), label + ":",
            Self.line(event.message.description),
        ]
        let effective = LogMetadata.effective(metadata, metadataProvider, event)
        for (name, value) in effective.sorted(by: { $0.key < $1.key }) {
            words.append("\(name)=\(Self.text(value))")
        }
        write(words.joined(separator: " ") + "\n")
    }

    private static func padded(_ level: String) -> String {
        level + String(repeating: " ", count: max(0, 8 - level.utf8.count))
    }

    /// The text itself when it is printable, otherwise its quoted form without the quotes.
    private static func line(_ text: String) -> String {
        let quoted = JSONText.quoted(text)
        return quoted.utf8.count == text.utf8.count + 2 ? text : String(quoted.dropFirst().dropLast())
    }

    private static func text(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): word(text)
        case .stringConvertible(let value): word(value.description)
        case .array(let values): "[\(values.map(text).joined(separator: ", "))]"
        case .dictionary(let values):
            "{\(pairs(values).joined(separator: ", "))}"
        }
    }

    private static func pairs(_ values: Logger.Metadata) -> [String] {
        values.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }
    }

    private static func word(_ text: String) -> String {
        let isWord = !text.isEmpty && !text.contains { $0 == " " || $0 == "=" }
        let quoted = JSONText.quoted(text)
        return isWord && quoted.utf8.count == text.utf8.count + 2 ? text : quoted
    }
}
