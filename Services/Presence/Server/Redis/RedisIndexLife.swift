import RTMModel
import RTMRedis

/// Lets the indexes of users (`RedisMemberIndex`) live as long as the leases: an index that no lease keeps
/// ends after an hour. So an edge and a node that die in the middle of their work leave nothing in Redis for
/// ever.
///
/// A round through the members of a lease costs a command for each of them. So a key beside the lease says
/// that there was one, whichever node made it. It ends half a life later, and the next round follows.
final class RedisIndexLife {
    /// How long an index lives that nobody keeps, in milliseconds. It is longer than any lease and any
    /// presence timeout together.
    static let span: UInt64 = 3_600_000
    /// How long other nodes wait for a round that is under way, in milliseconds.
    private static let roundMax: UInt64 = 60_000
    /// Limit: members of which a step of a round takes care.
    private static let membersPerStep = 256

    private let client: RedisClient
    private let keys: RedisKeys

    init(client: RedisClient, keys: RedisKeys) {
        self.client = client
        self.keys = keys
    }

    /// The lease was renewed.
    func keep(_ lease: UInt64) {
        let claim = RedisCommand(
            "SET", .text(keys.round(of: lease)), "1", "NX", "PX", RedisArgument(Self.roundMax))
        client.send(claim) { [self] outcome in
            // Redis answers null if the key is there.
            guard case .success(.string) = outcome else { return }
            step(lease, part: 0, after: nil)
        }
    }

    /// Takes care of the members of a part that come after the given one.
    private func step(_ lease: UInt64, part: Int, after last: RedisReply?) {
        guard part < RedisKeys.partCount else { return finish(lease) }
        let members = keys.members(under: lease, in: part, after: last, countMax: Self.membersPerStep)
        client.send(members) { [self] outcome in
            guard case .success(let reply) = outcome else { return giveUp(lease) }
            let isWhole = (reply.elements?.count ?? 0) < Self.membersPerStep
            let stepEnded: RedisBatches.Completion = { [self] outcome in
                guard case .success = outcome else { return giveUp(lease) }
                step(lease, part: isWhole ? part + 1 : part, after: isWhole ? nil : reply.elements?.last)
            }
            RedisBatches.forEach(.success(reply), RedisKeys.parseUnder, stepEnded) { [self] member, done in
                let user = UserKey(appID: member.channel.appID, userID: member.user)
                client.send(
                    RedisCommand("PEXPIRE", .text(keys.channels(of: user)), RedisArgument(Self.span))
                ) { done($0.mapError(RTMError.init).map { _ in }) }
            }
        }
    }

    private func finish(_ lease: UInt64) {
        let next = RedisArgument(Self.span / 2)
        client.send(RedisCommand("PEXPIRE", .text(keys.round(of: lease)), next)) { _ in }
    }

    /// The next renewal begins another round.
    private func giveUp(_ lease: UInt64) {
        client.send(RedisCommand("DEL", .text(keys.round(of: lease)))) { _ in }
    }
}
