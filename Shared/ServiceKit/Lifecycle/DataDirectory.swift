internal import Foundation
internal import Synchronization

/// The directory in which a process keeps its data. It is made when it is missing, and one process at a time
/// holds it.
package final class DataDirectory: Service {
    package let name = "data directory"
    private let path: String
    /// The key that names the directory.
    private let key: String
    /// Holds the lock as long as it is open. The system releases it with the process, however that ends.
    private let lock = Mutex<FileHandle?>(nil)

    package init(_ key: ConfigurationKey<String>, _ configuration: Configuration) {
        path = configuration[key]
        self.key = key.declaration.name
    }

    /// What `--check-config` says of the directory. Nothing is changed: the directory may be in use, and one
    /// that is missing stays so.
    package static func problem(_ key: ConfigurationKey<String>, _ configuration: Configuration)
        -> ConfigurationProblem?
    {
        let directory = DataDirectory(key, configuration)
        return directory.obstacle().map {
            ConfigurationProblem(
                key.declaration.name, from: "\(configuration.origin(of: key))", directory.sentence($0))
        }
    }

    package func start() async throws { try take() }

    package func shutdown(deadline: ContinuousClock.Instant) async { release() }

    /// Does what no other process may come into: makes the directory where it is missing, and holds it
    /// meanwhile.
    ///
    /// - Throws: a `ServiceFailure` if another process holds it, and what the body throws.
    package func hold<Result>(_ body: () throws -> Result) throws -> Result {
        try take()
        defer { release() }
        return try body()
    }

    private func take() throws(ServiceFailure) {
        if let error = make(path) { throw failure(.unmakeable(error)) }
        let descriptor = open(path + "/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(.unwritable(errno)) }
        // Under a umask of 0777 the file would have no mode, and the next start couldn't open it.
        fchmod(descriptor, 0o600)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw failure(.inUse) }
        lock.withLock { $0 = handle }
    }

    private func release() { lock.withLock { $0 = nil } }

    /// Makes the directory, and those above it, where they are missing. Returns the error of the system.
    private func make(_ path: String) -> Int32? {
        let error = makeOne(path)
        guard error == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            return error
        }
        return make(String(path[..<slash])) ?? makeOne(path)
    }

    /// Makes one directory, where it is missing. Nobody else may enter it, whatever the umask is.
    private func makeOne(_ path: String) -> Int32? {
        if mkdir(path, 0o700) == 0 {
            chmod(path, 0o700)
            return nil
        }
        let error = errno
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return error }
        return isDirectory.boolValue ? nil : ENOTDIR
    }

    /// Finds what would keep `start` from making the directory or writing there. Only an attempt shows it:
    /// for root, and on a volume that is mounted read-only, the mode bits say nothing.
    private func obstacle() -> Obstacle? {
        var nearest = path
        while access(nearest, F_OK) != 0, errno == ENOENT {
            let parent = (nearest as NSString).deletingLastPathComponent
            nearest = parent.isEmpty ? "." : parent
        }
        let lock = open(path + "/lock", O_RDWR | O_CLOEXEC)
        guard lock < 0 else {
            close(lock)
            return nil
        }
        guard errno == ENOENT else { return errno == ENOTDIR ? .unmakeable(ENOTDIR) : .unwritable(errno) }
        var attempt = Array((nearest + "/.rtm-check-XXXXXX").utf8CString)
        guard mkdtemp(&attempt) != nil else {
            return nearest == path ? .unwritable(errno) : .unmakeable(errno)
        }
        rmdir(attempt)
        return nil
    }

    /// Why the directory can't be used.
    private enum Obstacle {
        /// With the error of the system.
        case unmakeable(Int32)
        /// With the error of the system.
        case unwritable(Int32)
        case inUse
    }

    private func failure(_ obstacle: Obstacle) -> ServiceFailure { .unavailable(key, sentence(obstacle)) }

    private func sentence(_ obstacle: Obstacle) -> String {
        let (reason, advice) =
            switch obstacle {
            case .unmakeable(let error): ("can't be made: \(Self.words(error))", "let this user make it")
            case .unwritable(let error):
                ("can't be written: \(Self.words(error))", "let this user write there")
            case .inUse: ("is in use by another process", "end that one")
            }
        return "the directory \(path) \(reason). Set \(key) to another one, or \(advice)"
    }

    private static func words(_ error: Int32) -> String { String(cString: strerror(error)) }
}
