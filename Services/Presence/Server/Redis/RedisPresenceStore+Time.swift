import RTMModel
import RTMRedis
import RTMWire

/// The work that becomes due. Every node sweeps, and the scripts ensure that only one node does
/// each step.
extension RedisPresenceStore {
    /// Limit: channels that one sweep takes.
    private static let channelsPerSweep = 500
    /// Limit: channels in work at once; the next ones follow when these are answered. So they don't take the
    /// room that calls need among the commands that wait for Redis.
    private static let channelsAtOnce = 64
    /// After this time another node may take what a node has claimed and not finished, in milliseconds.
    static let claim: UInt64 = 5_000

    package func renew(_ lease: UInt64, _ done: @escaping Completion<Bool>) { leases.renew(lease, done) }

    package func synced(
        _ lease: UInt64, except kept: Set<MemberKey>, _ done: @escaping Completion<Void>
    ) {
        leases.synced(lease, except: kept, done)
    }

    package func sweep(_ done: @escaping Completion<Void>) {
        told.forgetIdle(now: clock())
        run.setClock()
        let both = Gathering(count: 2, done)
        leases.endDue(claim: Self.claim, both.finished)
        lookAtChannels(both.finished)
        client.send(RedisCommand("ZCARD", .text(keys.leases))) { [self] outcome in
            if case .success(let reply) = outcome { totals.leases = Int(reply.number ?? 0) }
        }
    }

    private func lookAtChannels(_ done: @escaping Completion<Void>) {
        let now = clock()
        let until = RedisArgument(now + Self.claim)
        client.run(
            PresenceScripts.claim, keys: [keys.due],
            [RedisArgument(now), until, RedisArgument(UInt64(Self.channelsPerSweep))]
        ) { [self] outcome in
            RedisTurns.forEach(outcome, RedisKeys.parse, atOnce: Self.channelsAtOnce, done) {
                [self] place, done in
                change(place.channel, PresenceScripts.advance, [], marksDue: false) { [self] outcome in
                    guard case .success(let reply) = outcome else { return done(outcome.map { _ in }) }
                    client.run(
                        PresenceScripts.settle, keys: [keys.due],
                        [.text(RedisKeys.field(place.channel)), until, next(reply, now)]
                    ) { done($0.mapError(RTMError.init).map { _ in }) }
                }
            }
        }
    }

    /// When the channel is to be visited again; sooner while its events are on their way.
    private func next(_ reply: RosterReply, _ now: UInt64) -> RedisArgument {
        let retry = reply.acknowledged < reply.sequence ? now + Self.claim : nil
        guard let due = [reply.due, retry].compactMap(\.self).min() else { return "" }
        return RedisArgument(due)
    }
}
