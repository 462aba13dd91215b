package import RTMModel
import RTMRedis
package import RTMWire

/// The node's calls as scripts and commands.
extension RedisPresenceStore {
    package func enter(_ entry: Entry, _ channel: ChannelKey, _ done: @escaping Completion<UInt64>) {
        enter(entry, channel, silently: false) { done($0.map(\.sequence)) }
    }

    package func adopt(_ entry: Entry, _ channel: ChannelKey, _ done: @escaping Completion<Void>) {
        enter(entry, channel, silently: isFilling) { done($0.map { _ in }) }
    }

    /// Whether edges still report members that the other users know already, because the data in Redis are
    /// new.
    private var isFilling: Bool { born.map { clock() < $0 + rules.grace } ?? true }

    private func enter(
        _ entry: Entry, _ channel: ChannelKey, silently: Bool, _ done: @escaping Completion<RosterReply>
    ) {
        index(entry.user, entry.lease, channel)
        for loss in losses[entry.lease] ?? [] { loss.spared.insert(RedisKeys.field(channel, entry.user)) }
        // A lease that the edge hasn't renewed yet ends by itself, too.
        send(
            "ZADD", .text(keys.leases), "NX", RedisArgument(clock() + rules.leaseTimeToLive),
            RedisArgument(entry.lease))
        change(
            channel, PresenceScripts.enter,
            [
                .text(entry.user), RedisArgument(entry.session), RedisArgument(entry.instance),
                RedisArgument(entry.lease), RedisArgument(entry.isQuiet), RedisArgument(entry.timeout),
                RedisArgument(silently),
            ], done)
        index(entry.user, entry.lease, channel)
    }

    package func leave(_ caller: Caller, _ channel: ChannelKey, _ done: @escaping Completion<Void>) {
        leave(caller, channel, isSuperseded: false, done)
    }

    private func leave(
        _ caller: Caller, _ channel: ChannelKey, isSuperseded: Bool, _ done: @escaping Completion<Void>
    ) {
        change(
            channel, PresenceScripts.leave,
            [
                .text(caller.userID), RedisArgument(caller.session.rawValue), RedisArgument(isSuperseded),
            ]
        ) { done($0.map { _ in }) }
    }

    /// - Parameters:
    /// - session: nil stands for any session.
    /// - lease: nil stands for any lease.
    func lose(
        _ user: String, _ channel: ChannelKey, session: UInt64?, lease: UInt64?,
        _ done: @escaping Completion<Void>
    ) {
        change(
            channel, PresenceScripts.lose,
            [
                .text(user), session.map { RedisArgument($0) } ?? "", lease.map { RedisArgument($0) } ?? "",
            ]
        ) { done($0.map { _ in }) }
    }

    package func end(_ caller: Caller, _ end: SessionEnd, _ done: @escaping Completion<Void>) {
        let user = UserKey(appID: caller.appID, userID: caller.userID)
        client.send(RedisCommand("SMEMBERS", .text(keys.channels(of: user)))) { [self] outcome in
            forEach(outcome, RedisKeys.parse, done) { [self] place, done in
                switch end {
                case .lost:
                    lose(
                        caller.userID, place.channel, session: caller.session.rawValue, lease: nil, done)
                case .loggedOut: leave(caller, place.channel, isSuperseded: false, done)
                case .superseded: leave(caller, place.channel, isSuperseded: true, done)
                }
            }
        }
    }

    package func setStates(
        _ caller: Caller, _ channel: ChannelKey, _ items: [StateItem], _ done: @escaping Completion<Bool>
    ) {
        let countMax = rules.states.countMax
        change(
            channel, PresenceScripts.setStates,
            [
                .text(caller.userID), RedisArgument(caller.session.rawValue),
                RedisArgument(UInt64(countMax)),
            ] + items.flatMap { [.text($0.key), .text($0.value)] }
        ) { outcome in
            done(
                outcome.flatMap { reply in
                    reply.outcome < 0
                        ? .failure(StateLimits.tooMany(-reply.outcome, max: countMax))
                        : .success(reply.outcome == 1)
                })
        }
    }

    package func removeStates(
        _ caller: Caller, _ channel: ChannelKey, _ keys: [String], _ done: @escaping Completion<Bool>
    ) {
        change(
            channel, PresenceScripts.removeStates,
            [.text(caller.userID), RedisArgument(caller.session.rawValue)] + keys.map { .text($0) }
        ) { done($0.map { $0.outcome == 1 }) }
    }

    // MARK: - Queries

    package func states(
        of user: String, askedBy asker: String, _ channel: ChannelKey,
        _ done: @escaping Completion<[StateItem]?>
    ) {
        let roster = keys.roster(channel)
        var row: RosterRow?
        client.send(RedisCommand("HGET", .text(roster[0]), .text(user))) { outcome in
            if case .success(let reply) = outcome { row = RosterRow(reply) }
        }
        client.send(RedisCommand("HGET", .text(roster[1]), .text(user))) { outcome in
            done(
                outcome.mapError(RTMError.init).map { reply in
                    guard let row, !row.isLeaving, !row.isQuiet || user == asker else { return nil }
                    guard case .string(let bytes) = reply else { return [] }
                    return RosterReply.states(bytes[...])
                })
        }
    }

