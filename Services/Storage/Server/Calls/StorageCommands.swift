import Foundation
import RTMServiceKit

/// The commands that an operator may run instead of the service. All but `restore` work beside a running
/// service.
enum StorageCommands {
    static func all(
        data: ConfigurationKey<String>, _ engine: (any DatabaseEngine)?
    ) -> [ProgramCommand] {
        [
            ProgramCommand(
                "backup", argument: "FILE",
                "Copies the database as it is at this moment to a new file, and checks the copy."
            ) { call in
                try checkFile("backup", call.configuration)
                let (path, target) = (try present(data, call.configuration), call.argument)
                do throws(StoreFailure) {
                    try SQLiteMaintenance.backup(path, to: target)
                } catch {
                    throw ServiceFailure.unavailable("backup of \(path)", error.reason)
                }
                return .init("\(path) was copied to \(target)\n")
            },
            ProgramCommand(
                "restore", argument: "FILE", options: [.init("force")],
                "Checks a backup and makes a copy of it the database. The service may not run meanwhile."
            ) { call in
                try checkFile("restore", call.configuration)
                let (path, backup) = (file(call.configuration[data]), call.argument)
                try DataDirectory(data, call.configuration).hold {
                    do throws(StoreFailure) {
                        try SQLiteMaintenance.restore(
                            backup, to: path, replacing: call.options["force"] != nil)
                    } catch {
                        throw ServiceFailure.unavailable("restore of \(backup)", error.reason)
                    }
                }
                return .init("\(backup) was restored to \(path). Start the service now\n")
            },
            ProgramCommand("check", "Reads the whole database and reports whether it is in order.") {
                call in
                try checkFile("check", call.configuration)
                let path = try present(data, call.configuration)
                let findings: [String]
                do throws(StoreFailure) {
                    findings = try SQLiteMaintenance.check(path)
                } catch {
                    throw ServiceFailure.unavailable("check of \(path)", error.sentence)
                }
                guard findings.isEmpty else {
                    let failure = StoreFailure(kind: .corrupt, reason: findings.joined(separator: "; "))
                    throw ServiceFailure.unavailable("check of \(path)", failure.sentence)
                }
                return .init("\(path) is in order\n")
            },
            ProgramCommand(
                "migrate", argument: "TARGET", options: [.init("force")],
                "Copies everything from the file to storage.database, or back, and compares every row. "
                    + "TARGET is database or file. No storage may run meanwhile."
            ) { call in try migrate(call, data, engine) },
        ]
    }

    private static func migrate(
        _ call: ProgramCommand.Call, _ data: ConfigurationKey<String>, _ engine: (any DatabaseEngine)?
    ) throws -> ProgramCommand.Result {
        guard let engine else {
            throw ServiceFailure.unavailable(
                "migrate", "this program was built without PostgreSQL: 'make build POSTGRESQL=1' builds one")
        }
        guard let target = MigrationTarget(rawValue: call.argument) else {
            throw ServiceFailure.unavailable(
                "migrate", "\(call.argument) is no target. Say database or file")
        }
        guard let url = call.configuration[StorageKeys.database] else {
            throw ServiceFailure.unavailable(
                "migrate", "storage.database isn't set. Name the database as postgres://…")
        }
        let isToDatabase = target == .database
        let path = isToDatabase ? try present(data, call.configuration) : file(call.configuration[data])
        return try DataDirectory(data, call.configuration).hold {
            do throws(StoreFailure) {
                let copied = try engine.migrate(
                    to: target, file: path, DatabaseSettings(call.configuration, url: url),
                    replacing: call.options["force"] != nil)
                let rows = copied.filter { $0.rows > 0 }.map { "\($0.table): \($0.rows)\n" }.joined()
                let (from, to) = isToDatabase ? (path, "storage.database") : ("storage.database", path)
                return .init(
                    "\(rows)\(from) was copied to \(to), and every row was compared. "
                        + "Start the service now, \(isToDatabase ? "with" : "without") storage.database\n"
                )
            } catch {
                throw ServiceFailure.unavailable("migrate", error.sentence)
            }
        }
    }

    private static func checkFile(
        _ command: String, _ configuration: Configuration
    ) throws(ServiceFailure) {
        guard configuration[StorageKeys.database] != nil else { return }
        throw .unavailable(
            command,
            "storage.database is PostgreSQL, which has its own means: pg_dump, pg_basebackup and "
                + "pg_restore")
    }

    /// The path of the database in a data directory.
    static func file(_ directory: String) -> String { directory + "/storage.db" }

    /// The path of a database that is there.
    private static func present(
        _ data: ConfigurationKey<String>, _ configuration: Configuration
    ) throws(ServiceFailure) -> String {
        let path = file(configuration[data])
        if FileManager.default.fileExists(atPath: path) { return path }
        let key = data.declaration.name
        throw .unavailable(
            key, "there is no database \(path). Set \(key) to the directory that the service uses")
    }
}
