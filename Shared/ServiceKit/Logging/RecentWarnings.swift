internal import Logging
internal import Synchronization

/// The newest lines of the log at the level warning and above, kept for who looks at the console and not into
/// files.
package final class RecentWarnings: Sendable {
    /// A line of the log, without the metadata that names users.
    package struct Line: Codable, Sendable, Hashable {
        /// RFC 3339 in UTC with milliseconds.
        package let time: String
        package let level: String
        package let logger: String
        package let message: String
        /// Whom the line is about, such as `app=shop webhook=orders`; nil if its metadata names nobody.
        package let subject: String?
        /// The metadata of the names `cause`, `reason` and `error`, if the line has any.
        package let cause: String?
    }

    /// Those of this process: there is one log.
    static let process = RecentWarnings()

    /// Limit: lines.
    static let countMax = 100

    private let kept = Mutex<[Line]>([])

    var lines: [Line] { kept.withLock { $0 } }

    func add(_ line: Line) {
        kept.withLock { lines in
            if lines.count == Self.countMax { lines.removeFirst() }
            lines.append(line)
        }
    }
}

/// Passes every event on, and keeps the warnings among them.
struct WarningLogHandler: LogHandler {
    var handler: any LogHandler
    let label: String
    let now: @Sendable () -> String
    let kept: RecentWarnings

    /// The metadata that says whom a line is about. Users aren't among them.
    private static let subjects = ["service", "app", "webhook", "shard", "node", "peer", "address"]

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }
    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }
    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        handler.log(event: event)
        guard event.level >= .warning else { return }
        let metadata = LogMetadata.effective(handler.metadata, handler.metadataProvider, event)
        let subject = Self.subjects.compactMap { name in metadata[name].map { "\(name)=\($0)" } }
        kept.add(
            RecentWarnings.Line(
                time: now(), level: event.level.rawValue, logger: label, message: "\(event.message)",
                subject: subject.isEmpty ? nil : subject.joined(separator: " "),
                cause: ["cause", "reason", "error"].lazy.compactMap { metadata[$0] }.first.map { "\($0)" }))
    }
}
