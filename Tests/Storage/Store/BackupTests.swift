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
                try replaceDatabase(of: directory, by: copy)
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
        _ caller: StorageCaller, _ body: () async throws -> Void
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

    private func replaceDatabase(of directory: String, by copy: String) throws {
        let files = FileManager.default
        for name in ["storage.db", "storage.db-wal", "storage.db-shm"] {
            try? files.removeItem(atPath: directory + "/data/" + name)
        }
        try files.moveItem(atPath: copy, toPath: directory + "/data/storage.db")
    }
}
