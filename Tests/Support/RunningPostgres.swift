import Foundation
import Synchronization
package import Testing

/// A PostgreSQL of the test's own, on a unix socket. Its data go with it. `POSTGRES_BIN` names another folder
/// of programs than that of the newest version that Debian has installed.
///
/// PostgreSQL refuses to run as root, so where the tests run as root it runs as an unprivileged user.
package final class RunningPostgres: Sendable {
    /// The folder of its programs; nil where PostgreSQL isn't installed.
    private static let programs: String? = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newest = folders.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
        let known = newest.map { "/usr/lib/postgresql/\($0)/bin" }
        let named = ProcessInfo.processInfo.environment["POSTGRES_BIN"].map { [$0] } ?? known
        return named.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    /// Whether the programs have storage on PostgreSQL: by the variable that `Package.swift` asks, too.
    package static let isBuilt =
        ProcessInfo.processInfo.environment["POSTGRESQL"].map { !$0.isEmpty } ?? false

    package let directory: String
    private let arguments: [String]
    /// A part of the socket's name, even where the server listens at no port.
    private let port: String
    private static let usualPort = "5432"
    private let server: Mutex<ChildProcess?>

    /// The URL of a database, as a user who may do everything.
    ///
    /// - Parameter socket: the folder of the socket, where another program stands in front of the server.
    package func url(database: String = "postgres", socket: String? = nil) -> String {
        let place = (socket ?? directory).replacing("/", with: "%2F")
        return "postgres://heliograph@\(place):\(socket == nil ? port : Self.usualPort)/\(database)"
    }

    package var url: String { url() }

    /// Makes the data of a new database.
    private init(_ settings: [String: String]) throws {
        let template = try Self.template.withLock { known in
            let made = try known ?? Self.makeTemplate()
            known = made
            return made
        }
        directory = Self.newDirectory()
        arguments = Self.arguments(settings, directory)
        port = settings["port"] ?? Self.usualPort
        server = Mutex(nil)
        try Self.run("cp", ["-a", template, directory], asServer: false)
    }

    /// Copies the data of a running server, and makes it a standby of that under a name.
    private init(of primary: RunningPostgres, as name: String) throws {
        directory = Self.newDirectory()
        arguments = Self.arguments(
            ["primary_conninfo": "host=\(primary.directory) user=heliograph application_name=\(name)"],
            directory)
        port = Self.usualPort
        server = Mutex(nil)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Self.own(directory)
        try Self.run(
            (Self.programs ?? "") + "/pg_basebackup",
            ["-h", primary.directory, "-U", "heliograph", "-D", directory + "/data"]
                + ["-R", "-X", "stream", "-c", "fast"],
            asServer: true)
    }

    private static func newDirectory() -> String {
        FileManager.default.temporaryDirectory.appending(path: "pg-\(UUID().uuidString.prefix(8))").path
    }

    private static func arguments(_ settings: [String: String], _ directory: String) -> [String] {
        let defaults = [
            "listen_addresses": "", "unix_socket_directories": directory, "fsync": "off",
            "shared_buffers": "16MB", "max_connections": "50", "deadlock_timeout": "100ms",
        ]
        return defaults.merging(settings) { $1 }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
    }

    /// Starts the server, over the data that it had.
    package func start() async throws {
        let process = Self.process(
            (Self.programs ?? "") + "/postgres", ["-D", directory + "/data"] + arguments, asServer: true)
        let log = directory + "/log"
        if !FileManager.default.fileExists(atPath: log) { try Data().write(to: URL(fileURLWithPath: log)) }
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try process.run()
        server.withLock { $0 = process }
        try await eventually("PostgreSQL answers: \(directory)", within: .seconds(30)) {
            (try? query("SELECT 1")) == "1"
        }
    }

    /// Runs the body with a standby that streams from this server. With `isSynchronous` a commit waits for
    /// it.
    package func withStandby(
        isSynchronous: Bool, _ body: (RunningPostgres) async throws -> Void
    ) async throws {
        let standby = try RunningPostgres(of: self, as: "standby")
        defer { standby.remove() }
        try await standby.start()
        if isSynchronous {
            try query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            try query("SELECT pg_reload_conf()")
        }
        try await eventually("the standby has what the server has") {
            try query("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")
                == (isSynchronous ? "sync" : "async")
        }
        try await body(standby)
    }

    /// A standby receives nothing for a while, without an end of its connection.
    package func pauseReplication() throws {
        let receiver = try #require(try Int32(query("SELECT pid FROM pg_stat_wal_receiver")))
        pausedReceiver.withLock { $0 = receiver }
        Foundation.kill(receiver, SIGSTOP)
    }

    package func resumeReplication() throws {
        if let receiver = pausedReceiver.withLock({ $0 }) { Foundation.kill(receiver, SIGCONT) }
    }

    private let pausedReceiver = Mutex<Int32?>(nil)

    /// Gives a file or a folder to the user of the servers.
    package static func own(_ path: String) throws {
        if let user { try run("chown", ["-R", user, path], asServer: false) }
    }

    /// Runs the body with a pgbouncer in front of this server, which gives each transaction another session.
    package func withPool(_ body: (_ socket: String) async throws -> Void) async throws {
        let folder = directory + "/pool"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // It ignores what it doesn't know, as operators have it do for other clients.
        let configuration = """
            [databases]
            postgres = host=\(directory) dbname=postgres user=heliograph
            [pgbouncer]
            unix_socket_dir = \(folder)
            listen_port = 5432
            listen_addr =
            auth_type = any
            pool_mode = transaction
            ignore_startup_parameters = options,extra_float_digits
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/pool.ini"))
        try Self.own(folder)
        let pool = Self.process("/usr/sbin/pgbouncer", [folder + "/pool.ini"], asServer: true)
        try pool.run()
        defer {
            Foundation.kill(pool.processIdentifier, SIGKILL)
            pool.waitUntilExit()
        }
        try await eventually("the pool answers") {
            (try? query("SELECT 1", url: url(socket: folder))) == "1"
        }
        try await body(folder)
    }

    /// Makes a standby the server.
    package func promote() throws { try query("SELECT pg_promote()") }

    /// The URL of whichever of two servers can be written.
    package func url(or other: RunningPostgres) -> String {
        let hosts = [self, other].map { $0.directory.replacing("/", with: "%2F") }
        return "postgres://heliograph@\(hosts.joined(separator: ","))/postgres"
    }

    /// Ends the server as a crash does.
    package func kill() { signal(SIGQUIT) }

    /// Ends the server in good order; connections are cut.
    package func stop() { signal(SIGINT) }

    private func signal(_ number: Int32) {
        server.withLock { process in
            guard let running = process else { return }
            // The file has the number of the server, which may be a child of what changed the user.
            let text = try? String(contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)
            let id = text?.split(separator: "\n").first.flatMap { Int32($0) }
            Foundation.kill(id ?? running.processIdentifier, number)
            running.waitUntilExit()
            process = nil
        }
    }

    /// The only value that a statement returns, by `psql`.
    @discardableResult
    package func query(_ sql: String, database: String = "postgres") throws -> String {
        try query(sql, url: url(database: database))
    }

    private func query(_ sql: String, url: String) throws -> String {
        let program = Self.process(
            (Self.programs ?? "") + "/psql",
            ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, url],
            asServer: false)
        let (output, errors) = (Pipe(), Pipe())
        (program.standardOutput, program.standardError) = (output, errors)
        try program.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        guard program.terminationStatus == 0 else { throw ServiceProcessFailure(description: words) }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes everything that the server has into a file, as `pg_dump` does.
    package func dump() throws -> String {
        let path = directory + ".sql"
        try Self.run((Self.programs ?? "") + "/pg_dump", ["-f", path, url], asServer: false)
        return path
    }

    package func restore(_ dump: String) throws {
        try Self.run(
            (Self.programs ?? "") + "/psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", dump, url],
            asServer: false)
    }

    package func remove() {
        kill()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Runs the body with a server over a new database, which is removed afterwards.
    ///
    /// - Parameter settings: of postgresql.conf. Without others nothing is synced: the server is killed, and
    ///   the machine isn't.
    package static func with(
        _ settings: [String: String] = [:], _ body: (RunningPostgres) async throws -> Void
    ) async throws {
        // No test is skipped: who builds with PostgreSQL tests with it.
        guard programs != nil else {
            throw ServiceProcessFailure(
                description: "PostgreSQL isn't installed: 'POSTGRESQL=1 .ci/setup tests' does that")
        }
        let server = try RunningPostgres(settings)
        defer { server.remove() }
        try await server.start()
        try await body(server)
    }

    // MARK: Programs

    /// A folder with the data of a new database, made once in a run of the tests and copied for each server.
    private static let template = Mutex<String?>(nil)

    private static func makeTemplate() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pg-new-\(getpid())").path
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try own(folder)
        try run(
            (programs ?? "") + "/initdb",
            ["-D", folder + "/data", "-A", "trust", "-U", "heliograph", "--locale=C", "-E", "UTF8", "-N"],
            asServer: true)
        atexit { try? FileManager.default.removeItem(atPath: NSTemporaryDirectory() + "/pg-new-\(getpid())") }
        return folder
    }

    /// As whom the server runs where this process is root's.
    private static let user: String? = getuid() == 0 ? "nobody" : nil

    private static func run(_ program: String, _ arguments: [String], asServer: Bool) throws {
        let process = process(program, arguments, asServer: asServer)
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ServiceProcessFailure(description: "\(program) failed: \(words)")
        }
    }

    private static func process(_ program: String, _ arguments: [String], asServer: Bool) -> ChildProcess {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        var entrance: [String] = []
        if asServer, let user { entrance = ["setpriv", "--reuid=\(user)", "--clear-groups"] }
        process.arguments = entrance + [program] + arguments
        // The working folder of the tests may be closed to the server's user.
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests whose programs keep everything in PostgreSQL.
    package static var withPostgreSQL: Self {
        .enabled(if: RunningPostgres.isBuilt, "the programs are built without PostgreSQL: POSTGRESQL=1")
    }
}
