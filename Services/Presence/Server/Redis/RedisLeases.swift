import RTMModel
import RTMRedis
import RTMWire

/// The leases in Redis: which of them run, whose members are all known, and whose members are lost. Every
/// node ends leases that are over, and the scripts ensure that only one node ends each.
final class RedisLeases {
    typealias Completion<Value> = RedisPresenceStore.Completion<Value>

    /// Limit: leases that one sweep ends.
    private static let leasesPerSweep = 8
    /// Limit: members in work at once; the next ones follow when these are answered. So a lease with many
    /// sessions doesn't take the room that calls need among the commands that wait for Redis.
    private static let losesAtOnce = 256

    private let client: RedisClient
    private let keys: RedisKeys
    private let rules: PresenceRules
    private let time: RedisClock
    private let indexes: RedisIndexLife
    private let holds: RedisLinkFence
    private unowned let store: RedisPresenceStore
    /// Leases whose members were reported since all masters of Redis are connected. Something of all other
    /// leases may have been lost before that, so their edges are asked to report their members.
    private var trusted: Set<UInt64> = []
    /// By lease: the losses that are under way at this node.
    private var losses: [UInt64: [LeaseLoss]] = [:]
    /// Before this time no lease ends, because edges couldn't renew their leases while Redis or this node was
    /// away.
    private var endFrom: UInt64 = 0

    init(_ store: RedisPresenceStore) {
        self.store = store
        (client, keys, rules, time) = (store.client, store.keys, store.rules, store.time)
        indexes = RedisIndexLife(client: client, keys: keys)
        holds = RedisLinkFence(client: client, keys: keys)
    }

    /// Something that was written before may be lost, or could not be written.
    func dataWereLost() {
        trusted = []
        holds.dataWereLost()
        endFrom = time.now() + min(rules.grace, rules.leaseTimeToLive)
    }

    /// A member comes in under a lease, which ends by itself if the edge hasn't renewed it yet.
    ///
    /// - Returns: the command that has to be done before, and what has to be called if the member doesn't
    ///   come in after all.
    func enters(
        _ member: String, session: UInt64, under lease: UInt64
    ) -> (extend: RedisCommand, staysOut: () -> Void) {
        let present = losses[lease] ?? []
        for loss in present { loss.spare(member, session: session) }
        let extend = RedisCommand(
            "ZADD", .text(keys.leases), "NX", RedisArgument(time.now() + rules.leaseTimeToLive),
            RedisArgument(lease))
        return (extend, { for loss in present { loss.spareNot(member, session: session) } })
    }

    /// The edge reports its members behind the answer. So its older links can't change anything before that.
    func renew(_ link: EdgeLink, _ done: @escaping Completion<Bool>) {
        holds.take(link, now: time.now()) { [self] outcome in
            guard case .success(let isNewest) = outcome else { return done(outcome) }
            guard isNewest else { return refuse(link, done) }
            renewHeld(link, done)
        }
    }

    private func renewHeld(_ link: EdgeLink, _ done: @escaping Completion<Bool>) {
        let lease = link.lease
        indexes.keep(lease)
        client.run(
            PresenceScripts.renew,
            keys: [keys.leases, keys.knownLeases, keys.newestLink(under: lease), keys.noLeases],
            [
                RedisArgument(lease), RedisArgument(time.now() + rules.leaseTimeToLive),
                RedisArgument(link.number),
            ]
        ) { [self] outcome in
            guard case .success(.integer(RosterReply.isOlderLink)) = outcome else {
                return done(
                    outcome.mapError(RTMError.init).map { $0 == .integer(1) && trusted.contains(lease) })
            }
            refuse(link, done)
        }
    }

    private func refuse(_ link: EdgeLink, _ done: Completion<Bool>) {
        store.observer?.isOlder(link)
        done(.failure(.olderLink))
    }

    func synced(_ link: EdgeLink, except kept: Set<MemberKey>, _ done: @escaping Completion<Void>) {
        let lease = link.lease
        loseMembers(under: lease, except: kept, over: link) { [self] outcome in
            guard case .success = outcome else { return done(outcome.map { _ in }) }
            client.send(RedisCommand("SADD", .text(keys.knownLeases), RedisArgument(lease))) {
                [self] outcome in
                if case .success = outcome { trusted.insert(lease) }
                done(outcome.mapError(RTMError.init).map { _ in })
            }
        }
    }

