import Foundation
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// The steps of docs/operations/storage.md for an operator, with the real program.
@Suite("Backup and restore by the command line", .serialized)
struct BackupTests {
    @Test("a backup of a busy service is one state of it; restored, the service goes on from there")
    func restore() async throws {
        try await withDirectory { directory in
            try await LogHost.with { host in
                let copy = directory + "/copy.db"
                try await host.withStorage(directory) { process, caller in
                    try await caller.setLock(ttl: 300)
                    let token = try await caller.acquire(by: .user("anna"))
                    let written = try await writeDuring(caller) {
                        #expect(try await run("backup", [copy], directory).status == 0)
                        let again = try await run("backup", [copy], directory)
                        #expect(again.status == 3 && again.log.contains("exists already"))
                        #expect(try await run("check", [], directory).status == 0)
                    }
                    #expect(written > 0 && token > 0)
                    process.signal(SIGTERM)
                    #expect(try await process.exit() == 0, "\(process.log)")
                }
                // As after a crash: the log of the database that is replaced must not come into the new one.
                let log = directory + "/data/storage.db-wal"
                try Data(repeating: 1, count: 100_000).write(to: URL(fileURLWithPath: log))
                let refused = try await run("restore", [copy], directory)
                #expect(refused.status == 3 && refused.log.contains("--force"), "\(refused.log)")
                #expect(FileManager.default.fileExists(atPath: log))
                let restored = try await run("restore", [copy, "--force"], directory)
                #expect(restored.status == 0, "\(restored.log)")
                #expect(!FileManager.default.fileExists(atPath: log))
                try await host.withStorage(directory) { process, caller in
                    let set = try await caller.metadata()
                    #expect(Set(set.items.map(\.value)).count <= 1, "both items are of one write")
                    #expect(try await caller.locks().locks.map(\.owner) == ["anna"])
                    let log = try await host.reader([.message("lobby")])
                    let next = try await caller.write([("a", "restored"), ("b", "restored")])
                    #expect(next == set.majorRevision + 1)
                    // The number was given before, to an event of the database that is gone.
                    try await eventually("the event is announced") {
                        log.storageEvents.contains { $0.items.allSatisfy { $0.value == "restored" } }
                    }
                    try await log.close()
                    process.signal(SIGTERM)
                    #expect(try await process.exit() == 0, "\(process.log)")
                }
            }
        }
    }

