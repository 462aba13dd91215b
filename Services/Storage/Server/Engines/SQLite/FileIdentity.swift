import Foundation

/// Which file a path leads to. Another file under the same path has another identity, and so has a copy.
struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64

    /// Nil if there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
