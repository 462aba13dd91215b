import Logging
import RTMModel

extension AgoraRtmLogConfig {
    /// The range of `fileSizeInKB` (L-48).
    private static let fileSizeRange: ClosedRange<Int32> = 128...1024

    /// - Returns: `nil` if nothing is to be logged.
    /// - Throws: `.initServiceFailed` (-10007) if the file can't be written.
    func logger() throws(RTMError) -> Logger? {
        guard let level = level.loggerLevel else { return nil }
        let label = "AgoraRtmKit"
        guard let filePath, !filePath.isEmpty else {
            var logger = Logger(label: label)
            logger.logLevel = level
            return logger
        }
        let file: LogFile
        do {
            file = try LogFile.at(filePath)
        } catch {
            throw RTMError(
                .initServiceFailed,
                "the log file '\(filePath)' can't be written: \(error.localizedDescription)",
                operation: "init")
        }
        let range = Self.fileSizeRange
        let kilobytes = Int(min(max(fileSizeInKB, range.lowerBound), range.upperBound))
        return Logger(label: label) { _ in
            FileLogHandler(file, bytesMax: kilobytes * 1024, level: level)
        }
    }
}

extension AgoraRtmLogLevel {
    fileprivate var loggerLevel: Logger.Level? {
        switch self {
        case .none: nil
        case .info: .info
        case .warn: .warning
        case .error: .error
        case .fatal: .critical
        }
    }
}
