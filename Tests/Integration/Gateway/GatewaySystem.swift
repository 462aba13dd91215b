import Foundation
import RTMCredentials
import RTMTestSupport
import RTMTokenTestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A running system with a gateway, and keys for it.
struct GatewaySystem {
    let system: RunningSystem
    /// The configuration of all programs: apps and keys.
    let file: URL
    /// The keys that JWTs of `SampleApp` are signed with: at the start `SampleJWT.rsaJWK`.
    var jwtKeys: URL { Self.jwtKeys(beside: file) }
    private let keys: [String: GeneratedKey]
    /// For how long events of the app `dev` are kept; nil for none.
    private let events: String?
    /// Those of `rtm-gateway`, where it is a process of its own.
    private var arguments: [String] = []

    /// The keys of every system, by name.
    private static let grants: [String: (grant: String, options: [String])] = [
        "admin": ("dev/admin", []), "read": ("dev/read", []), "publish": ("dev/publish", []),
        "moderate": ("dev/moderate", []), "all": ("*/read+publish+moderate", []),
        "operator": ("*/admin", []), "other": ("other/admin", []),
        "chat": ("dev/admin", ["--channels", "chat-"]),
        "old": ("dev/admin", ["--expires", "2020-01-01"]), "certified": ("\(SampleApp.id)/admin", []),
    ]

