import Foundation

/// Files that only the user of the process may read, whatever its umask is. What apps keep is nobody else's
/// business on the machine, and the umask of a shell lets everybody read.
enum PrivateFile {
    private static let mode: mode_t = 0o600

    /// Makes an empty file where there is none, and takes a present one from all others. Returns the error of
    /// the system if there is no file afterwards.
    ///
    /// A present file isn't opened: to close it would release the locks that SQLite holds on it in this
    /// process.
    static func make(_ path: String) -> Int32? {
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode)
        guard descriptor < 0 else {
            fchmod(descriptor, mode)
            close(descriptor)
            return nil
        }
        guard errno == EEXIST else { return errno }
        restrict(path)
        return nil
    }

    /// Has the names in the file's directory reach the disk: a new name lasts over a power cut afterwards.
    /// Returns the error of the system.
    static func keep(directoryOf path: String) -> Int32? {
        let directory = (path as NSString).deletingLastPathComponent
        let descriptor = open(directory.isEmpty ? "." : directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 ? nil : errno
    }

    /// Takes a file from all others, if it is there and belongs to this user.
    static func restrict(_ path: String) { chmod(path, mode) }
}
