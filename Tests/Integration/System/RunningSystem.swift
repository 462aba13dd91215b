import Foundation
import RTMClient
import RTMTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How the system under test is deployed. The same tests run against both deployments.
enum Deployment: CaseIterable, Sendable {
    case standalone
    case fourProcesses
}

/// A system of real processes with a directory and ports of its own.
final class RunningSystem: Sendable {
    let directory: URL
    private let processes = Mutex<[ServiceProcess]>([])
    private let addresses = Mutex<[String: String]>([:])
    /// The addresses to which edges are sent instead of the service itself.
    private let detours = Mutex<[String: String]>([:])
    /// The folder of the programs that are launched from now on.
    private let programs: Mutex<URL>
    /// The options of `rtm-standalone`, but where it listens.
    private let standalone = Mutex<[String]>([])
    /// The options with which presence is started each time.
    private let presence: [String]
    /// The options of storage, but its directory.
    private let storage: [String]
    /// The options of each of four processes.
    private let services: [String]
    /// The options of messaging, and where its nodes listen.
    private let messaging: [String]
    let messagingNodes: [String]
    private let messagingListed: Int
    /// The edge listens on a port that nobody else has.
    static let anyPort = "127.0.0.1:0"
    /// A command that runs each program, with its arguments.
    private let entrance: [String]

    private init(
        directory: URL, presence: [String], storage: [String], services: [String], messaging: [String],
        messagingNodes: [String], messagingListed: Int, programs: URL, entrance: [String]
    ) {
        self.directory = directory
        self.programs = Mutex(programs)
        self.presence = presence
        self.storage = storage
        self.messaging = messaging
        self.messagingNodes = messagingNodes
        self.messagingListed = messagingListed
        self.services = services
        self.entrance = entrance
    }

    /// Runs the body against a started system. Afterwards every process is ended, and the logs are shown if a
    /// test failed.
    ///
    /// - Parameters:
    ///   - listen: where the edge listens.
    ///   - presence: options of presence, as its own program knows them ("--debounce").
    ///   - storage: options of storage, which `standalone` doesn't get.
    ///   - services: options of all four processes, which `standalone` doesn't get.
    ///   - messaging: options of messaging.
    ///   - messagingNodes: how many messaging nodes there are.
    ///   - messagingListed: how many of them the other services are told.
    ///   - programs: the folder of the programs.
    ///   - entrance: a command that runs each program, with its arguments.
    static func with(
        _ deployment: Deployment, listen: String = anyPort, edge: [String] = [],
        presence: [String] = [], storage: [String] = [], services: [String] = [],
        messaging: [String] = [], messagingNodes: Int = 1, messagingListed: Int = .max,
        programs: URL = ServiceProcess.executables, entrance: [String] = [],
        _ body: (RunningSystem) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let ports = try FreePorts.take(messagingNodes)
        let system = RunningSystem(
            directory: directory, presence: presence, storage: storage, services: services,
            messaging: messaging, messagingNodes: ports.map { "127.0.0.1:\($0)" },
            messagingListed: messagingListed, programs: programs, entrance: entrance)
        do {
            // A service that is killed is started again at its address. If the system had chosen it, somebody
            // else could listen there meanwhile, and the service's callers would talk to that process.
            let listen = listen == anyPort ? "127.0.0.1:\(try FreePorts.take(1)[0])" : listen
            try await system.start(deployment, listen: listen, edge: edge)
            try await body(system)
        } catch {
            for process in system.processes.withLock({ $0 }) {
                Issue.record("log of \(process.name): \(process.log)")
            }
            system.end()
            throw error
        }
        system.end()
    }

    private func end() {
        for process in processes.withLock({ $0 }) where !process.hasExited { process.signal(SIGKILL) }
        try? FileManager.default.removeItem(at: directory)
    }

