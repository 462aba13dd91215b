import NIOCore
import RTMRedis

/// The time that all presence nodes share, as this node knows it between two answers of Redis
/// (Scripts/clock.lua). Pure.
///
/// Between the answers it goes on with a clock that nobody sets, so a wrong time of day on the node's machine
/// means nothing.
struct SharedClock: Sendable, Hashable {
    private var offset: Int64 = 0
    private var latest: UInt64 = 0

    /// Redis has answered.
    ///
    /// - Parameters:
    ///   - local: a clock that never goes back, in milliseconds.
    ///   - isFirst: whether it is the first answer of a connection. Redis may have come back with older data,
    ///     and then its time goes back, too.
    mutating func set(_ shared: UInt64, local: UInt64, isFirst: Bool) {
        offset = Int64(clamping: shared) - Int64(clamping: local)
        if isFirst { latest = 0 }
    }

    /// Never goes back while a connection lasts, although an answer may be late.
    mutating func now(local: UInt64) -> UInt64 {
        latest = max(latest, UInt64(clamping: Int64(clamping: local) + offset))
        return latest
    }
}

/// Which run of the Redis server the connection leads to, and what time it is there.
final class RedisRun {
    /// The longest step of the shared clock between two answers. It is much longer than a sweep takes.
    private static let stepMax: UInt64 = 5_000

    private let client: RedisClient
    private let keys: RedisKeys
    private var clock = SharedClock()
    /// A clock that tests move; nil stands for the clock that all nodes share.
    private let given: (() -> UInt64)?
    /// Another one after each start of the server.
    private(set) var id = ""
    /// When the data in Redis began. After Redis has lost all data, edges fill the rosters without events.
    private(set) var born: UInt64?

    init(client: RedisClient, keys: RedisKeys, given: (() -> UInt64)?) {
        self.client = client
        self.keys = keys
        self.given = given
    }

    /// The commands that every connection begins with.
    var prelude: [RedisClient.Prelude] {
        let question = RedisCommand(
            "EVAL", .text(PresenceScripts.clock.source), "1", .text(keys.clock), RedisArgument(Self.stepMax))
        return [
            RedisClient.Prelude("INFO", "server") { [weak self] in self?.id = Self.id(in: $0.string ?? "") },
            RedisClient.Prelude(question) { [weak self] in self?.answered($0, isFirst: true) },
        ]
    }

    /// The line of `INFO server` that names this run of the server.
    private static func id(in text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("run_id:") }
        return line.map { String($0.dropFirst("run_id:".count)) } ?? ""
    }

    /// The time in milliseconds.
    func now() -> UInt64 { given?() ?? clock.now(local: Self.local) }

    /// The clock of this process, which nobody sets.
    private static var local: UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }

    /// Asks Redis for the time again, because the clocks of two machines drift apart.
    func setClock() {
        client.run(PresenceScripts.clock, keys: [keys.clock], [RedisArgument(Self.stepMax)]) {
            [self] outcome in
            if case .success(let reply) = outcome { answered(reply, isFirst: false) }
        }
    }

    /// Reads when the data in Redis began. If Redis has none, they begin now.
    func readBirth() {
        client.sendOnly(["SET", .text(keys.born), RedisArgument(now()), "NX"])
        client.send(RedisCommand("GET", .text(keys.born))) { [self] outcome in
            if case .success(let reply) = outcome { born = reply.number }
        }
    }

    private func answered(_ reply: RedisReply, isFirst: Bool) {
        guard let time = reply.number else { return }
        clock.set(time, local: Self.local, isFirst: isFirst)
    }
}
