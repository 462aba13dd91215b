import RTMServiceKit

/// What an operator may ask for instead of running the service; each works beside a running one.
enum StorageCommands {
    static func all(data: ConfigurationKey<String>) -> [ProgramCommand] {
        [
            ProgramCommand(
                "backup", argument: "FILE",
                "Copies the database, as of this moment, to a new file, and checks the copy."
            ) { configuration, target in
                let path = file(configuration[data])
                do throws(StoreFailure) {
                    try SQLiteMaintenance.backup(path, to: target)
                } catch {
                    throw ServiceFailure.unavailable("backup of \(path)", error)
                }
                return "\(path) is copied to \(target)\n"
            },
            ProgramCommand("check", "Reads the whole database and says whether it is in order.") {
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

    /// The database within a data directory.
    static func file(_ directory: String) -> String { directory + "/storage.db" }

    private struct Findings: Error, CustomStringConvertible {
        let description: String

        init(_ findings: [String]) { description = findings.joined(separator: "; ") }
    }
}