    package func users(
        _ channel: ChannelKey, after user: String?, countMax: Int, _ done: @escaping Completion<[UserState]>
    ) {
        let roster = keys.roster(channel)
        client.run(
            PresenceScripts.page, keys: [roster[2], roster[1]],
            [.text(user.map { "(\($0)" } ?? "-"), RedisArgument(UInt64(countMax))]
        ) { outcome in
            done(outcome.mapError(RTMError.init).map { Self.users(($0.elements ?? [])[...]) })
        }
    }

    package func onlineCount(_ channel: ChannelKey, _ done: @escaping Completion<Int>) {
        client.send(RedisCommand("ZCARD", .text(keys.roster(channel)[2]))) { outcome in
            done(outcome.mapError(RTMError.init).map { Int($0.number ?? 0) })
        }
    }

    package func channels(of user: UserKey, _ done: @escaping Completion<[ChannelKey]>) {
        var found: [ChannelKey] = []
        client.send(RedisCommand("SMEMBERS", .text(keys.channels(of: user)))) { [self] outcome in
            forEach(outcome, RedisKeys.parse, { done($0.map { found.sorted() }) }) { [self] place, done in
                let command = RedisCommand(
                    "HGET", .text(keys.roster(place.channel)[0]), .text(user.userID))
                client.send(command) { outcome in
                    if case .success(let reply) = outcome, let row = RosterRow(reply), !row.isQuiet,
                        !row.isLeaving
                    {
                        found.append(place.channel)
                    }
                    done(outcome.mapError(RTMError.init).map { _ in })
                }
            }
        }
    }

    package func snapshot(
        _ channel: ChannelKey, onlineMax: Int, _ done: @escaping Completion<RosterSnapshot?>
    ) {
        let roster = keys.roster(channel)
        client.run(
            PresenceScripts.snapshot, keys: [roster[2], roster[3], roster[0], roster[1], roster[4]],
            [RedisArgument(isFilling), RedisArgument(UInt64(onlineMax))]
        ) { outcome in
            done(
                outcome.mapError(RTMError.init).map { reply in
                    let parts = reply.elements ?? []
                    guard parts.count >= 3 else { return nil }
                    let through = parts[0].number ?? 0
                    let isInLog = (parts[1].number ?? 0) >= through
                    return RosterSnapshot(
                        users: Self.users(parts[3...]).sorted {
                            $0.userID.utf8.lexicographicallyPrecedes($1.userID.utf8)
                        }, through: through, position: isInLog ? Self.position(parts[2]) : nil)
                })
        }
    }

    /// The reply lists users and their states in turns.
    private static func users(_ parts: ArraySlice<RedisReply>) -> [UserState] {
        stride(from: parts.startIndex, to: parts.endIndex - 1, by: 2).map { index in
            var items: [StateItem] = []
            if case .string(let bytes) = parts[index + 1] { items = RosterReply.states(bytes[...]) }
            return UserState(userID: parts[index].string ?? "", items: items)
        }
    }

    private static func position(_ reply: RedisReply) -> StreamPosition? {
        let numbers = reply.string?.split(separator: " ").compactMap { UInt64($0) } ?? []
        return numbers.count == 2 ? StreamPosition(epoch: numbers[0], offset: numbers[1]) : nil
    }

    // MARK: -

    /// Does something for every element of a reply, `atOnce` elements at a time. Completes when all are done
    /// or one has failed.
    func forEach<Element>(
        _ outcome: Result<RedisReply, RedisFailure>, _ parse: (RedisReply) -> Element?, atOnce: Int = .max,
        _ done: @escaping Completion<Void>, _ body: @escaping (Element, @escaping Completion<Void>) -> Void
    ) {
        switch outcome {
        case .failure(let failure): done(.failure(RTMError(failure)))
        case .success(let reply):
            inTurns((reply.elements ?? []).compactMap(parse)[...], atOnce: atOnce, done, body)
        }
    }

    private func inTurns<Element>(
        _ elements: ArraySlice<Element>, atOnce: Int, _ done: @escaping Completion<Void>,
        _ body: @escaping (Element, @escaping Completion<Void>) -> Void
    ) {
        let turn = elements.prefix(atOnce)
        let rest = elements.dropFirst(turn.count)
        let all = Gathering(count: turn.count + 1) { [self] outcome in
            guard case .success = outcome, !rest.isEmpty else { return done(outcome) }
            inTurns(rest, atOnce: atOnce, done, body)
        }
        for element in turn { body(element, all.finished) }
        all.finished(.success(()))
    }
}
