package import RTMModel
import RTMRedis
package import RTMWire

/// The node's calls as scripts and commands.
extension RedisPresenceStore {
    package func enter(
        _ entry: Entry, _ channel: ChannelKey, over link: EdgeLink, _ done: @escaping Completion<Entered>
    ) {
        let usersMax = rules.usersMax(in: channel.type)
        enter(entry, channel, over: link, silentFor: 0, usersMax: usersMax) { [rules] outcome in
            done(
                outcome.flatMap { reply in
                    reply.outcome == EnterOutcome.full
                        ? .failure(rules.isFull(channel.type))
                        : .success(
                            Entered(
                                through: reply.sequence, isMember: reply.outcome != EnterOutcome.isOlder,
                                statesCost: reply.outcome == EnterOutcome.entered ? reply.cost : nil))
                })
        }
    }

    package func adopt(
        _ entry: Entry, _ channel: ChannelKey, isAnnounced: Bool, over link: EdgeLink,
        _ done: @escaping Completion<Bool>
    ) {
        // Edges still report members that the other users know already if the data in Redis are new.
        enter(entry, channel, over: link, silentFor: isAnnounced ? rules.grace : 0, usersMax: 0) {
            done($0.map { $0.outcome != EnterOutcome.isOlder })
        }
    }

    /// - Parameter silentFor: for how long after the data in Redis began other users get no event, in
    ///   milliseconds.
    private func enter(
        _ entry: Entry, _ channel: ChannelKey, over link: EdgeLink, silentFor: UInt64, usersMax: Int,
        _ done: @escaping Completion<RosterReply>
    ) {
        let (extend, staysOut) = leases.enters(
            RedisKeys.field(channel, entry.user), session: entry.session, under: entry.lease)
        prepare(members.entry(entry.user, channel) + [extend]) { [self] failure in
            if let failure {
                staysOut()
                return done(.failure(failure))
            }
            enterPrepared(entry, channel, over: link, silentFor, usersMax) { [self] outcome in
                switch outcome {
                case .success(let reply)
                where reply.outcome == EnterOutcome.entered || reply.outcome == EnterOutcome.withoutStates:
                    members.add(entry.user, channel)
                case .success, .failure(.olderLink): staysOut()
                case .failure: break
                }
                done(outcome)
            }
        }
    }

    private func enterPrepared(
        _ entry: Entry, _ channel: ChannelKey, over link: EdgeLink, _ silentFor: UInt64, _ usersMax: Int,
        _ done: @escaping Completion<RosterReply>
    ) {
        change(
            channel, PresenceScripts.enter,
            [
                .text(entry.user), RedisArgument(entry.session), RedisArgument(entry.instance),
                RedisArgument(entry.lease), RedisArgument(entry.isQuiet), RedisArgument(entry.timeout),
                RedisArgument(silentFor), RedisArgument(UInt64(usersMax)),
                RedisArgument(entry.ownership),
                RedisArgument(UInt64(rules.states(in: channel.type).countMax)),
            ] + entry.states.flatMap { [.text($0.key), .text($0.value)] }, over: link, done)
    }

    /// Does `next` when these commands are done. Where commands keep their order it needn't wait: if they
    /// aren't done, nothing is that follows.
    private func prepare(_ commands: [RedisCommand], _ next: @escaping (RTMError?) -> Void) {
        guard !client.keepsOrder else {
            for command in commands { client.send(command) { _ in } }
            return next(nil)
        }
        let all = CompletionGroup(count: commands.count) { outcome in
            if case .failure(let error) = outcome { next(error) } else { next(nil) }
        }
        for command in commands {
            client.send(command) { all.finished($0.mapError(RTMError.init).map { _ in }) }
        }
    }

    package func leave(
        _ caller: Caller, _ channel: ChannelKey, over link: EdgeLink, _ done: @escaping Completion<Void>
    ) {
        leave(caller, channel, isSuperseded: false, over: link, done)
    }

    private func leave(
        _ caller: Caller, _ channel: ChannelKey, isSuperseded: Bool, over link: EdgeLink = .unknown,
        _ done: @escaping Completion<Void>
    ) {
        change(
            channel, PresenceScripts.leave,
            [
                .text(caller.userID), RedisArgument(caller.session.rawValue), RedisArgument(isSuperseded),
            ], over: link
        ) { done($0.map { _ in }) }
    }

