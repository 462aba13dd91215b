import Foundation
import NIOCore
import RTMClient
import RTMTestSupport
import Testing

/// A device with two networks, in two network namespaces: one way is cut, in both directions or in one of
/// them, or slowed (N-5).
@Suite(
    .serialized,
    .enabled(if: Namespaces.arePermitted, "network namespaces need the rights of root and the program ip"))
struct TwoNetworksTests {
    /// A server in the other namespace, and two users.
    ///
    /// - Parameters:
    ///   - servers: where the first user looks for the server, given its port.
    ///   - path: the second path, given the interfaces of the device.
    private func withNetworks(
        servers: (Int) async throws -> [ServerAddress], path: ([String]) -> SecondPath,
        _ body: (Namespaces, TwoWays) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await Namespaces.with { namespaces in
            let server = try namespaces.launch(
                "rtm-standalone",
                [
                    "--listen", "0.0.0.0:0", "--admin", "127.0.0.1:0", "--gateway-listen", "127.0.0.1:0",
                    "--edge-web-socket-listen", "127.0.0.1:0",
                    "--data",
                    directory.appending(path: "data").path, "--edge-rates-publish", "0",
                    "--edge-rates-session-publish", "0",
                ], directory: directory)
            defer { server.signal(SIGKILL) }
            let address = try await server.listening()["edge"] ?? ""
            let port = try ServerAddress(address).port
            let walker = try client("walker", try await servers(port)) {
                $0.secondPath = path(namespaces.wires)
            }
            let talker = try client("talker", [ServerAddress(host: "10.213.2.2", port: port)])
            try await TwoWays.with(walker, talker) { try await body(namespaces, $0) }
        }
    }

    private func client(
        _ user: String, _ servers: [ServerAddress],
        _ change: (inout RTMClient.Configuration) -> Void = { _ in }
    ) throws -> RTMClient {
        var configuration = RTMClient.Configuration(servers: servers, appID: "dev", userID: user)
        configuration.tls = .disabled
        change(&configuration)
        return try RTMClient(configuration)
    }

    @Test(
        "N-5: one network is cut, in one direction or both, then the other: the session changes its interface",
        arguments: Namespaces.Direction.allCases)
    func cut(direction: Namespaces.Direction) async throws {
        try await withNetworks {
            [ServerAddress(host: Namespaces.server, port: $0)]
        } path: {
            .otherInterface(named: $0[1])
        } _: { namespaces, ways in
            // A second connection is there, and the first change may come.
            try await ways.arrive(for: .seconds(3))
            try namespaces.cut(0, direction)
            try await ways.arrive(within: .seconds(5))
            try await ways.publish(20)
            namespaces.mend(0)
            try await ways.arrive(for: .seconds(5))
            try namespaces.cut(1, direction)
            try await ways.arrive(within: .seconds(5))
            try await ways.publish(20)
            try await ways.finish()
        }
    }

    @Test(
        "N-5: the first network becomes slow, by three seconds, and the session goes on over the second one")
    func slow() async throws {
        let relay = Shared(FaultProxy?.none)
        try await withNetworks { port in
            let line = try await FaultProxy.start(to: "10.213.0.2:\(port)")
            relay.withLock { $0 = line }
            return [try ServerAddress(line.address), ServerAddress(host: "10.213.1.2", port: port)]
        } path: { _ in
            .otherServer
        } _: { _, ways in
            try await ways.arrive(for: .seconds(3))
            relay.present?.delayAll(.seconds(3))
            try await ways.arrive(within: .seconds(5))
            try await ways.publish(20)
            try await ways.finish()
        }
        try await relay.present?.stop()
    }
}
