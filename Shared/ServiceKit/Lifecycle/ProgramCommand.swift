/// Something that a program does instead of running its services: `rtm-storage backup FILE`. It reads the
/// configuration as a run would.
package struct ProgramCommand: Sendable {
    package let name: String
    /// What has to follow the name, in words of the help; nil: nothing.
    let argument: String?
    let summary: String
    /// Returns what is to be said at the end; a failure decides the exit status.
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