    /// - Parameters:
    /// - session: nil stands for any session.
    /// - lease: nil stands for any lease.
    func lose(
        _ user: String, _ channel: ChannelKey, session: UInt64?, lease: UInt64?,
        over link: EdgeLink = .unknown, _ done: @escaping Completion<Void>
    ) {
        change(
            channel, PresenceScripts.lose,
            [
                .text(user), session.map { RedisArgument($0) } ?? "", lease.map { RedisArgument($0) } ?? "",
            ], over: link
        ) { done($0.map { _ in }) }
    }

    package func end(_ caller: Caller, _ end: SessionEnd, _ done: @escaping Completion<Void>) {
        let user = UserKey(appID: caller.appID, userID: caller.userID)
        client.send(RedisCommand("SMEMBERS", .text(keys.channels(of: user)))) { [self] outcome in
            switch outcome {
            case .failure(let failure): done(.failure(RTMError(failure)))
            case .success(let reply):
                let places = (reply.elements ?? []).compactMap(RedisKeys.parse)
                let left = LeaveOrder(places.map(\.channel))
                self.end(caller, end, in: left.topics) { [self] outcome in
                    guard case .success = outcome else { return done(outcome) }
                    self.end(caller, end, in: left.channels, done)
                }
            }
        }
    }

    private func end(
        _ caller: Caller, _ end: SessionEnd, in channels: [ChannelKey], _ done: @escaping Completion<Void>
    ) {
        RedisBatches.forEach(channels[...], done) { [self] channel, done in
            switch end {
            case .lost:
                lose(caller.userID, channel, session: caller.session.rawValue, lease: nil, done)
            case .loggedOut: leave(caller, channel, isSuperseded: false, done)
            case .superseded: leave(caller, channel, isSuperseded: true, done)
            }
        }
    }

    package func setStates(
        _ caller: Caller, _ channel: ChannelKey, _ items: [StateItem], over link: EdgeLink,
        _ done: @escaping Completion<Int?>
    ) {
        let limits = rules.states(in: channel.type)
        change(
            channel, PresenceScripts.setStates,
            [
                .text(caller.userID), RedisArgument(caller.session.rawValue),
                RedisArgument(UInt64(limits.countMax)),
            ] + items.flatMap { [.text($0.key), .text($0.value)] }, over: link
        ) { outcome in
            done(
                outcome.flatMap { reply in
                    reply.outcome < 0
                        ? .failure(limits.tooMany(-reply.outcome))
                        : .success(reply.outcome == 1 ? reply.cost : nil)
                })
        }
    }

    package func removeStates(
        _ caller: Caller, _ channel: ChannelKey, _ keys: [String], over link: EdgeLink,
        _ done: @escaping Completion<Int?>
    ) {
        change(
            channel, PresenceScripts.removeStates,
            [.text(caller.userID), RedisArgument(caller.session.rawValue)] + keys.map { .text($0) },
            over: link
        ) { done($0.map { $0.outcome == 1 ? $0.cost : nil }) }
    }

    // MARK: - Queries

    package func states(
        of user: String, askedBy asker: String, _ channel: ChannelKey,
        _ done: @escaping Completion<[StateItem]?>
    ) { queries.states(of: user, askedBy: asker, channel, done) }

    package func users(
        _ channel: ChannelKey, after user: String?, countMax: Int, _ done: @escaping Completion<[UserState]>
    ) { queries.users(channel, after: user, countMax: countMax, done) }

    package func onlineCount(_ channel: ChannelKey, _ done: @escaping Completion<Int>) {
        queries.onlineCount(channel, done)
    }

    package func channels(of user: UserKey, _ done: @escaping Completion<[ChannelKey]>) {
        queries.channels(of: user, done)
    }

    package func snapshot(
        _ channel: ChannelKey, onlineMax: Int, _ done: @escaping Completion<RosterSnapshot?>
    ) {
        queries.snapshot(channel, now: clock(), onlineMax: onlineMax, grace: rules.grace, done)
    }
}

extension RosterReply {
    /// The bytes of the states that this run has announced, times the users who get them.
    fileprivate var cost: Int {
        let bytes = events.reduce(0) { sum, entry in
            guard case .statesChanged(let change) = entry.event.event else { return sum }
            return sum + change.cost
        }
        return bytes * max(0, memberCount - 1)
    }
}

/// What Scripts/enter.lua answers.
private enum EnterOutcome {
    static let full = 0
    static let entered = 1
    /// A newer login of the user is the member.
    static let isOlder = 2
    // 3 is `RosterReply.isOlderLink`, which every change may answer.
    /// As `entered`, but without the states: the user would have too many, or its session is in the channel
    /// already and shows others.
    static let withoutStates = 4
}