    private func start(_ deployment: Deployment, listen: String, edge: [String]) async throws {
        switch deployment {
        case .standalone:
            let data = directory.appending(path: "data").path
            let webSocket = "--edge-web-socket-listen"
            let options =
                ["--data", data, "--gateway-listen", "127.0.0.1:0"]
                + (edge.contains(webSocket) ? [] : [webSocket, "127.0.0.1:0"])
                + Self.unlimited("edge-") + edge
                + presence.map { $0.hasPrefix("--") ? "--presence-\($0.dropFirst(2))" : $0 }
            standalone.withLock { $0 = options }
            try await launchStandalone(listen: listen)
        case .fourProcesses:
            for listen in messagingNodes { try await launchMessaging(listen: listen) }
            let ports = try FreePorts.take(2)
            try await launch(
                "rtm-presence", ["--listen", "127.0.0.1:\(ports[0])"] + callees(of: "presence"))
            try await launchStorage(listen: "127.0.0.1:\(ports[1])")
            try await launchEdge(edge, listen: listen)
        }
        try await ready()
    }

    /// The addresses of the services that a service calls, and its settings.
    ///
    /// - Parameter data: the name of storage's directory.
    private func callees(of service: String, data: String = "storage") -> [String] {
        let own =
            switch service {
            case "presence": ["--messaging", address("messaging")] + presence
            case "storage":
                ["--messaging", address("messaging"), "--data", directory.appending(path: data).path]
                    + storage
            case "messaging": messaging
            default: [String]()
            }
        return services + own
    }

    /// Callers that are started from now on are given the addresses of several nodes.
    private func listMessaging() {
        guard messagingNodes.count > 1 else { return }
        let listed = messagingNodes.prefix(messagingListed).joined(separator: ",")
        addresses.withLock { $0["messaging"] = listed }
    }

    /// Starts a messaging node, also where one was before.
    @discardableResult
    func launchMessaging(listen: String) async throws -> ServiceProcess {
        let process = try await launch("rtm-messaging", ["--listen", listen] + callees(of: "messaging"))
        listMessaging()
        return process
    }

    /// Starts one more edge.
    @discardableResult
    func launchEdge(_ arguments: [String] = [], listen: String = "127.0.0.1:0") async throws -> ServiceProcess
    {
        try await launch(
            "rtm-edge",
            [
                "--listen", listen, "--messaging", way("messaging"), "--presence", way("presence"),
                "--storage", way("storage"), "--threads", "2",
            ] + Self.unlimited("") + services + arguments)
    }

    /// Starts all services in one process, with the data of the last one.
    @discardableResult
    func launchStandalone(listen: String? = nil) async throws -> ServiceProcess {
        let options = standalone.withLock { $0 }
        return try await launch("rtm-standalone", ["--listen", listen ?? address("edge")] + options)
    }

    /// Starts presence where it was before, without waiting for anything, or at another address.
    @discardableResult
    func launchPresence(listen: String? = nil) async throws -> ServiceProcess {
        try await launch(
            "rtm-presence", ["--listen", listen ?? address("presence")] + callees(of: "presence"))
    }

    /// Starts storage where it was before, or one more node at another address and with other data.
    @discardableResult
    func launchStorage(listen: String? = nil, data: String = "storage") async throws -> ServiceProcess {
        try await launch(
            "rtm-storage", ["--listen", listen ?? address("storage")] + callees(of: "storage", data: data))
    }

    /// Lifts the rate limits, because tests call faster than clients may. The tests about rates set them.
    private static func unlimited(_ prefix: String) -> [String] {
        [
            "publish", "session-publish", "session-publish-bytes", "app-publish", "app-publish-bytes",
            "calls",
            "subscribe", "login",
        ].flatMap { ["--\(prefix)rates-\($0)", "0"] }
    }

    @discardableResult
    func launch(_ name: String, _ arguments: [String]) async throws -> ServiceProcess {
        let process = try ServiceProcess(
            name, arguments + ["--admin", "127.0.0.1:0"], directory: directory,
            programs: programs.withLock { $0 }, entrance: entrance)
        processes.withLock { $0.append(process) }
        let listening = try await process.listening()
        addresses.withLock { addresses in
            addresses.merge(listening) { $1 }
            addresses["\(name) admin"] = listening["admin"]
        }
        return process
    }

