import NIOCore
import RTMClient
import RTMTestSupport
import Testing

/// Clients with two ways to real edges, through lines that fail (N-5).
@Suite(.serialized) struct SecondPathTests {
    /// A user with two ways, and one who has a good line and talks all the time.
    ///
    /// - Parameter deadServers: how many servers between the two that nobody answers at.
    private func withPaths(
        to edges: Int, deadServers: Int = 0, _ body: (TwoWays, RunningSystem) async throws -> Void
    ) async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            var addresses = [system.address("edge")]
            if edges == 1 {
                addresses.append(addresses[0])
            } else {
                try await system.launchEdge()
                addresses.append(system.address("edge"))
            }
            let lines = [
                try await FaultProxy.start(to: addresses[0]), try await FaultProxy.start(to: addresses[1]),
            ]
            var servers = try lines.map { try ServerAddress($0.address) }
            let dead = try FreePorts.take(deadServers).map { ServerAddress(host: "127.0.0.1", port: $0) }
            servers.insert(contentsOf: dead, at: 1)
            let all = servers
            let walker = try system.client("walker") {
                $0.servers = all
                $0.secondPath = .otherServer
            }
            try await TwoWays.with(walker, system.client("talker")) { ways in
                ways.lines = lines
                try await body(ways, system)
            }
            for line in lines { try await line.stop() }
        }
    }

    @Test(
        "N-5: one way stalls, then the other, then the first again: all arrives once, the link stays up",
        arguments: [1, 2])
    func stalls(edges: Int) async throws {
        try await withPaths(to: edges) { ways, _ in
            try await ways.standsBy(1)
            for line in [0, 1, 0] {
                ways.lines[line].spoil(.stall)
                try await ways.arrive(within: .seconds(5))
                try await ways.publish(20)
                // What was cut off is good again, so that it can stand by.
                ways.lines[line].spoil(.reset)
                try await ways.standsBy(line)
                // The next change may come after the hold.
                try await ways.arrive(for: .seconds(4))
            }
            try await ways.finish()
        }
    }

    @Test("N-5: a way that becomes slow, by three seconds, is left for the other one")
    func slow() async throws {
        try await withPaths(to: 1) { ways, _ in
            try await ways.standsBy(1)
            ways.lines[0].delayAll(.seconds(3))
            try await ways.arrive(within: .seconds(5))
            try await ways.publish(20)
            try await ways.finish()
        }
    }

    @Test("N-5: the edge of the first way is killed, and the session goes on at the other one")
    func killedEdge() async throws {
        try await withPaths(to: 2) { ways, system in
            try await ways.standsBy(1)
            try await system.process("rtm-edge", first: true).kill9()
            try await ways.arrive(within: .seconds(5))
            try await ways.publish(20)
            try await ways.finish()
        }
    }

    @Test("N-5: servers that refuse give way at once to one that answers, also when it is opened anew")
    func deadServers() async throws {
        try await withPaths(to: 1, deadServers: 6) { ways, _ in
            let began = ContinuousClock.now
            try await ways.standsBy(1)
            #expect(ContinuousClock.now - began < .seconds(10), "pauses of 1, 2, 4 … 32 s are longer")
            // It is opened anew after 7.5 seconds. The old one ends after ten, and then one is there still.
            try await ways.arrive(for: .seconds(12))
            #expect(ways.lines[1].connectionCount > 0)
            try await ways.finish()
        }
    }

    @Test("N-5: without a stall a client stays where it is, and the second connection is opened anew")
    func quiet() async throws {
        try await withPaths(to: 1) { ways, _ in
            try await ways.standsBy(1)
            try await ways.arrive(for: .seconds(12))
            #expect(ways.lines[0].connectionCount == 1)
            try await ways.standsBy(1)
            try await ways.finish()
        }
    }
}
