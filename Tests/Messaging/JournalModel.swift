import NIOCore
import RTMRedisTestSupport
import RTMTestSupport

@testable import RTMMessagingServer
@testable import RTMRedis

extension SimulatedRedis {
    /// Answers a command as if its client had sent it over a connection.
    ///
    /// - Parameter configEpoch: the epoch of the server, as far as the client knows.
    mutating func answer(
        _ command: RedisCommand, configEpoch: UInt64 = 0, now: UInt64
    ) -> Result<RedisReply, RedisFailure> {
        var facts = ServerFacts(configEpoch: configEpoch)
        for part in ["server", "replication"] { facts.read(self.facts(part)) }
        let reply = answer(command.words(of: facts), now: now)
        if case .error(let text) = reply { return .failure(.refused(text)) }
        return .success(reply)
    }
}

extension RedisCommand {
    /// Scripts are known by their names.
    fileprivate func words(of server: ServerFacts) -> [[UInt8]] {
        switch content {
        case .plain(let arguments): arguments.map { $0.bytes(of: server) }
        case .script(let script, let keys, let arguments):
            ["EVALSHA", script.name, "\(keys.count)"].map { Array($0.utf8) } + keys.map { Array($0.utf8) }
                + arguments.map { $0.bytes(of: server) }
        }
    }
}

extension RedisArgument {
    fileprivate func bytes(of server: ServerFacts) -> [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .buffer(let buffer): Array(buffer.readableBytesView)
        case .server(let fact): Array(server[fact].utf8)
        }
    }
}

/// A node that keeps a list of numbers as its memory: each leaves the node only when it is in the journal.
struct ModelNode {
    var leadership: ShardLeadership
    /// What is in memory.
    var memory: [UInt8] = []
    /// What waits for the journal, under its number.
    var waiting: [(number: UInt64, entries: [UInt8])] = []
    /// Set while the process ends.
    var stepDown: GracefulStepDown?
    var hasEnded = false
    /// While it is paused or dead, nothing happens in it.
    var sleepsUntil: UInt64 = 0

    var takesRequests: Bool { leadership.isLeader && !leadership.state.isDraining }

    init(_ limits: JournalLimits) { leadership = ShardLeadership(limits) }
}