    @Test("the check of a file without tables says that it is empty and ends with 3")
    func empty() async throws {
        try await withDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory + "/data", withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: directory + "/data/storage.db"))
            let check = try await run("check", [], directory)
            #expect(check.status == 3)
            #expect(check.log.contains("storage.db is empty: it has no tables"), "\(check.log)")
        }
    }

    @Test("a stop with a connected client leaves the database and nothing of its log")
    func stopped() async throws {
        try await withDirectory { directory in
            try await LogHost.with { host in
                try await host.withStorage(directory) { process, caller in
                    _ = try await caller.write([("a", "1"), ("b", "1")])
                    _ = try await caller.metadata()
                    process.signal(SIGTERM)
                    #expect(try await process.exit() == 0, "\(process.log)")
                }
                let files = try FileManager.default.contentsOfDirectory(atPath: directory + "/data")
                #expect(files.filter { $0.hasPrefix("storage.db") } == ["storage.db"])
            }
        }
    }

    @Test("the check of a damaged file says so and ends with 3")
    func damaged() async throws {
        try await withDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory + "/data", withIntermediateDirectories: true)
            let path = directory + "/data/storage.db"
            try SQLiteWriter(SQLiteOptions(path: path)).close()
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            try file.seek(toOffset: 4_096)
            try file.write(contentsOf: Data(repeating: 0xFF, count: 8_192))
            try file.close()
            let check = try await run("check", [], directory)
            #expect(check.status == 3)
            #expect(check.log.contains("Put a backup in its place, or move it away to begin with an empty"))
            #expect(try await run("backup", [directory + "/copy.db"], directory).status == 3)
            #expect(!FileManager.default.fileExists(atPath: directory + "/copy.db"))
        }
    }

    @Test("without a database, or a place for the copy, a command says what to name")
    func missing() async throws {
        try await withDirectory { directory in
            let path = directory + "/data/storage.db"
            for (command, arguments) in [("check", []), ("backup", [directory + "/copy.db"])] {
                let outcome = try await run(command, arguments, directory)
                #expect(outcome.status == 3)
                #expect(
                    outcome.log == "storage.data: there is no database \(path). "
                        + "Set storage.data to the directory that the service uses\n")
            }
            try FileManager.default.createDirectory(
                atPath: directory + "/data", withIntermediateDirectories: true)
            try SQLiteWriter(SQLiteOptions(path: path)).close()
            let nowhere = try await run("backup", [directory + "/nowhere/copy.db"], directory)
            #expect(nowhere.status == 3)
            #expect(
                nowhere.log == "backup of \(path): \(directory)/nowhere/copy.db can't be written: "
                    + "No such file or directory. Name a file in a directory where this user may write\n")
        }
    }

    @Test(
        "a restore into an empty place makes the database; one that is in use stays as it is, even by force")
    func restoreInUse() async throws {
        try await withDirectory { directory in
            try await LogHost.with { host in
                let copy = directory + "/copy.db"
                try await host.withStorage(directory) { process, caller in
                    _ = try await caller.write([("a", "1"), ("b", "1")])
                    #expect(try await run("backup", [copy], directory).status == 0)
                    _ = try await caller.write([("a", "2"), ("b", "2")])
                    let inUse = try await run("restore", [copy, "--force"], directory)
                    #expect(inUse.status == 3)
                    #expect(inUse.log.contains("is in use by another process"), "\(inUse.log)")
                    let set = try await caller.metadata()
                    #expect(set.items.map(\.value) == ["2", "2"])
                    process.signal(SIGTERM)
                    #expect(try await process.exit() == 0, "\(process.log)")
                }
                try FileManager.default.removeItem(atPath: directory + "/data")
                #expect(try await run("restore", [copy], directory).status == 0)
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: directory + "/data/storage.db")
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                try await host.withStorage(directory) { process, caller in
                    let set = try await caller.metadata()
                    #expect(set.items.map(\.value) == ["1", "1"])
                    process.signal(SIGTERM)
                    #expect(try await process.exit() == 0, "\(process.log)")
                }
            }
        }
    }

    @Test("a file that can't be restored is refused with the reason, and the database before stays as it is")
    func unrestorable() async throws {
        try await withDirectory { directory in
            let (data, path) = (directory + "/data", directory + "/data/storage.db")
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
            try SQLiteWriter(SQLiteOptions(path: path)).close()
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            func file(_ name: String, _ change: (String) throws -> Void) throws -> String {
                let file = directory + "/" + name
                try SQLiteWriter(SQLiteOptions(path: file)).close()
                try change(file)
                return file
            }
            let damaged = try file("damaged.db") { file in
                let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
                try handle.seek(toOffset: 4_096)
                try handle.write(contentsOf: Data(repeating: 0xFF, count: 8_192))
                try handle.close()
            }
            func changed(_ name: String, _ sql: String) throws -> String {
                try file(name) { file in
                    let connection = try SQLiteConnection(path: file, .readWrite)
                    defer { connection.close() }
                    try connection.execute(sql)
                }
            }
            let cases = [
                (directory + "/nothing.db", "there is no file"), (path, "is the database of the service"),
                (damaged, "damaged"),
                (
                    try changed("newer.db", "PRAGMA user_version = \(SQLiteSchema.version + 1)"),
                    "has the schema \(SQLiteSchema.version + 1), this version knows up to"
                ), (try changed("other.db", "PRAGMA application_id = 7"), "a database of another program"),
            ]
            for (backup, reason) in cases {
                let restore = try await run("restore", [backup, "--force"], directory)
                #expect(restore.status == 3, "\(backup)")
                #expect(restore.log.contains(reason), "\(restore.log)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: data).sorted() == ["lock", "storage.db"])
        }
    }

    @Test("nobody else may read the database, what lies beside it and its copy, whatever the umask is")
    func permissions() async throws {
        try await withDirectory { directory in
            func mode(_ path: String) throws -> Int {
                let attributes = try FileManager.default.attributesOfItem(atPath: directory + path)
                return try #require(attributes[.posixPermissions] as? Int)
            }
            try await LogHost.with { host in
                for _ in 0..<2 {
                    try await host.withStorage(directory) { process, caller in
                        _ = try await caller.write([("a", "1"), ("b", "1")])
                        for file in ["storage.db", "storage.db-wal", "storage.db-shm", "lock"] {
                            #expect(try mode("/data/" + file) == 0o600, "\(file)")
                        }
                        #expect(try mode("/data") == 0o700)
                        process.signal(SIGTERM)
                        #expect(try await process.exit() == 0)
                    }
                    // What somebody has opened to all is closed again by the next start.
                    chmod(directory + "/data/storage.db", 0o644)
                }
            }
            #expect(try await run("backup", [directory + "/copy.db"], directory).status == 0)
            #expect(try mode("/copy.db") == 0o600)
        }
    }

    /// Writes two items with one value, again and again, until the body has ended. Returns how often it
    /// wrote.
    private func writeDuring(
        _ caller: StorageConnection, _ body: () async throws -> Void
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var count = 0
                while !Task.isCancelled {
                    count += 1
                    try await caller.write([("a", "\(count)"), ("b", "\(count)")])
                }
                return count
            }
            try await body()
            group.cancelAll()
            return try await group.next() ?? 0
        }
    }

    private func run(
        _ command: String, _ arguments: [String], _ directory: String
    ) async throws -> (status: Int32, log: String) {
        let process = try ServiceProcess(
            "rtm-storage", [command] + arguments + ["--data", directory + "/data"],
            directory: URL(fileURLWithPath: directory))
        return (try await process.exit(), process.log)
    }
}
