import CSQLite
import RTMTestSupport

/// A disk that loses its power: after that, data that SQLite has written without syncing may be there, or
/// not, or in part.
///
/// It is a file system of SQLite's (a VFS) in front of the usual one. Everything is done there as asked, and
/// beside it each file of the database is kept as the last sync left it, with the writes since. At the cut a
/// part of those is chosen, in pieces of 512 bytes and in no order, as disks do it. What a process sees while
/// it runs doesn't depend on the disk, so shared memory and locks are the usual ones.
final class PowerCutDisk {
    /// The name for `SQLiteOptions.fileSystem`.
    let name: String
    /// When the power is cut: at the write, truncation or sync with this number.
    let cutAt: Int
    private(set) var steps = 0
    /// By path: the file's content after the cut; nil before it.
    private(set) var remains: [String: [UInt8]]?
    private var random: SeededGenerator
    private var images: [String: Image] = [:]

    private let real: UnsafeMutablePointer<sqlite3_vfs>
    private let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    private let nameBytes: UnsafeMutablePointer<CChar>

    init?(cutAt: Int, seed: UInt64) {
        guard let real = sqlite3_vfs_find(nil) else { return nil }
        self.real = real
        self.cutAt = cutAt
        random = SeededGenerator(seed: seed)
        name = "power-cut-\(UInt64.random(in: 0 ... .max))"
        let characters = Array(name.utf8CString)
        nameBytes = .allocate(capacity: characters.count)
        nameBytes.initialize(from: characters, count: characters.count)
        methods.initialize(to: Self.methods)
        var own = real.pointee
        own.zName = UnsafePointer(nameBytes)
        own.pNext = nil
        own.szOsFile = Int32(CutFile.size) + real.pointee.szOsFile
        system.initialize(to: own)
        system.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
        system.pointee.xOpen = { PowerCutDisk.of($0).open($1, $2, $3, $4) }
        system.pointee.xDelete = { PowerCutDisk.of($0).delete($1, $2) }
        sqlite3_vfs_register(system, 0)
    }

    deinit {
        sqlite3_vfs_unregister(system)
        system.deallocate()
        methods.deallocate()
        nameBytes.deallocate()
    }

    private static func of(_ system: UnsafeMutablePointer<sqlite3_vfs>?) -> PowerCutDisk {
        guard let state = system?.pointee.pAppData else { preconditionFailure("not a file system of ours") }
        return Unmanaged<PowerCutDisk>.fromOpaque(state).takeUnretainedValue()
    }

    // MARK: Files

    private func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ flagsOut: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file else { return SQLITE_CANTOPEN }
        let memory = UnsafeMutableRawPointer(file)
        let realFile = (memory + CutFile.size).assumingMemoryBound(to: sqlite3_file.self)
        realFile.pointee.pMethods = nil
        file.pointee.pMethods = nil
        let code = real.pointee.xOpen(real, path, realFile, flags, flagsOut)
        guard code == SQLITE_OK else { return code }
        var image: Image?
        if let path, flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL) != 0 {
            image = self.image(String(cString: path), of: realFile)
        }
        memory.assumingMemoryBound(to: CutFile.self).initialize(
            to: CutFile(
                base: sqlite3_file(pMethods: methods), real: realFile, disk: .passUnretained(self),
                image: image.map { .passUnretained($0) }))
        return SQLITE_OK
    }

    /// A file that is there when it is opened has been there for long.
    private func image(_ path: String, of file: UnsafeMutablePointer<sqlite3_file>) -> Image {
        if let known = images[path] { return known }
        let image = Image()
        var size: Int64 = 0
        _ = file.pointee.pMethods.pointee.xFileSize(file, &size)
        image.synced = Array(repeating: 0, count: Int(size))
        _ = file.pointee.pMethods.pointee.xRead(file, &image.synced, Int32(size), 0)
        images[path] = image
        return image
    }

    private func delete(_ path: UnsafePointer<CChar>?, _ syncsDirectory: Int32) -> Int32 {
        if let path { images[String(cString: path)] = nil }
        return real.pointee.xDelete(real, path, syncsDirectory)
    }

    // MARK: The cut

    fileprivate func step() {
        steps += 1
        guard steps == cutAt else { return }
        let manner = Image.Loss.allCases.randomElement(using: &random) ?? .all
        remains = images.mapValues { $0.remains(manner, &random) }
    }
}

