import RTMModel
import RTMRedis
import RTMWire

/// The work that becomes due. Every node sweeps, and the scripts ensure that only one node does
/// each step.
extension RedisPresenceStore {
    /// Limit: channels that one sweep takes of each part.
    private static let channelsPerSweep = 64
    /// Limit: channels of each part in work at once; the next ones follow when these are answered. So they
    /// don't take the room that calls need among the commands that wait for Redis.
    private static let channelsAtOnce = 4
    /// After this time another node may take what a node has claimed and not finished, and what is still in
    /// an outbox, in milliseconds.
    static let claim: UInt64 = 5_000

    package func renew(_ link: EdgeLink, _ done: @escaping Completion<Bool>) { leases.renew(link, done) }

    package func synced(
        _ link: EdgeLink, except kept: Set<MemberKey>, _ done: @escaping Completion<Void>
    ) {
        leases.synced(link, except: kept, done)
    }

    package func sweep(_ done: @escaping Completion<Void>) {
        announcedEvents.forgetIdle(now: clock())
        time.setClock()
        let all = CompletionGroup(count: 1 + RedisKeys.partCount, done)
        leases.endDue(claim: Self.claim, all.finished)
        // Parts are swept independently of each other: one may be out of reach.
        for part in 0..<RedisKeys.partCount { lookAtChannels(of: part, all.finished) }
        client.send(RedisCommand("ZCARD", .text(keys.leases))) { [self] outcome in
            if case .success(let reply) = outcome { totals.leases = Int(reply.number ?? 0) }
        }
    }

    /// A part whose data have begun anew has lost all members, perhaps without a lost connection.
    private func began(_ part: Int, _ born: UInt64?) {
        if births[part] != nil, births[part] != born { leases.dataWereLost() }
        births[part] = born
    }

    private func lookAtChannels(of part: Int, _ done: @escaping Completion<Void>) {
        let now = clock()
        client.run(
            PresenceScripts.claim, keys: [keys.due(part), keys.facts(part), keys.absent(part)],
            [
                RedisArgument(now), RedisArgument(now + Self.claim),
                RedisArgument(UInt64(Self.channelsPerSweep)), .server(.history),
            ]
        ) { [self] outcome in
            // The first element says when the data began, and is no channel.
            if case .success(let reply) = outcome { began(part, reply.elements?.first?.number) }
            RedisBatches.forEach(outcome, RedisKeys.parse, atOnce: Self.channelsAtOnce, done) {
                [self] place, done in
                change(place.channel, PresenceScripts.advance, []) { done($0.map { _ in }) }
            }
        }
    }
}
