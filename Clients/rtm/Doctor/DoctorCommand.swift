import ArgumentParser

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look for what is wrong: with the connection, or in an app.",
        subcommands: [DoctorCheckCommand.self, DoctorRecordCommand.self, DoctorMigrateCommand.self],
        defaultSubcommand: DoctorCheckCommand.self)
}
