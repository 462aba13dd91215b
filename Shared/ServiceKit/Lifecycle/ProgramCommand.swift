/// A command that a program carries out instead of running its services: `rtm-storage backup FILE`. It reads
/// the configuration as a run would.
package struct ProgramCommand: Sendable {
    package let name: String
    /// The help's word for the argument that has to follow the name; nil if there is none.
    let argument: String?
    let summary: String
    /// Returns the text to print at the end. A failure decides the exit status.
    let run: @Sendable (Configuration, String) throws -> String

    package init(
        _ name: String, argument: String? = nil, _ summary: String,
        run: @escaping @Sendable (Configuration, String) throws -> String
    ) {
        self.name = name
        self.argument = argument
        self.summary = summary
        self.run = run
    }

    var usage: String { argument.map { "\(name) \($0)" } ?? name }
}
