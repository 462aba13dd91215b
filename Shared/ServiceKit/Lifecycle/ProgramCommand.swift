/// A command that a program carries out instead of running its services: `rtm-storage backup FILE`. It reads
/// the configuration as a run would.
package struct ProgramCommand: Sendable {
    /// A flag of the command's own, beside those of the configuration.
    package struct Option: Sendable, Hashable {
        let name: String
        /// The help's word for the value; nil for a switch, which has none.
        let value: String?

        package init(_ name: String, value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    /// The arguments of the command.
    package struct Call: Sendable {
        package let configuration: Configuration
        /// Empty if the command takes none.
        package let argument: String
        /// The values of the options that are there, by name; empty for a switch.
        package let options: [String: String]

        package init(configuration: Configuration, argument: String, options: [String: String] = [:]) {
            self.configuration = configuration
            self.argument = argument
            self.options = options
        }
    }

    /// How the command ends.
    package struct Result: Sendable, Hashable {
        /// The text to print.
        package let text: String
        package let status: ExitCode

        package init(_ text: String, _ status: ExitCode = .ok) {
            self.text = text
            self.status = status
        }
    }

    package let name: String
    /// The help's word for the argument that has to follow the name; nil if there is none.
    let argument: String?
    let options: [Option]
    let summary: String
    /// A failure decides the exit status.
    package let run: @Sendable (Call) throws -> Result

    package init(
        _ name: String, argument: String? = nil, options: [Option] = [], _ summary: String,
        run: @escaping @Sendable (Call) throws -> Result
    ) {
        self.name = name
        self.argument = argument
        self.options = options
        self.summary = summary
        self.run = run
    }

    var usage: String {
        let words = options.map { option in "[--\(option.name)\(option.value.map { " \($0)" } ?? "")]" }
        return ([name] + (argument.map { [$0] } ?? []) + words).joined(separator: " ")
    }
}
