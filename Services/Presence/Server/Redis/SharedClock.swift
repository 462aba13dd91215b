import NIOCore
import RTMRedis

/// The time that all presence nodes share, as this node knows it between two answers of Redis
/// (Scripts/clock.lua). Pure.
///
/// Between the answers it continues with a clock that nobody sets, so a wrong time of day on the node's
/// machine means nothing.
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

/// The time that all nodes share. It is kept in one key, so in a Cluster all nodes ask the same master, and
/// nobody reads the clock of another one. The scripts get the time as an argument.
final class RedisClock {
    /// The longest step of the shared clock between two answers. It is much longer than a sweep takes.
    private static let stepMax: UInt64 = 5_000

    private let client: RedisClient
    private let keys: RedisKeys
    private var clock = SharedClock()
    /// A clock that tests move; nil stands for the clock that all nodes share.
    private let given: (() -> UInt64)?

    init(client: RedisClient, keys: RedisKeys, given: (() -> UInt64)?) {
        self.client = client
        self.keys = keys
        self.given = given
    }

    /// What has to be known before Redis is used.
    var prelude: [RedisClient.Prelude] {
        [RedisClient.Prelude(question) { [weak self] in self?.answered($0, isFirst: true) }]
    }

    private var question: RedisCommand {
        RedisCommand(PresenceScripts.clock, keys: [keys.clock], [RedisArgument(Self.stepMax)])
    }

    /// The time in milliseconds.
    func now() -> UInt64 { given?() ?? clock.now(local: Self.local) }

    /// The clock of this process, which nobody sets.
    private static var local: UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }

    /// Asks Redis for the time again, because the clocks of two machines drift apart.
    func setClock() {
        client.send(question) { [self] outcome in
            if case .success(let reply) = outcome { answered(reply, isFirst: false) }
        }
    }

    private func answered(_ reply: RedisReply, isFirst: Bool) {
        guard let time = reply.number else { return }
        clock.set(time, local: Self.local, isFirst: isFirst)
    }
}
