// What Foundation has no call for: a file that only one may have open, and a rename that lasts.

import Foundation
import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Darwin
#endif

enum FileLock {
    /// Opens a file for reading and writing, and makes it if it isn't there, for this user of the system
    /// alone. It is locked until the handle is released or the process ends.
    ///
    /// - Returns: `nil` if it is locked already.
    static func take(_ path: String) throws -> FileHandle? {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw failure("open") }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                guard errno == EWOULDBLOCK else { throw failure("lock") }
                return nil
            }
            // Who had it may have put another file in its place before this one was locked.
            if isFile(descriptor, at: path) { return handle }
        }
    }

    private static func isFile(_ descriptor: CInt, at path: String) -> Bool {
        var opened = stat()
        var present = stat()
        return fstat(descriptor, &opened) == 0 && stat(path, &present) == 0
            && opened.st_ino == present.st_ino && opened.st_dev == present.st_dev
    }

    /// Puts a file in the place of another one. It has a place in no backup of the device, because what was
    /// published since then would be published again.
    static func move(_ path: String, to target: String) throws {
        #if canImport(Darwin)
            var file = URL(fileURLWithPath: path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try file.setResourceValues(values)
        #endif
        guard rename(path, target) == 0 else { throw failure("rename") }
    }

    /// A folder whose list of files is to be on the disk.
    struct Folder {
        private let handle: FileHandle

        init(of path: String) throws {
            let descriptor = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw failure("open the folder") }
            handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }

        func synchronize() throws {
            guard fsync(handle.fileDescriptor) == 0 else { throw failure("write the folder") }
        }
    }

    private static func failure(_ call: String) -> IOError { IOError(errnoCode: errno, reason: call) }
}
