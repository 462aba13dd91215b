import RTMModel
import RTMRedis
import RTMWire

/// Leases, and the work that becomes due. Every node sweeps, and the scripts ensure that only one node does
/// each step.
extension RedisPresenceStore {
    /// Limit: leases and channels that one sweep takes.
    private static let leasesPerSweep = 8
    private static let channelsPerSweep = 500
    /// Limit: members and channels in work at once; the next ones follow when these are answered. So a lease
    /// with many sessions doesn't take the room that calls need among the commands that wait for Redis.
    private static let losesAtOnce = 256
    private static let channelsAtOnce = 64
    /// After this time another node may take what a node has claimed and not finished, in milliseconds.
    static let claim: UInt64 = 5_000
    /// How long an index of members lives that nobody renews, in milliseconds. It is longer than any lease.
    private static let indexLife: UInt64 = 3_600_000

    package func renew(_ lease: UInt64, _ done: @escaping Completion<Bool>) {
        // Redis may have lost all data since the last renewal.
        run.readBirth()
        send("PEXPIRE", .text(keys.members(under: lease)), RedisArgument(Self.indexLife))
        client.run(
            PresenceScripts.renew, keys: [keys.leases, keys.knownLeases],
            [RedisArgument(lease), RedisArgument(clock() + rules.leaseTimeToLive)]
        ) { [self] outcome in
            done(
                outcome.mapError(RTMError.init).map { $0 == .integer(1) && trustedLeases.contains(lease) })
        }
    }

    package func synced(
        _ lease: UInt64, except kept: Set<MemberKey>, _ done: @escaping Completion<Void>
    ) {
        loseMembers(under: lease, except: kept) { [self] outcome in
            guard case .success = outcome else { return done(outcome.map { _ in }) }
            client.send(RedisCommand("SADD", .text(keys.knownLeases), RedisArgument(lease))) {
                [self] outcome in
                if case .success = outcome { trustedLeases.insert(lease) }
                done(outcome.mapError(RTMError.init).map { _ in })
            }
        }
    }

    /// Gives whether a member came in under the lease meanwhile.
    private func loseMembers(
        under lease: UInt64, except kept: Set<MemberKey>, _ done: @escaping Completion<Bool>
    ) {
        // A kept member has just been reported again, so its session is the present one.
        let keptFields = Set(kept.map { RedisKeys.field($0.channel, $0.user) })
        let loss = LeaseLoss()
        losses[lease, default: []].append(loss)
        let command = RedisCommand("SMEMBERS", .text(keys.members(under: lease)))
        client.send(command) { [self] outcome in
            let parse: (RedisReply) -> (field: String, place: (channel: ChannelKey, user: String))? = {
                field in
                guard let text = field.string, !keptFields.contains(text) else { return nil }
                return RedisKeys.parse(field).map { (text, $0) }
            }
            let ended: Completion<Void> = { [self] outcome in
                losses[lease]?.removeAll { $0 === loss }
                if losses[lease]?.isEmpty == true { losses[lease] = nil }
                done(outcome.map { loss.sparesAny })
            }
            RedisTurns.forEach(outcome, parse, atOnce: Self.losesAtOnce, ended) { [self] member, done in
                guard !loss.spares(member.field) else { return done(.success(())) }
                lose(member.place.user, member.place.channel, session: nil, lease: lease, done)
            }
        }
    }

    package func sweep(_ done: @escaping Completion<Void>) {
        told.forgetIdle(now: clock())
        run.setClock()
        let both = Gathering(count: 2, done)
        endLeases(both.finished)
        lookAtChannels(both.finished)
        client.send(RedisCommand("ZCARD", .text(keys.leases))) { [self] outcome in
            if case .success(let reply) = outcome { totals.leases = Int(reply.number ?? 0) }
        }
    }

    private func endLeases(_ done: @escaping Completion<Void>) {
        let now = clock()
        guard now >= leasesEndFrom else { return done(.success(())) }
        let until = RedisArgument(now + Self.claim)
        client.run(
            PresenceScripts.expire, keys: [keys.leases, keys.knownLeases],
            [RedisArgument(now), until, RedisArgument(UInt64(Self.leasesPerSweep))]
        ) { [self] outcome in
            RedisTurns.forEach(outcome, \.number, done) { [self] lease, done in
                loseMembers(under: lease, except: []) { [self] outcome in
                    guard case .success(let isUsed) = outcome else { return done(outcome.map { _ in }) }
                    observer?.leasesExpired(1)
                    // A member that came in under the lease meanwhile still needs it.
                    let next = isUsed ? RedisArgument(clock() + rules.leaseTimeToLive) : ""
                    client.run(
                        PresenceScripts.settle, keys: [keys.leases], [RedisArgument(lease), until, next]
                    ) { done($0.mapError(RTMError.init).map { _ in }) }
                }
            }
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

/// The members under a lease are being declared lost, some at a time.
final class LeaseLoss {
    /// Members that have come in under the lease since. They are not lost, although their session isn't
    /// compared.
    private var spared: [String: Set<UInt64>] = [:]

    var sparesAny: Bool { !spared.isEmpty }
    func spares(_ member: String) -> Bool { spared[member] != nil }

    func spare(_ member: String, session: UInt64) { spared[member, default: []].insert(session) }

    /// The session didn't come in after all, because a newer login of its user is in the channel.
    func spareNot(_ member: String, session: UInt64) {
        spared[member]?.remove(session)
        if spared[member]?.isEmpty == true { spared[member] = nil }
    }
}
