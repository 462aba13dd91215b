import ArgumentParser

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look into an app.",
        subcommands: [DoctorRecordCommand.self, DoctorMigrateCommand.self],
        defaultSubcommand: DoctorRecordCommand.self)
}