    /// Gives whether a member came in under the lease meanwhile.
    private func loseMembers(
        under lease: UInt64, except kept: Set<MemberKey>, over link: EdgeLink = .unknown,
        _ done: @escaping Completion<Bool>
    ) {
        // A kept member has just been reported again, so its session is the present one. (Unless it joined a
        // moment ago and turns out to be of an older login; then the edge's next report finds the other one.)
        let keptFields = Set(kept.map { RedisKeys.field($0.channel, $0.user) })
        let loss = LeaseLoss()
        losses[lease, default: []].append(loss)
        let ended: Completion<Void> = { [self] outcome in
            losses[lease]?.removeAll { $0 === loss }
            if losses[lease]?.isEmpty == true { losses[lease] = nil }
            done(outcome.map { loss.sparesAny })
        }
        readMembers(under: lease) { [self] outcome in
            guard case .success(let fields) = outcome else { return ended(outcome.map { _ in }) }
            let lost = fields.filter { !keptFields.contains($0) }
            RedisBatches.forEach(lost[...], atOnce: Self.losesAtOnce, ended) { [self] field, done in
                guard !loss.spares(field), let place = RedisKeys.parse(field) else {
                    return done(.success(()))
                }
                store.lose(place.user, place.channel, session: nil, lease: lease, over: link, done)
            }
        }
    }

    /// Gives the members under a lease in all parts, as `RedisKeys.field` writes them.
    private func readMembers(under lease: UInt64, _ done: @escaping Completion<[String]>) {
        var fields: [String] = []
        let all = CompletionGroup(count: RedisKeys.partCount) { done($0.map { fields }) }
        for part in 0..<RedisKeys.partCount {
            client.send(keys.members(under: lease, in: part)) { outcome in
                if case .success(let reply) = outcome {
                    fields += (reply.elements ?? []).compactMap(RedisKeys.fieldUnder)
                }
                all.finished(outcome.mapError(RTMError.init).map { _ in })
            }
        }
    }

    /// Ends the leases that are over.
    ///
    /// - Parameter claim: after so many milliseconds another node may end what this node has not ended.
    func endDue(claim: UInt64, _ done: @escaping Completion<Void>) {
        let now = time.now()
        // While a master is away, edges may be unable to renew a lease that another master keeps.
        guard client.isUp, now >= endFrom else { return done(.success(())) }
        let until = RedisArgument(now + claim)
        client.run(
            PresenceScripts.expire, keys: [keys.leases, keys.knownLeases, keys.noLeases],
            [RedisArgument(now), until, RedisArgument(UInt64(Self.leasesPerSweep))]
        ) { [self] outcome in
            RedisBatches.forEach(outcome, \.number, done) { [self] lease, done in
                loseMembers(under: lease, except: []) { [self] outcome in
                    guard case .success(let isUsed) = outcome else { return done(outcome.map { _ in }) }
                    store.observer?.leasesExpired(1)
                    // A member that came in under the lease meanwhile still needs it.
                    let next = isUsed ? RedisArgument(time.now() + rules.leaseTimeToLive) : ""
                    client.run(
                        PresenceScripts.settle, keys: [keys.leases], [RedisArgument(lease), until, next]
                    ) { done($0.mapError(RTMError.init).map { _ in }) }
                }
            }
        }
    }
}

/// The members under a lease are being declared lost, some at a time.
private final class LeaseLoss {
    /// Members that have come in under the lease since, with their sessions. They are not lost, although the
    /// scripts don't compare sessions then.
    private var spared: [String: Set<UInt64>] = [:]

    var sparesAny: Bool { !spared.isEmpty }

    func spares(_ member: String) -> Bool { spared[member] != nil }

    func spare(_ member: String, session: UInt64) { spared[member, default: []].insert(session) }

    func spareNot(_ member: String, session: UInt64) {
        spared[member]?.remove(session)
        if spared[member]?.isEmpty == true { spared[member] = nil }
    }
}
