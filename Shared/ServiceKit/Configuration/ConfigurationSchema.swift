/// All keys of one program with their names as flag, variable and path. Every text about keys is derived from
/// it.
///
/// Mistakes in a schema are programmer errors: two keys that claim one name, or a default out of range, stop
/// the process with a sentence. The test that makes every program's schema finds them first.
package struct ConfigurationSchema: Sendable {
    package let keys: [KeyDeclaration]
    /// Keys that the programs of single services have and this program doesn't need. They may be given, so
    /// that one file starts the services apart or together.
    let unused: [KeyDeclaration]
    /// The parts of a shared file or environment that belong to other programs.
    let neighbours: Neighbours
    private let indexByName: [String: Int]
    private let indexByFlag: [String: Int]
    let sections: Set<String>

    /// The names that the command line keeps for itself (`CommandLineArguments`).
    static let reservedFlags = [
        "help", "version", "config", "check-config", "print-config", "print-reference",
    ]

    /// - Parameters:
    /// - section: the first part of key names that flags leave out: `edge.listen` is `--listen` in rtm-edge.
    /// - flags: further short flags, by key name.
    /// - defaults: other defaults, by key name in their text form.
    package init(
        _ declarations: [KeyDeclaration], unused: [KeyDeclaration] = [], section: String,
        flags: [String: String] = [:], defaults: [String: String] = [:], neighbours: Neighbours = .heliograph
    ) {
        var keys: [KeyDeclaration] = []
        for declaration in declarations {
            guard let known = keys.first(where: { $0.name == declaration.name }) else {
                keys.append(declaration)
                continue
            }
            precondition(known == declaration, "two services declare \(declaration.name) differently")
        }
        for index in keys.indices {
            let name = keys[index].name
            if let flag = flags[name] {
                keys[index].flag = flag
            } else if name.hasPrefix(section + ".") {
                keys[index].flag = String(keys[index].flag.dropFirst(section.count + 1))
            }
            if let text = defaults[name] {
                keys[index].defaultValue = Self.defaultValue(text, of: keys[index])
            }
        }
        self.keys = keys
        self.unused = unused.filter { other in !keys.contains { $0.name == other.name } }
        self.neighbours = neighbours
        indexByName = Self.index(keys, "path") { [$0.name] }
        indexByFlag = Self.index(keys, "flag") { [$0.flag] }
        _ = Self.index(keys, "variable") { [$0.variable, $0.fileVariable].compactMap(\.self) }
        sections = Self.sections(of: (keys + self.unused).map(\.name))
        let unknown = Set(flags.keys).union(defaults.keys).subtracting(indexByName.keys)
        precondition(unknown.isEmpty, "flags or defaults name the unknown keys \(unknown.sorted())")
        precondition(sections.isDisjoint(with: indexByName.keys), "a key is also a section")
        precondition(
            indexByFlag.keys.allSatisfy { !Self.reservedFlags.contains($0) }, "a key takes a reserved flag")
    }

    /// The keys that lead to certificates: "edge.tls.certificate".
    var certificates: [String] { keys.filter(\.hasCertificates).map(\.name) }

    func key(named name: String) -> KeyDeclaration? { indexByName[name].map { keys[$0] } }

    func key(flag: String) -> KeyDeclaration? { indexByFlag[flag].map { keys[$0] } }

    func isUnused(_ name: String) -> Bool { unused.contains { $0.name == name } }

    func isSection(_ path: String) -> Bool { sections.contains(path) }

    /// Whether a top-level section of the file, or the variables that begin with it, belong to this program:
    /// it has keys there that it doesn't only share.
    func owns(section: String) -> Bool {
        (keys + unused).contains { $0.name.hasPrefix(section + ".") && !neighbours.keys.contains($0.name) }
    }

    private static func sections(of names: [String]) -> Set<String> {
        var sections: Set<String> = []
        for name in names {
            var path = name[...]
            while let dot = path.lastIndex(of: ".") {
                path = path[..<dot]
                sections.insert(String(path))
            }
        }
        return sections
    }

    private static func index(
        _ keys: [KeyDeclaration], _ what: String, by names: (KeyDeclaration) -> [String]
    ) -> [String: Int] {
        var index: [String: Int] = [:]
        for (place, key) in keys.enumerated() {
            for name in names(key) {
                precondition(index[name] == nil, "two keys have the \(what) \(name)")
                index[name] = place
            }
        }
        return index
    }

    private static func defaultValue(_ text: String, of key: KeyDeclaration) -> ConfigurationValue {
        do {
            return try key.kind.value(of: text)
        } catch {
            preconditionFailure("the default \"\(text)\" of \(key.name) \(error.reason)")
        }
    }
}

/// What may stand in a file or an environment that several programs share, without being a mistake.
///
/// A program knows only the sections of the other programs. A typo inside a section is found by its owner.
package struct Neighbours: Sendable {
    /// First parts of key names, each of another program, or of keys that only some programs read.
    package let sections: Set<String>
    /// Keys that several programs read: outside of those sections, or in the section of one of them.
    package let keys: Set<String>
    /// Variables of programs that aren't services.
    package let variables: Set<String>
    init(sections: Set<String>, keys: Set<String> = [], variables: Set<String> = []) {
        self.sections = sections
        self.keys = keys
        self.variables = variables
    }

    /// The services, and the variables that the `rtm` command line reads.
    package static let heliograph = Neighbours(
        sections: ["edge", "messaging", "presence", "storage", "gateway", "standalone", "hooks"],
        keys: [
            CommonKeys.apps.declaration.name, CommonKeys.tokenLifeMax.declaration.name,
            ServiceLinkKeys.secret.declaration.name,
            "edge.permissions.userMetadata", "edge.permissions.revokeLocks",
        ],
        variables: [
            "RTM_SERVER", "RTM_APP_ID", "RTM_USER", "RTM_TOKEN", "RTM_TOKEN_FILE", "RTM_CERTIFICATE",
            "RTM_CERTIFICATE_FILE", "RTM_CONTEXT", "RTM_GATEWAY", "RTM_API_KEY", "RTM_API_KEY_FILE",
        ])

    /// Whether a key, or a section above keys, belongs to another program.
    func claim(path: String) -> Bool {
        let first = path.prefix { $0 != "." }
        return sections.contains(String(first)) || keys.contains { $0 == path || $0.hasPrefix(path + ".") }
    }

    func claim(variable: String) -> Bool {
        if variables.contains(variable) { return true }
        let keyNames = keys.map(KeyDeclaration.variable)
        return keyNames.contains { variable == $0 || variable == $0 + "_FILE" }
            || sections.contains { variable.hasPrefix("RTM_\($0.uppercased())_") }
    }
}
