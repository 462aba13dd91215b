import ArgumentParser
import RTMModel

/// The words of a command line that choose a command, checked before the options are: a mistyped word gets a
/// suggestion instead of a page of help.
enum CommandName {
    /// Words that every level takes besides its subcommands.
    private static let always: Set<String> = ["help"]

    /// Returns what is wrong with the words, or nil if they choose a command or ask for help.
    static func refusal(
        of arguments: some Sequence<String>, in command: any ParsableCommand.Type
    ) -> ValidationError? {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty, let word = arguments.first(where: { _ in true }), !word.hasPrefix("-")
        else { return nil }
        if let next = subcommands.first(where: { name(of: $0) == word }) {
            return refusal(of: arguments.dropFirst(), in: next)
        }
        guard !always.contains(word) else { return nil }
        let hint = NearestName.hint(for: word, among: subcommands.map { name(of: $0) })
        return ValidationError("there is no command '\(word)'\(hint)")
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? ""
    }
}
