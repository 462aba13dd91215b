internal import Logging
internal import Synchronization

/// Has a running program take over a changed configuration: on SIGHUP, and when a file changes that the
/// configuration was read from or names.
final class Reloading: Sendable {
    /// How often the files are looked at.
    private static let interval = Duration.seconds(2)

    private let live: LiveConfiguration
    private let load: @Sendable () throws(ConfigurationError) -> Configuration
    private let logger: Logger
    private let watch: Mutex<FileWatch<[String: FileStamp]>>
    /// The files as they were when the configuration in use was read.
    private let taken: Mutex<[String: FileStamp]>

    init(
        _ live: LiveConfiguration, logger: Logger,
        load: @escaping @Sendable () throws(ConfigurationError) -> Configuration
    ) {
        self.live = live
        self.load = load
        self.logger = logger
        let stamps = FileStamp.all(of: live.present.files)
        watch = Mutex(FileWatch(stamps))
        taken = Mutex(stamps)
    }

    /// Looks at the files until the task is cancelled.
    func run(every interval: Duration = Reloading.interval) async throws {
        while true {
            try await Task.sleep(for: interval)
            let stamps = FileStamp.all(of: live.present.files)
            if watch.withLock({ $0.look(stamps) }) { reload(because: "a file has changed") }
        }
    }

    /// Reads everything again. What can't be used changes nothing, and the log has the reason.
    func reload(because cause: String) {
        do {
            let next = try load()
            let stamps = FileStamp.all(of: next.files)
            let before = taken.withLock { $0 }
            let renewed = stamps.filter { path, stamp in before[path].map { $0 != stamp } ?? false }
            let change = try live.change(to: next, renewedFiles: Set(renewed.keys))
            taken.withLock { $0 = stamps }
            var facts: Logger.Metadata = [
                "cause": "\(cause)", "changed": .array(change.taken.map { "\($0)" }),
            ]
            if !change.postponed.isEmpty {
                facts["after restart"] = .array(change.postponed.map { "\($0)" })
            }
            logger.notice("configuration reloaded", metadata: facts)
        } catch let error as ConfigurationError {
            for problem in error.problems { refuse("\(problem)", cause) }
        } catch {
            refuse(ServiceFailure(error).cause, cause)
        }
    }

    private func refuse(_ problem: String, _ cause: String) {
        logger.error("configuration not reloaded", metadata: ["cause": "\(cause)", "problem": "\(problem)"])
    }
}
