import Foundation
import NIOCore
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// An edge whose process has no descriptor left.
@Suite(.serialized) struct DescriptorTests {
    @Test("without descriptors an edge pauses and doesn't spin; others come in later")
    func exhausted() async throws {
        try await RunningSystem.with(.standalone) { system in
            try await system.withClients("alice", "bob") { clients in
                var received = clients[1].events().makeAsyncIterator()
                try await clients[1].subscribe(to: "lobby", features: .message)
                let pid = try system.process("rtm-standalone").pid
                let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
                try setLimit(open + 20, of: pid)
                var crowd: [RawConnection] = []
                for _ in 0..<60 { crowd.append(try await RawConnection.open(system.address("edge"))) }
                let before = try ProcessorTime.of(pid)
                await letPass(.seconds(3))
                #expect(try ProcessorTime.of(pid) - before < 1)
                try await clients[0].publish("still here", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("still here"))
                for connection in crowd { try await connection.close() }
                try await system.withClients("carol") { _ in }
                let metrics = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics")
                    .body
                #expect(metrics.contains("process_max_fds \(open + 20)"))
                #expect(!metrics.contains("rtm_accept_pauses_total 0"))
            }
        }
    }

    private func setLimit(_ count: Int, of pid: Int32) throws {
        let process = ChildProcess()
        process.executableURL = URL(filePath: "/usr/bin/prlimit")
        process.arguments = ["--pid", "\(pid)", "--nofile=\(count):\(count)"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
