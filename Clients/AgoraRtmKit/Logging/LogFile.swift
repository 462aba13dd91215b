// The file that `AgoraRtmLogConfig` names: a file with a bound, and a few older ones beside it (L-48, N-7).

import NIOConcurrencyHelpers

/// A log file. When it is full, it becomes the first of the older files, and the oldest of those is removed.
///
/// A record is in the file when `write` returns, so that the records before a crash are there. All clients of
/// a process that name one path share one object, because each of them may find the file full.
final class LogFile: Sendable {
    /// How many older files stay beside the newest: `agora.log.1`, which is the newest of them, to
    /// `agora.log.4`.
    static let olderMax = 4
    /// The name of the file, where only a folder is named.
    static let defaultName = "agora.log"

    private struct Contents {
        var handle: FileHandle
        var bytes: Int
        /// Records that couldn't be written, for example because the disk was full.
        var lost = 0
    }

    private let path: String
    private let contents: NIOLockedValueBox<Contents>

    private init(path: String) throws {
        self.path = path
        contents = NIOLockedValueBox(try Self.open(path))
    }

    // MARK: Opening

    private struct WeakFile {
        weak var file: LogFile?
    }

    private static let files = NIOLockedValueBox<[String: WeakFile]>([:])

    /// Opens the file behind what it has already, and makes the folders on the way to it.
    ///
    /// - Parameter path: a file, or a folder, which is one that exists or that ends with a slash.
    static func at(_ path: String) throws -> LogFile {
        let path = complete(path)
        return try files.withLockedValue { files in
            if let file = files[path]?.file { return file }
            files = files.filter { $0.value.file != nil }
            let file = try LogFile(path: path)
            files[path] = WeakFile(file: file)
            return file
        }
    }

    private static func complete(_ path: String) -> String {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        let namesFolder = path.hasSuffix("/") || exists && isFolder.boolValue
        return namesFolder ? url.appendingPathComponent(defaultName).path : url.path
    }

    private static func open(_ path: String) throws -> Contents {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: path) {
            // Who talks with whom is nobody else's business on the machine.
            let isMade = FileManager.default.createFile(
                atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            guard isMade else { throw CocoaError(.fileWriteUnknown) }
        }
        let handle = try FileHandle(forWritingTo: url)
        return Contents(handle: handle, bytes: Int(try handle.seekToEnd()))
    }

    // MARK: Writing

    /// - Parameters:
    ///   - record: one line without its end.
    ///   - bytesMax: how long the file may become. A longer record is cut.
    func write(_ record: String, bytesMax: Int) {
        contents.withLockedValue { contents in
            do {
                if contents.lost > 0 {
                    try add("\(contents.lost) records could not be written", to: &contents, bytesMax)
                    contents.lost = 0
                }
                try add(record, to: &contents, bytesMax)
            } catch {
                contents.lost += 1
            }
        }
    }

    private func add(_ record: String, to contents: inout Contents, _ bytesMax: Int) throws {
        let line = Data(record.utf8.prefix(bytesMax - 1)) + Data("\n".utf8)
        if contents.bytes > 0, contents.bytes + line.count > bytesMax { try rotate(&contents) }
        try contents.handle.write(contentsOf: line)
        contents.bytes += line.count
    }

    private func rotate(_ contents: inout Contents) throws {
        let files = FileManager.default
        try? files.removeItem(atPath: older(Self.olderMax))
        for number in stride(from: Self.olderMax - 1, through: 1, by: -1)
        where files.fileExists(atPath: older(number)) {
            try files.moveItem(atPath: older(number), toPath: older(number + 1))
        }
        try files.moveItem(atPath: path, toPath: older(1))
        let lost = contents.lost
        contents = try Self.open(path)
        contents.lost = lost
    }

    private func older(_ number: Int) -> String { "\(path).\(number)" }
}