    /// The newest process of that name, or the oldest.
    func process(_ name: String, first: Bool = false) throws -> ServiceProcess {
        let processes = processes.withLock { $0 }.filter { $0.name == name }
        return try #require(first ? processes.first : processes.last)
    }

    /// The newest messaging node at this address.
    func messagingNode(at listen: String) async throws -> ServiceProcess? {
        for process in processes.withLock({ $0 }).reversed() where process.name == "rtm-messaging" {
            if try await process.listening()["messaging"] == listen { return process }
        }
        return nil
    }

    /// Waits until every messaging node leads as many of the shards as another one.
    func isShared(_ shards: Int) async throws {
        let each = shards / messagingNodes.count
        try await eventually("every node leads \(each) shards", within: .seconds(30)) {
            for node in self.messagingNodes {
                guard let process = try await self.messagingNode(at: node), !process.hasExited,
                    let admin = try await process.listening()["admin"],
                    let metrics = try? await self.get("http://\(admin)/metrics"),
                    metrics.body.contains("\nrtm_messaging_leading \(each)\n")
                else { return false }
            }
            return true
        }
    }

    /// The memory of a process, in bytes, or the most that it has had.
    func residentBytes(of name: String, atMost: Bool = false) throws -> Int {
        let field = atMost ? "VmHWM:" : "VmRSS:"
        let status = try String(contentsOfFile: "/proc/\(try process(name).pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field) })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 1024
    }

    /// The address of a listener: "edge", "messaging", "rtm-edge admin".
    func address(_ purpose: String) -> String { addresses.withLock { $0[purpose] } ?? "" }

    /// Edges that are launched from now on reach the service through this address.
    func detour(to service: String, through address: String) { detours.withLock { $0[service] = address } }

    private func way(_ service: String) -> String { detours.withLock { $0[service] } ?? address(service) }

    /// What is launched from now on is of another version.
    func use(_ programs: URL) { self.programs.withLock { $0 = programs } }

    /// Ends a service without warning and starts it again on the same address.
    func restart(_ service: String) async throws {
        let listen = address(service)
        try await process("rtm-\(service)").kill9()
        if service == "edge" {
            try await launchEdge(listen: listen)
        } else {
            try await launch("rtm-\(service)", ["--listen", listen] + callees(of: service))
        }
        try await ready()
    }

    /// Waits until the edge reports that it is ready.
    func ready() async throws {
        let program =
            processes.withLock { $0.contains { $0.name == "rtm-standalone" } } ? "rtm-standalone" : "rtm-edge"
        try await eventually("\(program) is ready", within: .seconds(30)) {
            try await get("http://\(address("\(program) admin"))/ready").status == 200
        }
    }

    func get(_ url: String) async throws -> (status: Int, body: String) { try await Self.get(url) }

    static func get(_ url: String) async throws -> (status: Int, body: String) {
        let (data, response) = try await URLSession.shared.data(from: try #require(URL(string: url)))
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return (status, String(decoding: data, as: UTF8.self))
    }

    // MARK: Clients

    func client(_ user: String, _ change: (inout RTMClient.Configuration) -> Void = { _ in }) throws
        -> RTMClient
    {
        var configuration = RTMClient.Configuration(
            servers: [try ServerAddress(address("edge"))], appID: "dev", userID: user)
        configuration.timing.firstRetryDelay = .milliseconds(50)
        // What is under test is what the servers do with too many publishes.
        configuration.pacesPublishes = false
        change(&configuration)
        return try RTMClient(configuration)
    }

    /// Makes clients that are logged in, and closes them after the body.
    func withClients(
        _ users: String..., body: ([RTMClient]) async throws -> Void
    ) async throws {
        let clients = try users.map { try client($0) }
        do {
            for client in clients { try await client.login() }
            try await body(clients)
        } catch {
            for client in clients { await client.close() }
            throw error
        }
        for client in clients { await client.close() }
    }
}
