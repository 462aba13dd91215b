import RTMModel

/// The command line in its parts, before it is checked: what to do, and which flag gave which text.
struct CommandLineArguments {
    /// What the program is asked to do. A later flag wins, and `help` and `version` win over all others.
    enum Command: Hashable {
        case run, help, version, checkConfiguration, printConfiguration, printReference, probe
    }

    /// The text that a flag gives for a key.
    struct Assignment: Hashable {
        let key: KeyDeclaration
        let text: String
        let flag: String
    }

    private(set) var command = Command.run
    /// The command that replaces a run, with its argument and its options.
    private(set) var operation: (command: ProgramCommand, argument: String, options: [String: String])?
    private(set) var file: String?
    private(set) var assignments: [Assignment] = []
    private(set) var problems: [ConfigurationProblem] = []

    /// - Parameter arguments: the arguments without the program's name. A command comes first.
    init(_ arguments: [String], schema: ConfigurationSchema, commands: [ProgramCommand] = []) {
        var rest = arguments[...]
        if let operation = commands.first(where: { $0.name == rest.first }) {
            take(operation, from: &rest)
        } else if let word = rest.first, !word.hasPrefix("-"), !commands.isEmpty {
            refuse(command: word, commands.map(\.name))
            rest.removeFirst()
        }
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--"), argument.count > 2 else {
                if argument == "-h" { command = .help } else { refuse(stray: argument) }
                continue
            }
            let parts = argument.dropFirst(2).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let flag = String(parts[0])
            let attached = parts.count > 1 ? String(parts[1]) : nil
            if let option = operation?.command.options.first(where: { $0.name == flag }) {
                take(option, attached, &rest)
            } else if let command = Self.commands[flag], attached == nil {
                choose(command)
            } else if flag == "config" {
                file = value(of: flag, attached, &rest)
            } else if let key = schema.key(flag: flag) {
                assign(key, attached, &rest)
            } else {
                let hint = UnknownName(schema: schema).hint(forFlag: flag)
                problems.append(.init("--\(flag)", from: nil, "unknown flag\(hint)"))
                if attached == nil, let next = rest.first, !next.hasPrefix("-") { rest.removeFirst() }
            }
        }
    }

    private static let commands: [String: Command] = [
        "help": .help, "version": .version, "check-config": .checkConfiguration,
        "print-config": .printConfiguration, "print-reference": .printReference, "probe": .probe,
    ]

    private mutating func take(_ operation: ProgramCommand, from rest: inout ArraySlice<String>) {
        rest.removeFirst()
        var argument = ""
        if operation.argument != nil {
            if let next = rest.first, !next.hasPrefix("-") {
                argument = rest.removeFirst()
            } else {
                problems.append(.init(operation.name, from: nil, "needs an argument: \(operation.usage)"))
            }
        }
        self.operation = (operation, argument, [:])
    }

    private mutating func take(
        _ option: ProgramCommand.Option, _ attached: String?, _ rest: inout ArraySlice<String>
    ) {
        if option.value == nil {
            operation?.options[option.name] = ""
            if attached != nil { problems.append(.init("--\(option.name)", from: nil, "takes no value")) }
        } else if let value = value(of: option.name, attached, &rest) {
            operation?.options[option.name] = value
        }
    }

    private mutating func choose(_ next: Command) {
        if command != .help && command != .version { command = next }
    }

    /// The word is not shown, because it may be a secret that lost its flag.
    private mutating func refuse(command word: String, _ known: [String]) {
        let hint = NearestName.nearest(to: word, among: known).map { "did you mean \($0)?" }
        let list = "the commands are \(known.joined(separator: " and "))"
        problems.append(.init("command line", from: nil, "unknown command; \(hint ?? list)"))
    }

    private mutating func refuse(stray argument: String) {
        // The argument is not shown, because it may be a secret that lost its flag.
        let hint = argument.hasPrefix("-") ? "flags begin with two dashes" : "every value follows its flag"
        problems.append(.init("command line", from: nil, "unexpected argument; \(hint)"))
    }

    private mutating func assign(
        _ key: KeyDeclaration, _ attached: String?, _ rest: inout ArraySlice<String>
    ) {
        // A switch needs no value, and any other word behind it is not meant for it.
        let isSwitch = key.kind == .bool && attached == nil && !["true", "false"].contains(rest.first)
        guard let text = isSwitch ? "true" : value(of: key.flag, attached, &rest) else { return }
        // The last flag wins, as wrappers that append flags expect.
        assignments.removeAll { $0.key.name == key.name }
        assignments.append(Assignment(key: key, text: text, flag: "--" + key.flag))
    }

    private mutating func value(
        of flag: String, _ attached: String?, _ rest: inout ArraySlice<String>
    ) -> String? {
        if let attached { return attached }
        if let next = rest.first, !next.hasPrefix("--") { return rest.removeFirst() }
        problems.append(.init("--\(flag)", from: nil, "has no value"))
        return nil
    }
}
