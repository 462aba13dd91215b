import Foundation
package import Testing

/// A Redis Cluster of the test's own: three masters and three replicas. Its data go with it.
package final class RedisClusterProcess: Sendable {
    /// What a node says about a node.
    package struct Member: Sendable {
        package let id: String
        package let port: Int
        package let isMaster: Bool
        package let isFailing: Bool
        package let master: String
        let slots: [ClosedRange<Int>]
    }

    /// The Cluster of the suite that runs.
    @TaskLocal package static var shared: RedisClusterProcess?

    package let nodes: [RedisNode]
    private let directory: URL

    private init() throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "redis-cluster-\(UUID().uuidString.prefix(8))")
        let ports = try FreePorts.take(12)
        let directory = self.directory
        nodes = try zip(ports.prefix(6), ports.suffix(6)).map { port, bus in
            try RedisNode(
                port: port, in: directory,
                options: [
                    "--cluster-enabled", "yes", "--cluster-port", "\(bus)", "--cluster-node-timeout", "1000",
                    "--cluster-replica-validity-factor", "0",
                ])
        }
    }

    package static func with(_ body: (RedisClusterProcess) async throws -> Void) async throws {
        let cluster = try RedisClusterProcess()
        defer { cluster.remove() }
        try await cluster.form()
        try await body(cluster)
    }

    private func remove() {
        for node in nodes { node.end() }
        try? FileManager.default.removeItem(at: directory)
    }

    // MARK: - Forming

    private func form() async throws {
        for node in nodes { try await node.isListening() }
        let ids = try nodes.map {
            try $0.command("CLUSTER", "MYID").trimmingCharacters(in: .whitespacesAndNewlines)
        }
        for (index, node) in nodes.enumerated() {
            try node.command("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
        }
        for (index, range) in [(0, 5_460), (5_461, 10_922), (10_923, 16_383)].enumerated() {
            try nodes[index].command("CLUSTER", "ADDSLOTSRANGE", "\(range.0)", "\(range.1)")
        }
        for node in nodes.dropFirst() { try meet(node) }
        for node in nodes {
            try await eventually("all nodes know each other", within: .seconds(60)) {
                node.answers("cluster_known_nodes:6", "CLUSTER", "INFO")
                    && !node.answers("handshake", "CLUSTER", "NODES")
            }
        }
        for index in 0..<3 { try nodes[index + 3].command("CLUSTER", "REPLICATE", ids[index]) }
        try await isWhole()
    }

    private func meet(_ node: RedisNode) throws {
        let answer = try node.command("CONFIG", "GET", "cluster-port")
        let bus = answer.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
        try nodes[0].command("CLUSTER", "MEET", "127.0.0.1", "\(node.port)", bus)
    }

    /// Every slot has a master, and all replicas are up to date.
    package func isWhole() async throws {
        try await eventually("the Cluster is whole", within: .seconds(60)) {
            nodes.allSatisfy { $0.answers("cluster_state:ok", "CLUSTER", "INFO") }
                && nodes.count { $0.answers("master_link_status:up", "INFO", "replication") } == 3
        }
    }

    // MARK: - Members

    /// What the nodes that answer say; the first one answers.
    package func members() throws -> [Member] {
        for node in nodes {
            guard let answer = try? node.command("CLUSTER", "NODES") else { continue }
            return answer.split(whereSeparator: \.isNewline).compactMap(Self.member)
        }
        throw ServiceProcessFailure(description: "no node answers")
    }

    private static func member(_ line: Substring) -> Member? {
        let words = line.split(separator: " ")
        guard words.count >= 8, let port = words[1].split(separator: "@")[0].split(separator: ":").last else {
            return nil
        }
        let flags = words[2].split(separator: ",")
        let slots = words.dropFirst(8).compactMap { text -> ClosedRange<Int>? in
            let ends = text.split(separator: "-").compactMap { Int($0) }
            return ends.isEmpty ? nil : ends[0]...(ends.last ?? ends[0])
        }
        return Member(
            id: String(words[0]), port: Int(port) ?? 0, isMaster: flags.contains("master"),
            isFailing: flags.contains("fail") || flags.contains("fail?"), master: String(words[3]),
            slots: slots)
    }

    package func node(_ member: Member) throws -> RedisNode {
        guard let node = nodes.first(where: { $0.port == member.port }) else {
            throw ServiceProcessFailure(description: "no node has the port \(member.port)")
        }
        return node
    }

    package func master(of slot: Int) throws -> Member {
        guard
            let member = try members().first(where: { member in
                member.isMaster && member.slots.contains { $0.contains(slot) }
            })
        else { throw ServiceProcessFailure(description: "nobody serves slot \(slot)") }
        return member
    }

    /// A master that doesn't serve the slot.
    package func otherMaster(than slot: Int) throws -> Member {
        let present = try master(of: slot)
        guard
            let other = try members().first(where: {
                $0.isMaster && $0.id != present.id && !$0.isFailing && !$0.slots.isEmpty
            })
        else { throw ServiceProcessFailure(description: "there is one master only") }
        return other
    }

    /// The slot of the first key that fits the pattern.
    package func slot(ofKey pattern: String) throws -> Int {
        for node in nodes {
            guard let key = try node.command("KEYS", pattern).split(whereSeparator: \.isNewline).first,
                let slot = Int(
                    try node.command("CLUSTER", "KEYSLOT", String(key))
                        .trimmingCharacters(in: .whitespacesAndNewlines))
            else { continue }
            return slot
        }
        throw ServiceProcessFailure(description: "no key fits \(pattern)")
    }

    // MARK: - What happens to it

    /// Makes the replica of a slot's master the master, without a loss.
    package func failOver(_ slot: Int) async throws {
        let old = try master(of: slot)
        guard let replica = try members().first(where: { $0.master == old.id && !$0.isFailing }) else {
            throw ServiceProcessFailure(description: "\(old.port) has no replica")
        }
        try node(replica).command("CLUSTER", "FAILOVER")
        try await isServed(slot, by: replica.id)
    }

    /// Kills the master of a slot, and waits until its replica has taken over.
    package func killMaster(of slot: Int) async throws {
        let old = try master(of: slot)
        try node(old).end()
        try await eventually("a replica takes over", within: .seconds(60)) {
            (try? master(of: slot)).map { $0.id != old.id && !$0.isFailing } == true
        }
    }

    /// Moves a slot with its keys to another master, some keys at a time.
    ///
    /// - Parameter halfway: is called while some keys are here and others there.
    package func move(_ slot: Int, halfway: () async throws -> Void = {}) async throws {
        let (from, to) = (try master(of: slot), try otherMaster(than: slot))
        let (source, target) = (try node(from), try node(to))
        try target.command("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", from.id)
        try source.command("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", to.id)
        var wasHalfway = false
        while true {
            let keys = try source.command("CLUSTER", "GETKEYSINSLOT", "\(slot)", wasHalfway ? "100" : "1")
                .split(separator: "\n").map(String.init)
            if keys.isEmpty { break }
            try source.command(
                ["MIGRATE", "127.0.0.1", "\(target.port)", "", "0", "5000", "KEYS"] + keys)
            if !wasHalfway { try await halfway() }
            wasHalfway = true
        }
        try target.command("CLUSTER", "SETSLOT", "\(slot)", "NODE", to.id)
        try source.command("CLUSTER", "SETSLOT", "\(slot)", "NODE", to.id)
        try await isServed(slot, by: to.id)
    }

    private func isServed(_ slot: Int, by id: String) async throws {
        try await eventually("slot \(slot) is served by another master") {
            (try? master(of: slot).id) == id
        }
    }
}

/// The tests of the suite share a Cluster.
package struct OverRedisCluster: SuiteTrait, TestScoping {
    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await RedisClusterProcess.with { cluster in
            try await RedisClusterProcess.$shared.withValue(cluster) { try await function() }
        }
    }
}

extension Trait where Self == OverRedisCluster {
    package static var overRedisCluster: Self { OverRedisCluster() }
}
