package import Logging
internal import Synchronization

/// The one place that chooses the log handler of the process.
package enum LoggingBootstrap {
    private static let isDone = Atomic<Bool>(false)

    /// Has to be called before the first logger is made. Further calls do nothing, because tests run several
    /// programs in one process.
    package static func start(format: LogFormat, level: Logger.Level) {
        guard !isDone.exchange(true, ordering: .relaxed) else { return }
        let isText = format == .text || (format == .auto && StandardStream.error.isTerminal)
        LoggingSystem.bootstrap { label in
            handler(label: label, isText: isText, level: level)
        }
    }

    private static func handler(label: String, isText: Bool, level: Logger.Level) -> any LogHandler {
        let write: @Sendable (String) -> Void = { StandardStream.error.write($0) }
        var handler: any LogHandler =
            isText
            ? TextLogHandler(label: label, now: Timestamp.now, write: write)
            : JSONLogHandler(label: label, now: Timestamp.now, write: write)
        handler.logLevel = level
        return WarningLogHandler(handler: handler, label: label, now: Timestamp.now, kept: .process)
    }
}
