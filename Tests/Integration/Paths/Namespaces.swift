import Foundation
import RTMTestSupport
import Testing

/// Two network namespaces that wires join, as a device with two networks is joined to a server.
///
///     device   wire 0   10.213.0.1 ── 10.213.0.2   server
///              wire 1   10.213.1.1 ── 10.213.1.2           10.213.9.9 is the server by wire 0 or 1
///              wire 2   10.213.2.1 ── 10.213.2.2           another user's good line
///
/// The device is the namespace of the test itself.
final class Namespaces: Sendable {
    /// The address that wires 0 and 1 lead to. The routes prefer wire 0.
    static let server = "10.213.9.9"

    private let name: String
    /// The interfaces of the device.
    let wires: [String]

    /// Whether this system lets the test make namespaces, which takes the rights of root.
    static let arePermitted: Bool = {
        guard let probe = try? Namespaces() else { return false }
        probe.remove()
        return true
    }()

    static func with(_ body: (Namespaces) async throws -> Void) async throws {
        let namespaces = try Namespaces()
        do {
            try await body(namespaces)
        } catch {
            namespaces.remove()
            throw error
        }
        namespaces.remove()
    }

    private init() throws {
        let number = UInt16.random(in: 0...UInt16.max)
        name = "rtm-\(number)"
        wires = (0...2).map { "rtm\($0)-\(number)" }
        try Self.run(["netns", "add", name])
        do {
            try join()
        } catch {
            remove()
            throw error
        }
    }

    private func join() throws {
        try inServer(["link", "set", "lo", "up"])
        try inServer(["addr", "add", "\(Self.server)/32", "dev", "lo"])
        for (index, wire) in wires.enumerated() {
            let peer = peer(index)
            try Self.run(["link", "add", wire, "type", "veth", "peer", "name", peer, "netns", name])
            try Self.run(["addr", "add", "10.213.\(index).1/24", "dev", wire])
            try inServer(["addr", "add", "10.213.\(index).2/24", "dev", peer])
            try Self.run(["link", "set", wire, "up"])
            try inServer(["link", "set", peer, "up"])
            guard index < 2 else { continue }
            try Self.run([
                "route", "add", "\(Self.server)/32", "via", "10.213.\(index).2", "dev", wire, "metric",
                "\(100 + index)",
            ])
        }
    }

    private func peer(_ wire: Int) -> String { "s\(wires[wire].dropFirst(3))" }

    /// Which way a wire lets nothing through. Nobody is told: the frames go to nobody.
    enum Direction: CaseIterable {
        case toServer, toDevice, both
    }

    /// Cuts a wire, silently.
    func cut(_ wire: Int, _ direction: Direction) throws {
        if direction != .toDevice { try Self.run(misleading("10.213.\(wire).2", wires[wire])) }
        if direction != .toServer { try inServer(misleading("10.213.\(wire).1", peer(wire))) }
    }

    func mend(_ wire: Int) {
        try? Self.run(["neigh", "del", "10.213.\(wire).2", "dev", wires[wire]])
        try? inServer(["neigh", "del", "10.213.\(wire).1", "dev", peer(wire)])
    }

    private func misleading(_ address: String, _ device: String) -> [String] {
        ["neigh", "replace", address, "lladdr", "02:00:00:00:00:99", "nud", "permanent", "dev", device]
    }

    /// Starts one of our programs where the server is.
    func launch(_ program: String, _ arguments: [String], directory: URL) throws -> ServiceProcess {
        try ServiceProcess(
            program, arguments, directory: directory, environment: Self.environment,
            entrance: ["ip", "netns", "exec", name])
    }

    private static let environment = ["PATH": "/usr/sbin:/sbin:/usr/bin:/bin"]

    private func inServer(_ arguments: [String]) throws { try Self.run(["-n", name] + arguments) }

    private func remove() {
        for wire in wires { try? Self.run(["link", "del", wire]) }
        try? Self.run(["netns", "del", name])
    }

    private static func run(_ arguments: [String]) throws {
        let ip = ChildProcess()
        ip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        ip.arguments = ["ip"] + arguments
        ip.environment = environment
        ip.standardError = FileHandle.nullDevice
        try ip.run()
        ip.waitUntilExit()
        guard ip.terminationStatus == 0 else {
            throw ServiceProcessFailure(description: "ip \(arguments.joined(separator: " ")) failed")
        }
    }
}
