/// The effective configuration: for each key of the schema its value and where the value came from.
package struct Configuration: Sendable {
    /// Where a value was found; a later case wins over an earlier one.
    package enum Origin: Sendable, Hashable {
        case builtIn
        case file(path: String, line: Int)
        case variable(String)
        /// The value is in the file that an `RTM_…_FILE` variable names.
        case secretFile(variable: String, path: String)
        case flag(String)
    }

    struct Setting: Hashable {
        let value: ConfigurationValue?
        let origin: Origin
    }

    /// What the loader has read besides values.
    struct Origins: Sendable, Hashable {
        /// The configuration file and the files of secrets.
        var filesRead: [String] = []
        /// Keys and variables that are for the programs of single services.
        var ignored: [String] = []
        /// Variables that Kubernetes has made of Services (`ServiceLinkVariable`).
        var serviceLinks: [String] = []
    }

    package let schema: ConfigurationSchema
    let settings: [String: Setting]
    let origins: Origins

    init(schema: ConfigurationSchema, settings: [String: Setting], origins: Origins = Origins()) {
        self.schema = schema
        self.settings = settings
        self.origins = origins
    }

    /// The files whose content decides how the program runs: those that the configuration was read from, and
    /// those that it names.
    package var files: [String] {
        origins.filesRead
            + schema.keys.filter(\.isFile).compactMap(fileNamed) + schema.keys.flatMap(filesOfRecords)
    }

    func fileNamed(by key: KeyDeclaration) -> String? {
        if case .string(let path)? = settings[key.name]?.value { path } else { nil }
    }

    func filesOfRecords(_ key: KeyDeclaration) -> [String] {
        guard case .records(let fields, _) = key.kind, case .records(let records)? = settings[key.name]?.value
        else { return [] }
        let names = fields.filter(\.isFile).map(\.name)
        return records.flatMap { record in
            names.compactMap { if case .string(let path)? = record[$0] { path } else { nil } }
        }
    }

    /// The value of a key. The key must be listed by the service's definition.
    package subscript<Value>(key: ConfigurationKey<Value>) -> Value {
        let name = key.declaration.name
        guard let setting = settings[name] else {
            preconditionFailure("the key \(name) is not listed in the definition of its service")
        }
        guard let value = key.read(setting.value) else {
            preconditionFailure("the key \(name) is listed with another type")
        }
        return value
    }

    package func origin<Value>(of key: ConfigurationKey<Value>) -> Origin {
        settings[key.declaration.name]?.origin ?? .builtIn
    }

    /// Whether the key was set by flag, environment or file, for rules such as "either both or none".
    package func isSet<Value>(_ key: ConfigurationKey<Value>) -> Bool { origin(of: key) != .builtIn }

    /// Where values other than the built-in ones came from, as in "flags, environment, file
    /// /etc/heliograph.yaml".
    package var sources: String {
        var sources: [String] = []
        func add(_ source: String) {
            if !sources.contains(source) { sources.append(source) }
        }
        for key in schema.keys {
            switch settings[key.name]?.origin {
            case .flag: add("flags")
            case .variable: add("environment")
            case .secretFile(_, let path): add("secret file \(path)")
            case .file(let path, _): add("file \(path)")
            case .builtIn, nil: break
            }
        }
        return sources.isEmpty ? "defaults" : sources.sorted().joined(separator: ", ")
    }
}

extension Configuration.Origin: CustomStringConvertible {
    package var description: String {
        switch self {
        case .builtIn: "default"
        case .file(let path, let line): "\(path) line \(line)"
        case .variable(let name): name
        case .secretFile(let variable, let path): "\(variable), the file \(path)"
        case .flag(let flag): flag
        }
    }
}
