import RTMModel
import RTMRedis
import RTMWire

/// The reads of rosters in Redis, which change nothing.
struct RedisRosterQueries {
    typealias Completion<Value> = (Result<Value, RTMError>) -> Void

    let client: RedisClient
    let keys: RedisKeys

    func states(
        of user: String, askedBy asker: String, _ channel: ChannelKey,
        _ done: @escaping Completion<[StateItem]?>
    ) {
        let roster = keys.roster(channel)
        var row: RosterRow?
        var states: [StateItem] = []
        // In a Cluster either answer may be the first.
        let both = CompletionGroup(count: 2) { outcome in
            done(
                outcome.map {
                    guard let row, !row.isLeaving, !row.isQuiet || user == asker else { return nil }
                    return states
                })
        }
        client.send(RedisCommand("HGET", .text(roster[0]), .text(user))) { outcome in
            if case .success(let reply) = outcome { row = RosterRow(reply) }
            both.finished(outcome.mapError(RTMError.init).map { _ in })
        }
        client.send(RedisCommand("HGET", .text(roster[1]), .text(user))) { outcome in
            if case .success(.string(let bytes)) = outcome { states = RosterReply.states(bytes[...]) }
            both.finished(outcome.mapError(RTMError.init).map { _ in })
        }
    }

    func users(
        _ channel: ChannelKey, after user: String?, countMax: Int, _ done: @escaping Completion<[UserState]>
    ) {
        let roster = keys.roster(channel)
        client.run(
            PresenceScripts.page, keys: [roster[2], roster[1], roster[11]],
            [.text(user.map { "(\($0)" } ?? "-"), RedisArgument(UInt64(countMax))]
        ) { outcome in
            done(outcome.mapError(RTMError.init).map { Self.users(($0.elements ?? [])[...]) })
        }
    }

    func onlineCount(_ channel: ChannelKey, _ done: @escaping Completion<Int>) {
        client.send(RedisCommand("ZCARD", .text(keys.roster(channel)[2]))) { outcome in
            done(outcome.mapError(RTMError.init).map { Int($0.number ?? 0) })
        }
    }

    func channels(of user: UserKey, _ done: @escaping Completion<[ChannelKey]>) {
        var found: [ChannelKey] = []
        client.send(RedisCommand("SMEMBERS", .text(keys.channels(of: user)))) { outcome in
            RedisBatches.forEach(outcome, RedisKeys.parse, { done($0.map { found.sorted() }) }) {
                place, done in
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

    func snapshot(
        _ channel: ChannelKey, now: UInt64, onlineMax: Int, grace: UInt64,
        _ done: @escaping Completion<RosterSnapshot?>
    ) {
        let roster = keys.roster(channel)
        client.run(
            PresenceScripts.snapshot,
            keys: [2, 3, 0, 1, 4, 10, 11].map { roster[$0] },
            [RedisArgument(now), RedisArgument(UInt64(onlineMax)), RedisArgument(grace)]
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
}
