/// Makes the configuration: flags win over the environment, which wins over the file, which wins over
/// defaults.
///
/// Pure: the arguments, the environment and the reading of files are parameters. The loader collects every
/// problem instead of stopping at the first, because an operator wants to correct a file once. An unknown
/// name is a problem, too: a misspelt key that is silently ignored is the worst kind of configuration error.
///
/// A masked secret, as `--print-config` shows it, is refused as an effective value. A printed configuration
/// can be read back when its secrets come from the environment or from flags, and no program ever runs with
/// the mask for a secret.
package struct ConfigurationLoader {
    package let schema: ConfigurationSchema
    package let rules: [ConfigurationRule]
    /// `nil` where there is no configuration file: only programs have one.
    private let parse: FileNode.Parser?
    /// Reads a whole text file. Its errors become a problem that names the file.
    private let readFile: (String) throws -> String

    private var problems: [ConfigurationProblem] = []
    private var settings: [String: Configuration.Setting] = [:]
    private var origins = Configuration.Origins()

    package init(
        schema: ConfigurationSchema, rules: [ConfigurationRule] = [], parse: FileNode.Parser? = nil,
        readFile: @escaping (String) throws -> String
    ) {
        self.schema = schema
        self.rules = rules
        self.parse = parse
        self.readFile = readFile
    }

    /// - Parameter arguments: the arguments without the program's name.
    package func load(
        arguments: [String], environment: [String: String]
    ) throws(ConfigurationError) -> Configuration {
        try load(CommandLineArguments(arguments, schema: schema), environment: environment)
    }

    func load(
        _ commandLine: CommandLineArguments, environment: [String: String]
    ) throws(ConfigurationError) -> Configuration {
        var run = self
        run.problems = commandLine.problems
        for key in schema.keys {
            run.settings[key.name] = .init(value: key.defaultValue, origin: .builtIn)
        }
        // An empty variable counts as not given: compose files write empty ones for what they leave out.
        let variables = environment.filter { $0.key.hasPrefix("RTM_") && !$0.value.isEmpty }
        if let parse, let path = commandLine.file ?? variables[Self.fileVariable] {
            run.apply(file: path, parse)
        }
        run.apply(variables)
        for assignment in commandLine.assignments {
            run.set(assignment.key, .scalar(assignment.text), .flag(assignment.flag))
        }
        return try run.result()
    }

    private static let fileVariable = "RTM_CONFIG"

    private consuming func result() throws(ConfigurationError) -> Configuration {
        for key in schema.keys {
            guard let setting = settings[key.name], let value = setting.value, value.isMasked else {
                continue
            }
            let advice = "is masked; give the secret there, or by \(key.fileVariable ?? key.variable)"
            problems.append(.init(key.name, from: "\(setting.origin)", advice))
        }
        let configuration = Configuration(schema: schema, settings: settings, origins: origins)
        if problems.isEmpty { problems = rules.compactMap { $0.problem(configuration) } }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
        return configuration
    }

    private mutating func set(_ key: KeyDeclaration, _ node: FileNode, _ origin: Configuration.Origin) {
        do {
            settings[key.name] = .init(value: try key.kind.value(of: node), origin: origin)
        } catch {
            let shown = Self.shown(node, isSecret: key.kind.isSecret)
            problems.append(.init(key.name, from: "\(origin)", "\(shown) \(error.reason)"))
        }
    }

    private static func shown(_ node: FileNode, isSecret: Bool) -> String {
        guard case .scalar(let text) = node, !isSecret else { return "the value" }
        let masked = Secret.maskingPasswords(in: text)
        return JSONText.quoted(masked.count <= 100 ? masked : masked.prefix(100) + "…")
    }
}

/// Applies the environment.
extension ConfigurationLoader {
    private mutating func apply(_ variables: [String: String]) {
        var known: Set<String> = [Self.fileVariable]
        for key in schema.keys {
            known.insert(key.variable)
            if let text = variables[key.variable] { set(key, .scalar(text), .variable(key.variable)) }
            guard let fileVariable = key.fileVariable else { continue }
            known.insert(fileVariable)
            if let path = variables[fileVariable] {
                apply(secretFile: path, fileVariable, to: key, variables)
            }
        }
        for key in schema.unused {
            for name in [key.variable, key.fileVariable].compactMap(\.self) {
                known.insert(name)
                if variables[name] != nil { origins.ignored.append(name) }
            }
        }
        for name in variables.keys.sorted() where !known.contains(name) && !isNeighbours(name) {
            if ServiceLinkVariable.isOne(name, variables[name] ?? "") {
                origins.serviceLinks.append(name)
                continue
            }
            problems.append(
                .init(
                    name, from: nil,
                    "unknown variable\(UnknownName(schema: schema).hint(forVariable: name, known))"))
        }
    }

