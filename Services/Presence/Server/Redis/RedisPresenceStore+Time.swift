import RTMModel
import RTMRedis
import RTMWire

/// Leases and what is due. Any node does it; scripts see to it that one does.
extension RedisPresenceStore {
    /// Limit: leases and channels that one sweep takes.
    private static let leasesPerSweep = 8
    private static let channelsPerSweep = 500
    /// In milliseconds: what a node has taken and not finished by then, another one may take.
    private static let claim: UInt64 = 5_000
    /// In milliseconds, longer than any lease: an index of members that nobody renews goes by itself.
    private static let indexLife: UInt64 = 3_600_000

    /// When these data began; now, if they begin now.
    func readBirth() {
        send("SET", .text(keys.born), RedisArgument(clock()), "NX")
        client.send(RedisCommand("GET", .text(keys.born))) { [self] outcome in
            if case .success(let reply) = outcome { born = reply.number }
        }
    }

    package func renew(_ lease: UInt64, _ done: @escaping Completion<Bool>) {
        // All data may have been lost since the last time.
        readBirth()
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
            guard case .success = outcome else { return done(outcome) }
            client.send(RedisCommand("SADD", .text(keys.knownLeases), RedisArgument(lease))) {
                [self] outcome in
                if case .success = outcome { trustedLeases.insert(lease) }
                done(outcome.mapError(RTMError.init).map { _ in })
            }
        }
    }

    private func loseMembers(
        under lease: UInt64, except kept: Set<MemberKey>, _ done: @escaping Completion<Void>
    ) {
        // Whoever is kept has just been told again, so his session is the present one.
        let keptFields = Set(kept.map { RedisKeys.field($0.channel, $0.user) })
        let command = RedisCommand("SMEMBERS", .text(keys.members(under: lease)))
        client.send(command) { [self] outcome in
            forEach(outcome, RedisKeys.parse, done) { [self] place, done in
                guard !keptFields.contains(RedisKeys.field(place.channel, place.user)) else {
                    return done(.success(()))
                }
                lose(place.user, place.channel, session: nil, lease: lease, done)
            }
        }
    }

    package func sweep(_ done: @escaping Completion<Void>) {
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
            forEach(outcome, \.number, done) { [self] lease, done in
                loseMembers(under: lease, except: []) { [self] outcome in
                    guard case .success = outcome else { return done(outcome) }
                    observer?.leasesExpired(1)
                    client.run(
                        PresenceScripts.settle, keys: [keys.leases], [RedisArgument(lease), until, ""]
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
            forEach(outcome, RedisKeys.parse, done) { [self] place, done in
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

    /// When the channel is to be looked at again: sooner while events of it are on their way.
    private func next(_ reply: RosterReply, _ now: UInt64) -> RedisArgument {
        let retry = reply.acknowledged < reply.sequence ? now + Self.claim : nil
        guard let due = [reply.due, retry].compactMap(\.self).min() else { return "" }
        return RedisArgument(due)
    }
}
