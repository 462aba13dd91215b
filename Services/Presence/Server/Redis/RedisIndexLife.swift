import RTMModel
import RTMRedis

/// Lets the indexes (`RedisMemberIndex`) live as long as the leases: an index that no lease keeps ends after
/// an hour. So an edge and a node that die in the middle of their work leave nothing in Redis for ever.
///
/// A round through the members of a lease costs a command for each of them. So the lease's own index says
/// when the last round was, whichever node made it, and the next one follows half a life later.
final class RedisIndexLife {
    /// How long an index lives that nobody keeps, in milliseconds. It is longer than any lease and any
    /// presence timeout together.
    static let span: UInt64 = 3_600_000
    /// Limit: members of which a step of a round takes care.
    private static let membersPerStep: UInt64 = 256

    private let client: RedisClient
    private let keys: RedisKeys
    /// The leases whose rounds are under way at this node.
    private var rounds: Set<UInt64> = []

    init(client: RedisClient, keys: RedisKeys) {
        self.client = client
        self.keys = keys
    }

    /// The lease was renewed.
    func keep(_ lease: UInt64) {
        guard rounds.insert(lease).inserted else { return }
        client.send(RedisCommand("PTTL", .text(keys.members(under: lease)))) { [self] outcome in
            // Redis answers -1 if the index has no end yet, and -2 if there is none.
            guard case .success(.integer(let rest)) = outcome, rest >= -1, rest < Self.span / 2 else {
                return end(lease)
            }
            step(lease, from: "0")
        }
    }

    private func step(_ lease: UInt64, from cursor: String) {
        let command = RedisCommand(
            "SSCAN", .text(keys.members(under: lease)), .text(cursor), "COUNT",
            RedisArgument(Self.membersPerStep))
        client.send(command) { [self] outcome in
            guard case .success(.array(let parts)) = outcome, parts.count == 2, let next = parts[0].string
            else { return end(lease) }
            let stepEnded: RedisTurns.Completion = { [self] outcome in
                guard case .success = outcome else { return end(lease) }
                next == "0" ? finish(lease) : step(lease, from: next)
            }
            RedisTurns.forEach(.success(parts[1]), RedisKeys.parse, stepEnded) { [self] member, done in
                let user = UserKey(appID: member.channel.appID, userID: member.user)
                client.send(
                    RedisCommand("PEXPIRE", .text(keys.channels(of: user)), RedisArgument(Self.span))
                ) { done($0.mapError(RTMError.init).map { _ in }) }
            }
        }
    }

    /// The lease's own index comes last: after a round that failed, the next renewal begins another one.
    private func finish(_ lease: UInt64) {
        client.sendOnly(["PEXPIRE", .text(keys.members(under: lease)), RedisArgument(Self.span)])
        end(lease)
    }

    private func end(_ lease: UInt64) { rounds.remove(lease) }
}
