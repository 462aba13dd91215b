import Foundation
import NIOCore
import RTMModel

/// An open file of an outbox. Every call blocks until the disk has what is written.
///
/// No other process, and no other client of this one, can open the same file meanwhile. A value of this type
/// is what the file is after a call; earlier values aren't used any more.
struct OutboxFile: Sendable {
    private let path: String
    private let owner: OutboxOwner
    private let handle: FileHandle
    /// Up to here the file is whole. What lies behind it is what a failed call has left.
    private var byteCount: Int
    /// How long the file was when it was written anew.
    private var compactByteCount: Int

    /// Opens the file, or makes a new one.
    ///
    /// - Throws: `.invalidParameter` (-10014) for a file that isn't this user's outbox,
    ///   `.duplicateOperation` (-10017) for one that is open already, `.initServiceFailed` (-10007) if it
    ///   can't be read and written.
    static func open(_ path: String, owner: OutboxOwner) throws(RTMError) -> (OutboxFile, OutboxContent) {
        do {
            let handle = try lock(path)
            let file = try handle.readToEnd() ?? Data()
            // Empty is what nobody has written to, and what died right after it was made.
            guard !file.isEmpty else {
                let new = OutboxFile(
                    path: path, owner: owner, handle: handle, byteCount: 0, compactByteCount: 0)
                return (try new.rewritten([]), OutboxContent())
            }
            let content = try OutboxContent(of: file, owner: owner)
            let opened = OutboxFile(
                path: path, owner: owner, handle: handle, byteCount: content.byteCount,
                compactByteCount: content.byteCount)
            return (opened, content)
        } catch let error as RTMError {
            throw error
        } catch {
            let cause = (error as? IOError).map { Sockets.words(forErrno: $0.errnoCode) }
            throw RTMError(
                .initServiceFailed,
                "the outbox '\(path)' can't be opened: \(cause ?? error.localizedDescription)")
        }
    }

    private init(path: String, owner: OutboxOwner, handle: FileHandle, byteCount: Int, compactByteCount: Int)
    {
        self.path = path
        self.owner = owner
        self.handle = handle
        self.byteCount = byteCount
        self.compactByteCount = compactByteCount
    }

    /// Whether it is mostly about messages that have ended.
    var isWorthRewriting: Bool { byteCount > 64 * 1_024 + 2 * compactByteCount }

    func appended(_ records: [OutboxRecord]) throws -> OutboxFile {
        let lines = Self.lines(records)
        try handle.truncate(atOffset: UInt64(byteCount))
        do {
            try handle.write(contentsOf: lines)
            try handle.synchronize()
        } catch {
            // Nobody is to find what was said not to be taken.
            try? handle.truncate(atOffset: UInt64(byteCount))
            throw error
        }
        var file = self
        file.byteCount += lines.count
        return file
    }

    /// A new file with these records takes the place of the old one at once, so a crash leaves either.
    func rewritten(_ records: [OutboxRecord]) throws -> OutboxFile {
        let lines = owner.line + Self.lines(records)
        let draft = path + ".rewriting"
        let handle = try Self.lock(draft)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: lines)
        try handle.synchronize()
        let folder = try FileLock.Folder(of: path)
        try FileLock.move(draft, to: path)
        let file = OutboxFile(
            path: path, owner: owner, handle: handle, byteCount: lines.count, compactByteCount: lines.count)
        do { try folder.synchronize() } catch { throw Unsure(file: file, cause: error) }
        return file
    }

    /// The new file is in its place, and nobody knows whether a loss of power would bring the old one back.
    struct Unsure: Error, CustomStringConvertible {
        let file: OutboxFile
        let cause: any Error

        var description: String { "\(cause)" }
    }

    /// Others may open the file at once, whoever still has a copy of this value.
    func close() { try? handle.close() }

    private static func lock(_ path: String) throws -> FileHandle {
        guard let handle = try FileLock.take(path) else {
            throw RTMError(.duplicateOperation, "the file \(path) is open already")
        }
        return handle
    }

    private static func lines(_ records: [OutboxRecord]) -> Data {
        records.reduce(into: Data()) { $0 += $1.line }
    }
}