/// One file as it would be found after a power cut.
private final class Image {
    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(Int)
    }

    /// What happens to changes that were not synced.
    enum Loss: CaseIterable {
        case all, none, latest, some
    }

    private static let sector = 512
    var synced: [UInt8] = []
    var changes: [Change] = []

    func sync() {
        for change in changes { Self.apply(change, to: &synced) }
        changes = []
    }

    func remains(_ loss: Loss, _ random: inout SeededGenerator) -> [UInt8] {
        var content = synced
        let kept = loss == .latest ? Int.random(in: 0...changes.count, using: &random) : changes.count
        for change in changes.prefix(loss == .all ? 0 : kept) {
            guard loss == .some else {
                Self.apply(change, to: &content)
                continue
            }
            for piece in Self.pieces(of: change) where random.chance(1, in: 2) {
                Self.apply(piece, to: &content)
            }
        }
        return content
    }

    private static func pieces(of change: Change) -> [Change] {
        guard case .write(let offset, let bytes) = change else { return [change] }
        var pieces: [Change] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + sector - (offset + start) % sector)
            pieces.append(.write(offset: offset + start, bytes: Array(bytes[start..<end])))
            start = end
        }
        return pieces
    }

    private static func apply(_ change: Change, to content: inout [UInt8]) {
        switch change {
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if content.count < end { content += Array(repeating: 0, count: end - content.count) }
            content.replaceSubrange(offset..<end, with: bytes)
        case .truncate(let size):
            if content.count > size { content.removeLast(content.count - size) }
        }
    }
}

/// What SQLite holds for an open file; the part of the usual file system lies behind it.
private struct CutFile {
    /// Where SQLite finds the methods.
    var base: sqlite3_file
    let real: UnsafeMutablePointer<sqlite3_file>
    let disk: Unmanaged<PowerCutDisk>
    /// Nil for files that are of no use after a restart.
    let image: Unmanaged<Image>?

    static var size: Int { (MemoryLayout<CutFile>.stride + 15) / 16 * 16 }

    static func of(_ file: UnsafeMutablePointer<sqlite3_file>?) -> CutFile {
        guard let file else { preconditionFailure("SQLite gave no file") }
        return UnsafeMutableRawPointer(file).assumingMemoryBound(to: CutFile.self).pointee
    }

    var methods: sqlite3_io_methods { real.pointee.pMethods.pointee }

    func changed(_ change: Image.Change) {
        guard let image = image?.takeUnretainedValue() else { return }
        image.changes.append(change)
        disk.takeUnretainedValue().step()
    }
}

extension PowerCutDisk {
    fileprivate static var methods: sqlite3_io_methods {
        var methods = sqlite3_io_methods()
        // This file system has shared memory, but no files that are mapped into it.
        methods.iVersion = 2
        methods.xClose = { file in
            let file = CutFile.of(file)
            return file.methods.xClose(file.real)
        }
        methods.xRead = { file, bytes, count, offset in
            let file = CutFile.of(file)
            return file.methods.xRead(file.real, bytes, count, offset)
        }
        methods.xWrite = { file, bytes, count, offset in
            let file = CutFile.of(file)
            let content = Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            let code = file.methods.xWrite(file.real, bytes, count, offset)
            file.changed(.write(offset: Int(offset), bytes: content))
            return code
        }
        methods.xTruncate = { file, size in
            let file = CutFile.of(file)
            let code = file.methods.xTruncate(file.real, size)
            file.changed(.truncate(Int(size)))
            return code
        }
        methods.xSync = { file, _ in
            let file = CutFile.of(file)
            guard let image = file.image?.takeUnretainedValue() else { return SQLITE_OK }
            // The true disk is not asked to sync, because no true power is cut.
            file.disk.takeUnretainedValue().step()
            image.sync()
            return SQLITE_OK
        }
        methods.xFileSize = { file, size in
            let file = CutFile.of(file)
            return file.methods.xFileSize(file.real, size)
        }
        passLocks(&methods)
        return methods
    }

    private static func passLocks(_ methods: inout sqlite3_io_methods) {
        methods.xLock = { file, level in
            let file = CutFile.of(file)
            return file.methods.xLock(file.real, level)
        }
        methods.xUnlock = { file, level in
            let file = CutFile.of(file)
            return file.methods.xUnlock(file.real, level)
        }
        methods.xCheckReservedLock = { file, answer in
            let file = CutFile.of(file)
            return file.methods.xCheckReservedLock(file.real, answer)
        }
        methods.xFileControl = { file, operation, argument in
            let file = CutFile.of(file)
            return file.methods.xFileControl(file.real, operation, argument)
        }
        methods.xSectorSize = { file in
            let file = CutFile.of(file)
            return file.methods.xSectorSize(file.real)
        }
        methods.xDeviceCharacteristics = { file in
            let file = CutFile.of(file)
            return file.methods.xDeviceCharacteristics(file.real)
        }
        methods.xShmMap = { file, region, size, extends, memory in
            let file = CutFile.of(file)
            return file.methods.xShmMap(file.real, region, size, extends, memory)
        }
        methods.xShmLock = { file, offset, count, flags in
            let file = CutFile.of(file)
            return file.methods.xShmLock(file.real, offset, count, flags)
        }
        methods.xShmBarrier = { file in
            let file = CutFile.of(file)
            file.methods.xShmBarrier(file.real)
        }
        methods.xShmUnmap = { file, deletes in
            let file = CutFile.of(file)
            return file.methods.xShmUnmap(file.real, deletes)
        }
    }
}
