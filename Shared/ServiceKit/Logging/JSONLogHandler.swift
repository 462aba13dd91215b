package import Logging

/// One JSON object per line: `time`, `level`, `logger`, `message`, then the metadata under its own names.
///
/// A metadata name that would collide with one of the four gets an underscore in front. Names are sorted, so
/// equal events give equal lines.
package struct JSONLogHandler: LogHandler {
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
        var fields: [(name: String, json: String)] = [
            ("time", JSONText.quoted(now())),
            ("level", JSONText.quoted(event.level.rawValue)),
            ("logger", JSONText.quoted(label)),
            ("message", JSONText.quoted(event.message.description)),
        ]
        let reserved = fields.map(\.name)
        let effective = LogMetadata.effective(metadata, metadataProvider, event)
        for (name, value) in effective.sorted(by: { $0.key < $1.key }) {
            fields.append((reserved.contains(name) ? "_" + name : name, Self.json(value)))
        }
        write(JSONText.object(fields) + "\n")
    }

    /// Most readers of JSON round integers beyond 2^53, so those become texts.
    private static func json(_ number: any BinaryInteger) -> String {
        Int64(exactly: number).map { $0.magnitude <= 1 << 53 } == true
            ? "\(number)" : JSONText.quoted("\(number)")
    }

    private static func json(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .string(let text): JSONText.quoted(text)
        case .stringConvertible(let number as any BinaryInteger): Self.json(number)
        case .stringConvertible(let value as Bool): "\(value)"
        case .stringConvertible(let value): JSONText.quoted(value.description)
        case .array(let values): JSONText.array(values.map(json))
        case .dictionary(let values):
            JSONText.object(values.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) })
        }
    }
}

/// What both handlers do with metadata.
enum LogMetadata {
    /// The event's metadata wins over the provider's, which wins over the logger's. An error becomes the
    /// metadata `error`.
    static func effective(
        _ logger: Logger.Metadata, _ provider: Logger.MetadataProvider?, _ event: LogEvent
    ) -> Logger.Metadata {
        var metadata = logger
        if let provided = provider?.get() { metadata.merge(provided) { $1 } }
        if let own = event.metadata { metadata.merge(own) { $1 } }
        if let error = event.error { metadata["error"] = .string("\(error)") }
        return metadata
    }
}