    /// - Parameters:
    ///   - options: flags of the gateway, without the prefix that `rtm-standalone` has for them.
    ///   - edge: options of the edge, with their prefix, in one process.
    ///   - messaging: options of messaging, in four processes.
    ///   - events: for how long events of the app `dev` are kept; nil for none.
    ///   - webhooks: entries of the configuration, in YAML.
    ///   - hooks: entries of `hooks.beforePublish`, in YAML.
    ///   - privateAddresses: which networks inside hooks may connect to.
    ///   - permissions: `edge.permissions` for all programs, in YAML; then edges have a WebSocket, too.
    ///   - jwtKeysURL: where the keys of one more app are fetched, which has the id `fetched`.
    ///   - entrance: a command that runs the one process, with its arguments.
    static func with(
        _ deployment: Deployment = .standalone, _ options: [String] = [], messagingNodes: Int = 1,
        edge: [String] = [], messaging: [String] = [], events: String? = nil, webhooks: [String] = [],
        hooks: [String] = [], privateAddresses: String = "127.0.0.1/32", permissions: String? = nil,
        jwtKeysURL: String? = nil, entrance: [String] = [], _ body: (GatewaySystem) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "rtm.yaml")
        try Data(SampleJWT.rsaJWK.utf8).write(to: jwtKeys(beside: file))
        let keys = try grants.mapValues { try GeneratedKey($0.grant, $0.options) }
        try write(
            keys.values.map(\.entry), events: events, webhooks, hooks: hooks, privateAddresses,
            permissions: permissions, jwtKeysURL: jwtKeysURL, to: file)
        let configuration = ["--config", file.path]
        let unlimited =
            options.contains("--rates-key")
            ? [] : ["--rates-key", "0", "--rates-user", "0", "--rates-app", "0"]
        let own = options + unlimited
        switch deployment {
        case .standalone:
            let flags = own.map { $0.hasPrefix("--") ? "--gateway-\($0.dropFirst(2))" : $0 }
            try await RunningSystem.with(
                .standalone, edge: configuration + flags + edge, entrance: entrance
            ) { system in
                try await body(GatewaySystem(system: system, file: file, keys: keys, events: events))
            }
        case .fourProcesses:
            try await RunningSystem.with(.fourProcesses, services: configuration, messaging: messaging) {
                system in
                var gateway = GatewaySystem(system: system, file: file, keys: keys, events: events)
                gateway.arguments =
                    configuration + own + [
                        "--messaging", system.address("messaging"),
                        "--presence", system.address("presence"), "--storage", system.address("storage"),
                    ]
                try await gateway.launch()
                try await gateway.isReady()
                try await body(gateway)
            }
        }
    }

    private static func jwtKeys(beside file: URL) -> URL {
        file.deletingLastPathComponent().appending(path: "keys.json")
    }

    /// Starts a gateway, beside one that is there already.
    @discardableResult
    func launch(listen: String = "127.0.0.1:0") async throws -> ServiceProcess {
        try await system.launch("rtm-gateway", arguments + ["--listen", listen])
    }

    /// Starts `rtm` as a backend's operator does, whose key is in the environment.
    func command(_ words: [String], key: String = "admin", input: Pipe? = nil) throws -> ChildProcess {
        try system.command(
            words, input: input,
            environment: [
                "RTM_GATEWAY": "http://\(system.address("gateway"))", "RTM_API_KEY": text(of: key),
            ])
    }

    func run(_ words: String..., key: String = "admin") async throws -> CommandOutcome {
        try await system.end(command(words, key: key))
    }

    private static func write(
        _ entries: [String], events: String? = nil, _ webhooks: [String] = [], hooks: [String] = [],
        _ privateAddresses: String = "", permissions: String? = nil, nodes: [String] = [],
        jwtKeysURL: String? = nil, to file: URL
    ) throws {
        let jwtKeys = Self.jwtKeys(beside: file).path
        let fetched =
            jwtKeysURL.map {
                "\n  - {id: fetched, jwtKeysURL: '\($0)', jwtAudience: \(SampleApp.id)}\n"
                    + "tokens: {keys: {privateAddresses: [127.0.0.1/32]}}"
            } ?? ""
        let text = """
            apps:
              - {id: dev\(events.map { ", events: \($0)" } ?? "")}
              - {id: other}
              - {id: \(SampleApp.id), certificate: \(SampleApp.certificate), jwtKeys: \(jwtKeys)}\(fetched)
            gateway:
              keys:
            \(entries.map { "    - \($0)" }.joined(separator: "\n"))
              webhooks:
                endpoints: [\(webhooks.joined(separator: ", "))]
              nodes: [\(nodes.map { "'\($0)'" }.joined(separator: ", "))]
            hooks:
              beforePublish: [\(hooks.joined(separator: ", "))]
              privateAddresses: [\(privateAddresses)]

            """
        let edge = permissions.map {
            "edge:\n  permissions: \($0)\n  webSocket: {listen: '127.0.0.1:0'}\n"
        }
        try Data((text + (edge ?? "")).utf8).write(to: file, options: .atomic)
    }

    /// Waits until the gateway reaches all other services.
    func isReady() async throws {
        try await eventually("\(program) is ready") {
            try await ready().contains(#""ready":false"#) == false
        }
    }

    /// What the program that answers over HTTP says about its probes.
    func ready() async throws -> String {
        try await system.get("http://\(system.address("\(program) admin"))/ready").body
    }

    /// The program that answers over HTTP.
    private var program: String {
        system.address("rtm-gateway admin").isEmpty ? "rtm-standalone" : "rtm-gateway"
    }

    func text(of key: String) -> String { keys[key]?.text ?? key }

    /// The configuration gets other keys, and the program reads it again.
    func replaceKeys(_ names: [String], adding added: [GeneratedKey] = []) async throws {
        try Self.write(names.compactMap { keys[$0]?.entry } + added.map(\.entry), events: events, to: file)
        try await reload()
    }

    /// The configuration names these admin ports, and the program reads it again.
    func replaceNodes(_ nodes: [String]) async throws {
        try Self.write(keys.values.map(\.entry), events: events, nodes: nodes, to: file)
        try await reload()
    }

    /// The configuration gets other hooks, and the programs read it again.
    func replaceHooks(_ hooks: [String]) async throws {
        try Self.write(keys.values.map(\.entry), events: events, hooks: hooks, "127.0.0.1/32", to: file)
        try await reload()
        if program == "rtm-gateway" { try await reload("rtm-edge") }
    }

    /// The app gets other keys of JWTs, and the program reads them.
    func replaceJWTKeys(_ text: String) async throws {
        try Data(text.utf8).write(to: jwtKeys, options: .atomic)
        try await reload()
    }

    /// The lines of the audit so far. The log is written by a thread of its own, after the answer, so a
    /// change of another app is made last, and its line waited for.
    func auditLines() async throws -> [Substring] {
        let last = UUID().uuidString
        let change = try await call(
            "POST", "/v1/other/users/last/kick", key: "operator", "{}", headers: ["x-request-id": last])
        try #require(change.status == 200)
        let process = try system.process(program)
        try await eventually("the last change is in the log") { process.log.contains(last) }
        let lines = process.log.split(separator: "\n").filter { $0.contains(#""message":"audit""#) }
        return Array(lines.prefix { !$0.contains(last) })
    }

    private func reload(_ name: String? = nil) async throws {
        let process = try system.process(name ?? program)
        let reloads = { process.log.components(separatedBy: "configuration reloaded").count }
        let before = reloads()
        process.signal(SIGHUP)
        try await eventually("SIGHUP is answered") { reloads() > before }
    }

    // MARK: Calls

    struct Answer {
        let status: Int
        let headers: [String: String]
        let text: String

        /// The value at a path of keys and indexes.
        func value(_ path: Any...) -> Any? { lookUp(path) }
        func string(_ path: Any...) -> String? { lookUp(path) as? String }
        func int(_ path: Any...) -> Int? { lookUp(path) as? Int }
        func count(_ path: Any...) -> Int? { (lookUp(path) as? [Any])?.count }
        var error: String? { string("error", "name") }

        private func lookUp(_ path: [Any]) -> Any? {
            let body = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            return path.reduce(body) { value, step in
                if let key = step as? String { return (value as? [String: Any])?[key] }
                guard let index = step as? Int, let list = value as? [Any], list.indices.contains(index)
                else { return nil }
                return list[index]
            }
        }
    }

    /// Cookies are sent where a test says so, and not because another test got one.
    private static let session = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        return URLSession(configuration: configuration)
    }()

    /// - Parameters:
    ///   - key: the name of one of the system's keys, or a key; nil for no credentials.
    ///   - json: the body.
    func call(
        _ method: String, _ path: String, key: String? = "admin", _ json: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        let url = try #require(URL(string: "http://\(system.address("gateway"))\(path)"))
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let key { request.setValue("Bearer \(text(of: key))", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = json.map { Data($0.utf8) }
        let (data, response) = try await Self.session.data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        var fields: [String: String] = [:]
        for (name, value) in answer.allHeaderFields {
            fields["\(name)".lowercased()] = "\(value)"
        }
        return Answer(
            status: answer.statusCode, headers: fields, text: String(decoding: data, as: UTF8.self))
    }
}

/// A key as `rtm key create` makes it. No process is started for it: Foundation's can't be where a thousand
/// descriptors are open.
struct GeneratedKey {
    let text: String
    /// The entry of `gateway.keys`, in YAML.
    let entry: String
    /// The line of the file that `RTM_GATEWAY_KEYS_FILE` names.
    let line: String

    /// - Parameter options: `--channels PREFIX` and `--expires DAY`.
    init(_ grant: String, _ options: [String] = []) throws {
        func value(of option: String) -> String? {
            options.firstIndex(of: option).map { options[$0 + 1] }
        }
        let words = grant.split(separator: "/").map(String.init)
        let key = APIKey.random()
        let made = APIKeyEntry(
            of: key, app: words[0], scopes: try #require(APIScope.set(words[1])),
            channels: value(of: "--channels"),
            expires: try value(of: "--expires").map { try #require(APIKeyEntry.date($0)) })
        (text, entry, line) = (key.text, made.yaml, made.line)
    }
}
