/// What a program does with its command line: run, or say something and end. Pure.
enum StartDecision {
    case run(Configuration)
    case say(String, StandardStream, ExitCode)
    /// The configuration is wrong: one critical line per problem.
    case refuse(ConfigurationError)

    init(
        _ program: ServiceProgram, arguments: [String], environment: [String: String],
        readFile: @escaping (String) throws -> String
    ) {
        let commandLine = CommandLineArguments(arguments, schema: program.schema)
        switch commandLine.command {
        case .help:
            self = .say(Self.help(program), .output, .ok)
            return
        case .version:
            self = .say("\(program.name) \(BuildInformation.version)\n", .output, .ok)
            return
        case .printReference:
            self = .say(ConfigurationReference.section(program.name, program.schema), .output, .ok)
            return
        case .run, .checkConfiguration, .printConfiguration: break
        }
        let loader = ConfigurationLoader(schema: program.schema, rules: program.rules, readFile: readFile)
        do {
            let configuration = try loader.load(commandLine, environment: environment)
            switch commandLine.command {
            case .checkConfiguration: self = .say("ok\n", .output, .ok)
            case .printConfiguration: self = .say(configuration.yaml, .output, .ok)
            default: self = .run(configuration)
            }
        } catch {
            let isRun = commandLine.command == .run
            self = isRun ? .refuse(error) : .say("\(error)\n", .error, .configuration)
        }
    }

    private static func help(_ program: ServiceProgram) -> String {
        """
        \(program.name) \(BuildInformation.version): \(program.summary)

        Usage: \(program.name) [--config FILE] [--FLAG VALUE]…

        \(ConfigurationReference.help(program.schema))
        """
    }
}
