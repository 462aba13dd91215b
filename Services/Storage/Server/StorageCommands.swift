import RTMServiceKit

/// The commands that an operator may run instead of the service. Each one works beside a running service.
enum StorageCommands {
    static func all(data: ConfigurationKey<String>) -> [ProgramCommand] {
        [
            ProgramCommand(
                "backup", argument: "FILE",
                "Copies the database as it is at this moment to a new file, and checks the copy."
            ) { configuration, target in
                let path = file(configuration[data])
                do throws(StoreFailure) {
                    try SQLiteMaintenance.backup(path, to: target)
                } catch {
                    throw ServiceFailure.unavailable("backup of \(path)", error)
                }
                return "\(path) was copied to \(target)\n"
            },
            ProgramCommand("check", "Reads the whole database and reports whether it is in order.") {
                configuration, _ in
                let path = file(configuration[data])
                let findings: [String]
                do throws(StoreFailure) {
                    findings = try SQLiteMaintenance.check(path)
                } catch {
                    throw ServiceFailure.unavailable("check of \(path)", error)
                }
                guard findings.isEmpty else {
                    throw ServiceFailure.unavailable("check of \(path)", Findings(findings))
                }
                return "\(path) is in order\n"
            },
        ]
    }

    /// The path of the database in a data directory.
    static func file(_ directory: String) -> String { directory + "/storage.db" }

    private struct Findings: Error, CustomStringConvertible {
        let description: String

        init(_ findings: [String]) { description = findings.joined(separator: "; ") }
    }
}
