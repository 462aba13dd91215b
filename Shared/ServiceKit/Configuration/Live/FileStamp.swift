#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What changes when a file gets new content or is replaced. A link is followed, because mounted secrets are
/// links that are replaced as a whole.
struct FileStamp: Sendable, Hashable {
    let device: UInt64
    let number: UInt64
    let bytes: Int
    let seconds: Int
    let nanoseconds: Int

    /// Nil if there is no such file.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        bytes = Int(status.st_size)
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        seconds = time.tv_sec
        nanoseconds = time.tv_nsec
    }

    static func all(of paths: [String]) -> [String: FileStamp] {
        var stamps: [String: FileStamp] = [:]
        for path in paths { stamps[path] = FileStamp(of: path) }
        return stamps
    }
}

/// Finds out when files have changed and are complete. Pure: it is given what was seen.
///
/// A file may be seen while it is being written. So a change counts once the next look has found the same.
struct FileWatch<Stamps: Hashable & Sendable>: Sendable {
    private var known: Stamps
    private var seen: Stamps

    init(_ stamps: Stamps) {
        known = stamps
        seen = stamps
    }

    /// Returns whether the files have changed since the last time that this was true.
    mutating func look(_ stamps: Stamps) -> Bool {
        defer { seen = stamps }
        guard stamps != known, stamps == seen else { return false }
        known = stamps
        return true
    }
}
