internal import Foundation
internal import Synchronization

/// The directory in which a process keeps its data. It is made when it is missing, and one process at a time
/// holds it.
package final class DataDirectory: Service {
    package let name = "data directory"
    private let path: String
    /// Holds the lock as long as it is open. The system releases it with the process, however that ends.
    private let lock = Mutex<FileHandle?>(nil)

    package init(path: String) { self.path = path }

    package func start() async throws {
        let file = path + "/lock"
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw ServiceFailure.unavailable("data directory \(path)", error)
        }
        let descriptor = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ServiceFailure.unavailable(
                "data directory \(path)", DataDirectoryRefusal(reason: "can't write \(file)"))
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw ServiceFailure.unavailable(
                "data directory \(path)", DataDirectoryRefusal(reason: "another process uses it"))
        }
        lock.withLock { $0 = handle }
    }

    package func shutdown(deadline: ContinuousClock.Instant) async { lock.withLock { $0 = nil } }
}

private struct DataDirectoryRefusal: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
}