    /// Whether a variable belongs to another program. A variable in one of this program's sections belongs to
    /// this program, even when another program's name is its prefix.
    private func isNeighbours(_ variable: String) -> Bool {
        let isOurs = schema.neighbours.sections.contains {
            schema.owns(section: $0) && variable.hasPrefix("RTM_\($0.uppercased())_")
        }
        return !isOurs && schema.neighbours.claim(variable: variable)
    }

    private mutating func apply(
        secretFile path: String, _ variable: String, to key: KeyDeclaration, _ variables: [String: String]
    ) {
        guard variables[key.variable] == nil else {
            let reason = "is given by \(key.variable) and by \(variable); keep one of them"
            problems.append(.init(key.name, from: variable, reason))
            return
        }
        origins.filesRead.append(path)
        do {
            var text = try readFile(path)
            if text.last?.isNewline == true { text.removeLast() }
            set(key, .scalar(text), .secretFile(variable: variable, path: path))
        } catch {
            let reason = "can't read the file \(path): \(error). Name a file that this user may read"
            problems.append(.init(key.name, from: variable, reason))
        }
    }
}

/// Applies the file.
extension ConfigurationLoader {
    private mutating func apply(file path: String, _ parse: FileNode.Parser) {
        let text: String
        origins.filesRead.append(path)
        do {
            text = try readFile(path)
        } catch {
            let advice = "Name a file that this user may read with --config or \(Self.fileVariable)"
            problems.append(
                .init("configuration file", from: path, "can't be read: \(error). \(advice)"))
            return
        }
        do {
            guard case .map(let entries) = try parse(text) else { return }
            for entry in entries { apply(entry, at: entry.name, file: path) }
        } catch {
            problems.append(.init("configuration file", from: path, error.reason))
        }
    }

    private mutating func apply(_ entry: FileNode.Entry, at path: String, file: String) {
        let origin = Configuration.Origin.file(path: file, line: entry.line)
        if let key = schema.key(named: path) {
            guard case .file(_, let line)? = settings[path]?.origin else {
                return set(key, entry.node, origin)
            }
            problems.append(
                .init(path, from: "\(origin)", "was given before, in line \(line); keep one of them"))
        } else if schema.isUnused(path) {
            origins.ignored.append(path)
        } else if schema.isSection(path) {
            switch entry.node {
            case .map(let entries):
                for entry in entries { apply(entry, at: "\(path).\(entry.name)", file: file) }
            case .null: break
            case .scalar, .list:
                problems.append(.init(path, from: "\(origin)", "is a section and has no value of its own"))
            }
        } else if !isNeighbours(path: path) {
            let hint = UnknownName(schema: schema).hint(forKey: path)
            problems.append(.init(path, from: "\(origin)", "unknown key\(hint)"))
        }
    }

    private func isNeighbours(path: String) -> Bool {
        let first = String(path.prefix { $0 != "." })
        return !schema.owns(section: first) && schema.neighbours.claim(path: path)
    }
}

/// The variables that Kubernetes puts into each container for each Service of the namespace, unless the pod
/// says `enableServiceLinks: false`. For a Service `rtm-edge` they are called `RTM_EDGE_SERVICE_HOST`,
/// `RTM_EDGE_PORT` or `RTM_EDGE_PORT_7710_TCP_ADDR`, and nobody has set them by hand. Pure.
enum ServiceLinkVariable {
    /// - Parameter value: decides where somebody might have meant a setting by the name: `RTM_EDGE_PORT` is
    ///   one of Kubernetes only if it is like `tcp://10.0.0.11:7710`.
    static func isOne(_ name: String, _ value: String) -> Bool {
        let ofPort = #/RTM(_\w+)?_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?/#
        let ofService = #/RTM(_\w+)?_SERVICE_(HOST|PORT(_\w+)?)/#
        if name.wholeMatch(of: ofPort) != nil || name.wholeMatch(of: ofService) != nil { return true }
        return name.wholeMatch(of: #/RTM(_\w+)?_PORT/#) != nil
            && value.prefixMatch(of: #/(tcp|udp|sctp)://#) != nil
    }
}
