import Foundation
import RTMTestSupport
import Testing

/// A change of the network under a running client, in a network of the test's own (T7).
@Suite(.serialized, .enabled(if: TestNetwork.isPossible, "no networks can be made here"))
struct NetworkChangeTests {
    @Test(
        "T7: when packets to the server leave from another address, the client connects anew at once",
        .ends(withinMinutes: 1))
    func sourceChanges() async throws {
        let network = try TestNetwork(addresses: ["127.9.0.2", "127.9.0.3"])
        defer { network.end() }
        let data = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)").path
        let server = try network.run(
            "rtm-standalone", ["--listen", "127.9.0.2:7710", "--admin", "127.0.0.1:0", "--data", data])
        try await eventually("the server starts: \(server.lines)", within: .seconds(30)) {
            server.lines.contains { $0.contains("started") }
        }
        let client = try network.run(
            "rtm",
            ["subscribe", "lobby", "--server", "127.9.0.2:7710", "--no-tls", "--json", "--user", "bob"])
        func reasons() -> [String] {
            client.lines.compactMap { line in
                line.firstMatch(of: #/"event":"linkState".*"reasonCode":"(\w+)"/#).map { String($0.1) }
            }
        }
        try await eventually("the client is subscribed: \(client.lines)") { !client.lines.isEmpty }
        // An address that isn't on the way comes, as when a container starts.
        try network.ip("address add 127.9.0.9/32 dev lo")
        try network.ip("route replace local 127.9.0.2 dev lo src 127.9.0.3 table local")
        try await eventually("the client is back: \(client.lines)") {
            reasons().contains("reconnectSuccess")
        }
        #expect(reasons() == ["networkChange", "autoReconnect", "reconnectSuccess"])
    }
}

/// A network namespace with nothing but a loopback interface, which has some addresses.
private struct TestNetwork {
    /// Keeps the namespace alive until its standard input is closed.
    private let holder = Process()
    private let hold = Pipe()
    private let programs = Programs()

    /// A program in the namespace, and the lines that it has written.
    final class Program {
        let process: Process
        private let output: URL

        init(_ process: Process, output: URL) {
            (self.process, self.output) = (process, output)
        }

        var lines: [String] {
            ((try? String(contentsOf: output, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }
    }

    private final class Programs {
        var all: [Program] = []
    }

    private struct NoNetwork: Error {}

    static let isPossible: Bool = (try? TestNetwork(addresses: ["127.9.0.2"]).end()) != nil

    init(addresses: [String]) throws {
        let commands = ["ip link set lo up"] + addresses.map { "ip address add \($0)/32 dev lo" }
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        holder.arguments = [
            "-rn", "sh", "-c", (commands + ["echo ready", "exec cat"]).joined(separator: " && "),
        ]
        holder.standardInput = hold
        let answer = Pipe()
        holder.standardOutput = answer
        holder.standardError = FileHandle.nullDevice
        try holder.run()
        guard try answer.fileHandleForReading.read(upToCount: 5) == Data("ready".utf8) else {
            throw NoNetwork()
        }
    }

    func end() {
        for program in programs.all { program.process.terminate() }
        try? hold.fileHandleForWriting.close()
    }

    func run(_ name: String, _ arguments: [String]) throws -> Program {
        let output = FileManager.default.temporaryDirectory.appending(
            path: "\(name)-\(UUID().uuidString).log")
        try Data().write(to: output)
        let process = inside([ServiceProcess.executables.appending(path: name).path] + arguments)
        let file = try FileHandle(forWritingTo: output)
        (process.standardOutput, process.standardError) = (file, file)
        try process.run()
        let program = Program(process, output: output)
        programs.all.append(program)
        return program
    }

    func ip(_ arguments: String) throws {
        let process = inside(["ip"] + arguments.split(separator: " ").map(String.init))
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "ip \(arguments)")
    }

    private func inside(_ command: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/nsenter")
        let holder = String(holder.processIdentifier)
        process.arguments = ["-t", holder, "-U", "-n", "--preserve-credentials"] + command
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        process.standardInput = FileHandle.nullDevice
        return process
    }
}
