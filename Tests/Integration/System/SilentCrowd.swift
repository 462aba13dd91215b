import NIOCore
import NIOPosix
import Synchronization

/// Connections from many addresses of this machine that say nothing. One that the server closes is forgotten.
final class SilentCrowd: Sendable {
    private let open = Mutex<[any Channel]>([])

    /// Tries to open so many connections from each of so many addresses: 127.0.0.2, 127.0.0.3 and so on.
    func gather(_ count: Int, from addresses: Int, before target: String) async throws {
        let parts = target.split(separator: ":")
        let (host, port) = (String(parts[0]), Int(parts[1]) ?? 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<addresses {
                let source = try SocketAddress(ipAddress: "127.0.0.\(number + 2)", port: 0)
                group.addTask {
                    for _ in 0..<count { await self.connect(to: host, port, from: source) }
                }
            }
            try await group.waitForAll()
        }
    }

    private func connect(to host: String, _ port: Int, from source: SocketAddress) async {
        // A server that doesn't accept for the moment lets a connection wait, and then nothing is wrong.
        let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.milliseconds(200))
            .bind(to: source)
            .connect(host: host, port: port).get()
        if let channel { open.withLock { $0.append(channel) } }
    }

    func leave() async {
        for channel in open.withLock({ $0 }) { try? await channel.close() }
    }
}
