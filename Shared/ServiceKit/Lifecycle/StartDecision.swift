/// What a program does with its command line: it runs, or prints something and ends. Pure.
enum StartDecision {
    case run(Configuration)
    /// Carries out a command instead of a run.
    case perform(ProgramCommand, ProgramCommand.Call)
    case write(String, StandardStream, ExitCode)
    /// Asks the program that runs already whether it is ready, at its admin port.
    case probe(HostPort)
    /// The configuration is wrong: one critical log line per problem.
    case refuse(ConfigurationError)

    init(
        _ program: ServiceProgram, arguments: [String], environment: [String: String],
        parse: @escaping FileNode.Parser, readFile: @escaping (String) throws -> String
    ) {
        let commandLine = CommandLineArguments(
            arguments, schema: program.schema, commands: program.commands)
        switch commandLine.command {
        case .help:
            self = .write(Self.help(program), .output, .ok)
            return
        case .version:
            self = .write("\(program.name) \(BuildInformation.version)\n", .output, .ok)
            return
        case .printReference:
            self = .write(ConfigurationReference.section(program.name, program.schema), .output, .ok)
            return
        case .run, .checkConfiguration, .printConfiguration, .probe: break
        }
        let loader = ConfigurationLoader(
            schema: program.schema, rules: program.rules, parse: parse, readFile: readFile)
        do {
            let configuration = try loader.load(commandLine, environment: environment)
            switch commandLine.command {
            case .checkConfiguration:
                try Self.check(program, configuration, readFile)
                self = .write("ok\n", .output, .ok)
            case .printConfiguration: self = .write(configuration.yaml, .output, .ok)
            case .probe: self = .probe(configuration[program.adminKey])
            default:
                self =
                    commandLine.operation.map { operation in
                        let call = ProgramCommand.Call(
                            configuration: configuration, argument: operation.argument,
                            options: operation.options)
                        return .perform(operation.command, call)
                    }
                    ?? .run(configuration)
            }
        } catch {
            let isRun = commandLine.command == .run && commandLine.operation == nil
            self = isRun ? .refuse(error) : .write("\(error)\n", .error, .configuration)
        }
    }

    private static func check(
        _ program: ServiceProgram, _ configuration: Configuration, _ readFile: (String) throws -> String
    ) throws(ConfigurationError) {
        let problems = program.problems(of: configuration, readFile)
        guard problems.isEmpty else { throw ConfigurationError(problems) }
    }

    private static func commands(_ program: ServiceProgram) -> String {
        program.commands.map {
            "       \(program.name) \($0.usage) [--FLAG VALUE]…\n            \($0.summary)\n"
        }.joined()
    }

    private static func help(_ program: ServiceProgram) -> String {
        """
        \(program.name) \(BuildInformation.version): \(program.summary)

        Usage: \(program.name) [--config FILE] [--FLAG VALUE]…
        \(commands(program))
        \(ConfigurationReference.help(program.schema))
        """
    }
}

extension ServiceProgram {
    /// What `--check-config` prints if something is wrong, by lines; none if nothing is.
    ///
    /// - Parameter parse: reads the file of `--config`.
    package func problems(
        _ arguments: [String], parse: @escaping FileNode.Parser,
        readFile: @escaping (String) throws -> String
    ) -> [String] {
        let decision = StartDecision(
            self, arguments: arguments + ["--check-config"], environment: [:], parse: parse,
            readFile: readFile)
        guard case .write(let text, .error, .configuration) = decision else { return [] }
        return text.split(separator: "\n").map(String.init)
    }
}
