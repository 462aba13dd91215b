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
            handler(label: label, isText: isText, level: level) { LogOutput.process.add($0, to: .error) }
        }
        let output = handler(label: "log", isText: isText, level: level) { StandardStream.error.write($0) }
        LogOutput.process.onGap { lines in
            let logger = Logger(label: "log") { _ in output }
            logger.warning("lines of the log were dropped here", metadata: ["lines": "\(lines)"])
        }
    }

    private static func handler(
        label: String, isText: Bool, level: Logger.Level, write: @escaping @Sendable (String) -> Void
    ) -> any LogHandler {
        var handler: any LogHandler =
            isText
            ? TextLogHandler(label: label, now: Timestamp.now, write: write)
            : JSONLogHandler(label: label, now: Timestamp.now, write: write)
        handler.logLevel = level
        return WarningLogHandler(handler: handler, label: label, now: Timestamp.now, kept: .process)
    }
}
