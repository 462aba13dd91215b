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
        if subcommands.isEmpty { return refusal(ofShortOptions: arguments) }
        guard let word = arguments.first(where: { _ in true }), !word.hasPrefix("-")
        else { return nil }
        if let next = subcommands.first(where: { name(of: $0) == word }) {
            return refusal(of: arguments.dropFirst(), in: next)
        }
        guard !always.contains(word) else { return nil }
        // Its first word is no command's name but an argument.
        if let usual = command.configuration.defaultSubcommand { return refusal(of: arguments, in: usual) }
        let hint = NearestName.hint(for: word, among: subcommands.map { name(of: $0) })
        return ValidationError("there is no command '\(word)'\(hint)")
    }

    /// The short options are letters of their own. A longer word would be read as several of them, so a text
    /// like "-hi" would show the help instead of being published.
    private static func refusal(ofShortOptions arguments: some Sequence<String>) -> ValidationError? {
        let word = arguments.prefix { $0 != "--" }.first { word in
            word.hasPrefix("-") && !word.hasPrefix("--") && word != "-"
                && (word.count > 2 || word.last?.isNumber == true)
        }
        return word.map {
            ValidationError("there is no option '\($0)'; a text that begins with '-' goes behind '--'")
        }
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? ""
    }
}
