/// One service as a value: its keys, the relations between them, and how its parts are made.
///
/// A main runs one definition (`rtm-edge`) or several in one process (`rtm-standalone`). What differs between
/// the two, such as links over TCP or inside the process, is a parameter of the function that makes the
/// definition.
package struct ServiceDefinition: Sendable {
    /// The section of the service's keys: "edge".
    package let name: String
    /// One line for `--help`.
    package let summary: String
    package let keys: [KeyDeclaration]
    package let rules: [ConfigurationRule]
    /// Keys of the service's own program that have no meaning where the service runs beside others.
    package let keysElsewhere: [KeyDeclaration]
    /// Opens the files that the configuration names, and reports what can't be used.
    package let check: Check
    package let commands: [ProgramCommand]
    /// How many descriptors the configuration needs beside the usual.
    package let descriptors: @Sendable (Configuration) -> Int
    package let assemble: @Sendable (ServiceContext) async throws -> Assembly

    /// Gives nil when everything can be used. The second argument reads a text file.
    package typealias Check =
        @Sendable (Configuration, (String) throws -> String) -> ConfigurationProblem?

    /// - Parameter isInProcess: whether the service runs beside others in one process, where some of the keys
    ///   have no meaning.
    package init(
        name: String, summary: String, keys: [KeyDeclaration], isInProcess: Bool = false,
        rules: [ConfigurationRule] = [], check: @escaping Check = { _, _ in nil },
        commands: [ProgramCommand] = [],
        descriptors: @escaping @Sendable (Configuration) -> Int = { _ in 0 },
        assemble: @escaping @Sendable (ServiceContext) async throws -> Assembly
    ) {
        self.name = name
        self.summary = summary
        self.keys = isInProcess ? keys.filter { !$0.isForOwnProcess } : keys
        keysElsewhere = isInProcess ? keys.filter(\.isForOwnProcess) : []
        self.rules = rules
        self.check = check
        self.commands = commands
        self.descriptors = descriptors
        self.assemble = assemble
    }
}

/// An executable: one or several services behind one command line, one event loop group and one admin port.
package struct ServiceProgram: Sendable {
    /// The name of the program: "rtm-edge".
    package let name: String
    package let summary: String
    /// The services in the order of starting: a service comes before its callers.
    package let services: [ServiceDefinition]
    package let schema: ConfigurationSchema
    /// Makes a text for people who try the program out. It gets the listeners by purpose, and the text is
    /// printed to standard output once everything listens.
    let greeting: (@Sendable ([String: HostPort], Configuration, _ isTerminal: Bool) -> String)?
    let adminKey: ConfigurationKey<HostPort>

    var rules: [ConfigurationRule] { services.flatMap(\.rules) }
    var commands: [ProgramCommand] { services.flatMap(\.commands) }

    /// What can't be used of the files that the configuration names.
    func problems(
        of configuration: Configuration, _ readFile: (String) throws -> String
    ) -> [ConfigurationProblem] {
        services.compactMap { $0.check(configuration, readFile) }
    }

    /// - Parameters:
    /// - section: "edge" makes the program `rtm-edge` and the admin key `edge.admin`.
    ///   - admin: the default of the admin key.
    /// - flags: short flags by key name. The keys of the section have theirs already.
    /// - defaults: defaults that differ from the declared ones, by key name in their written form.
    package init(
        section: String, summary: String, services: [ServiceDefinition], admin: HostPort,
        flags: [String: String] = [:], defaults: [String: String] = [:],
        greeting: (@Sendable ([String: HostPort], Configuration, _ isTerminal: Bool) -> String)? = nil
    ) {
        name = "rtm-\(section)"
        self.greeting = greeting
        self.summary = summary
        self.services = services
        adminKey = CommonKeys.admin(section: section, default: admin)
        let admins = services.map { CommonKeys.admin(section: $0.name, default: admin).declaration }
        schema = ConfigurationSchema(
            services.flatMap(\.keys) + [adminKey.declaration] + CommonKeys.declarations,
            unused: services.flatMap(\.keysElsewhere) + admins, section: section,
            flags: flags, defaults: defaults)
    }

    /// Makes the program of one service.
    package init(_ service: ServiceDefinition, admin: HostPort, defaults: [String: String] = [:]) {
        self.init(
            section: service.name, summary: service.summary, services: [service], admin: admin,
            defaults: defaults)
    }
}
