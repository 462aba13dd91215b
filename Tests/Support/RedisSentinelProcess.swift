import Foundation
import Synchronization
import Testing

/// A master of Redis, a replica, and three sentinels that watch them. Their data go with them.
package final class RedisSentinelProcess: Sendable {
    package static let name = "roster-master"

    private let running: Mutex<[RedisNode]>
    package let sentinels: [RedisNode]
    private let directory: URL

    private init() throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "redis-sentinel-\(UUID().uuidString.prefix(8))")
        let directory = self.directory
        let ports = try FreePorts.take(5)
        running = Mutex(
            try ports.prefix(2).map { port in
                try RedisNode(
                    port: port, in: directory,
                    options: port == ports[0] ? [] : ["--replicaof", "127.0.0.1", "\(ports[0])"])
            })
        sentinels = try ports.dropFirst(2).map { port in
            try Self.sentinel(port, of: ports[0], in: directory)
        }
    }

    package var servers: [RedisNode] { running.withLock { $0 } }

    /// Where clients find the sentinels.
    package var endpoints: String { sentinels.map { "127.0.0.1:\($0.port)" }.joined(separator: ",") }

    /// What a service is told to reach the master through the sentinels.
    package var clientOptions: [String] {
        ["--redis-mode", "sentinel", "--redis-endpoints", endpoints, "--redis-sentinel-master", Self.name]
    }

    /// Sentinels write what they find out into their configuration.
    private static func sentinel(_ port: Int, of master: Int, in directory: URL) throws -> RedisNode {
        let file = directory.appending(path: "\(port).conf")
        let lines = [
            "port \(port)", "bind 127.0.0.1", "sentinel monitor \(name) 127.0.0.1 \(master) 2",
            "sentinel down-after-milliseconds \(name) 1000", "sentinel failover-timeout \(name) 1500",
        ]
        try (lines.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
        return try RedisNode(port: port, in: directory, [file.path, "--sentinel"])
    }

    package static func with(_ body: (RedisSentinelProcess) async throws -> Void) async throws {
        let process = try RedisSentinelProcess()
        defer { process.remove() }
        for node in process.servers + process.sentinels { try await node.isListening() }
        try await process.isReady()
        try await body(process)
    }

    /// The sentinels know each other and the replica, so they can agree on a failover.
    private func isReady() async throws {
        try await eventually("the replica is up to date") {
            servers[1].answers("master_link_status:up", "INFO", "replication")
        }
        for sentinel in sentinels {
            try await eventually("the sentinels know each other", within: .seconds(60)) {
                guard let answer = try? sentinel.command("SENTINEL", "MASTER", Self.name) else {
                    return false
                }
                let words = answer.split(whereSeparator: \.isNewline)
                func value(_ name: String) -> Substring? {
                    words.firstIndex { $0 == name }.map { words[$0 + 1] }
                }
                return value("num-other-sentinels") == "2" && value("num-slaves") == "1"
            }
        }
    }

    /// The server that the sentinels name.
    package func master() throws -> RedisNode {
        for sentinel in sentinels {
            guard
                let answer = try? sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", Self.name),
                let port = answer.split(whereSeparator: \.isNewline).last.flatMap({ Int($0) }),
                let server = servers.first(where: { $0.port == port })
            else { continue }
            return server
        }
        throw ServiceProcessFailure(description: "no sentinel names the master")
    }

    /// The master dies, and its replica takes over. Then the dead one comes back as a replica, without its
    /// data.
    ///
    /// - Parameter meanwhile: what happens while there is no master.
    package func replaceMaster(_ meanwhile: () async throws -> Void = {}) async throws {
        let old = try master()
        old.end()
        try await meanwhile()
        try await isMaster(otherThan: old)
        let back = try RedisNode(
            port: old.port, in: directory,
            options: ["--replicaof", "127.0.0.1", "\(try master().port)"])
        running.withLock { $0 = $0.map { $0.port == old.port ? back : $0 } }
        try await back.isListening()
        try await isReplicated()
    }

    /// The sentinels make the replica the master, and the master its replica.
    package func failOver() async throws {
        try await chooseOther()
        try await isReplicated()
    }

    /// The sentinels make the other server the master. They make the present one its replica only some
    /// seconds later, and until then it takes writes.
    package func chooseOther() async throws {
        let old = try master()
        // A sentinel gives a failover up when it finds no server that is good enough, and is asked again
        // then. It isn't asked before: what it has just finished would begin anew, and choose the old server.
        try await eventually("the sentinels choose the other server", within: .seconds(60)) {
            let state = try? sentinels[0].command("SENTINEL", "MASTER", Self.name)
            guard try master().port == old.port else { return true }
            if state?.contains("failover_in_progress") == false {
                _ = try? sentinels[0].command("SENTINEL", "FAILOVER", Self.name)
            }
            return false
        }
    }

    /// The process ends, and another one begins where it was, with the snapshot that was saved last, before
    /// the sentinels notice it.
    package func restart(_ server: RedisNode) async throws {
        server.end()
        let back = try RedisNode(port: server.port, in: directory, options: [])
        running.withLock { $0 = $0.map { $0.port == server.port ? back : $0 } }
        try await back.isListening()
    }

    package func isMaster(otherThan old: RedisNode) async throws {
        try await eventually("the replica is the master", within: .seconds(60)) {
            try master().port != old.port
        }
    }

    /// Every other server has what the master has, so it can take over.
    package func isReplicated() async throws {
        try await eventually("the replica follows the master", within: .seconds(60)) {
            let master = try master()
            return servers.allSatisfy {
                $0.port == master.port || $0.answers("master_link_status:up", "INFO", "replication")
            }
        }
    }

    /// Runs the body beside one more replica of the present master.
    package func withReplica(_ body: () async throws -> Void) async throws {
        let master = try master()
        let replica = try RedisNode(
            port: FreePorts.take(1)[0], in: directory,
            options: ["--replicaof", "127.0.0.1", "\(master.port)"])
        defer { replica.end() }
        try await replica.isListening()
        try await body()
    }

    private func remove() {
        for node in sentinels + servers { node.end() }
        try? FileManager.default.removeItem(at: directory)
    }
}
