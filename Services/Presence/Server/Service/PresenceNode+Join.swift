import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

extension PresenceNode {
    func join(_ join: JoinRequest, _ id: UInt64, timeout: Duration, _ link: AcceptedServiceLink)
        throws(RTMError)
    {
        // Type none: the roster of a user's sessions (W-45).
        if join.channel.type != .none { try PresenceCalls.check(join.channel.type) }
        let edgeLink = try leases.name(join.lease, over: link)
        try checkBacklog(join.channel)
        let pending = PendingJoin(
            request: id, link: link, channel: join.channel, wantsSnapshot: join.wantsSnapshot)
        let number = joins.add(pending, timeout: timeout, now: now)
        let member = MemberKey(join.caller, join.channel)
        reports.joining(member, lease: join.lease, over: link)
        let states = settings.states.acceptable(join.states, in: join.channel.type)
        store.enter(Entry(join, states), join.channel, over: edgeLink) { [self] outcome in
            switch outcome {
            case .success(let entered):
                if !states.isEmpty { joins[number]?.statesCost = entered.statesCost }
                if !entered.isMember {
                    reports.isOlder(member, lease: join.lease, over: link)
                    joins[number]?.isOlder = true
                }
                wait(number, through: entered.through)
            case .failure(let error):
                if error.isFullChannel { metrics.channelsFull.increment() }
                joins.finish(number)?.fail(error)
            }
        }
    }

    /// Waits until the events up to `through`, and all events that this node has for the channel, are in the
    /// log.
    func wait(_ number: UInt64, through: UInt64) {
        guard let join = joins[number] else { return }
        let last = max(through, events.last(of: join.channel) ?? 0)
        if events.wait(number, for: join.channel, through: last) {
            joins[number]?.needsMessaging = false
            joinSettled(number)
        } else {
            waitForMessaging(number)
        }
    }

    /// While messaging can't be reached nobody is kept waiting: the caller continues without presence and
    /// asks again.
    private func waitForMessaging(_ number: UInt64) {
        joins[number]?.needsMessaging = true
        guard let channel = joins[number]?.channel else { return }
        if !events.isUp(channel) { joins.finish(number)?.fail(PendingJoin.unreachable) }
    }

    // MARK: The log's head

    /// Asks messaging for the position of the log. The log may hold events of an earlier life of this service
    /// that are still on their way to subscribers. The snapshot is newer than these, so its position has to
    /// be behind them.
    private func askForHead(_ number: UInt64, of channel: ChannelKey) {
        waitForMessaging(number)
        guard joins[number] != nil else { return }
        headWaiters[channel, default: []].append(number)
        guard headWaiters[channel]?.count == 1 else { return }
        do throws(RTMError) {
            try events.askForHead(of: channel)
        } catch {
            headWaiters[channel] = nil
            joins.finish(number)?.fail(error)
        }
    }

    func headAnswered(_ channel: ChannelKey, _ outcome: ServiceLinkResult<StreamPosition>) {
        let waiters = headWaiters.removeValue(forKey: channel) ?? []
        switch outcome {
        case .success(let position):
            if events.positions[channel] == nil { events.positions[channel] = position }
            for number in waiters { wait(number, through: 0) }
        case .failure(let failure):
            let error = RTMError(failure, .presenceOperationFailed, timeout: .presenceOperationTimeout)
            for number in waiters { joins.finish(number)?.fail(error) }
        }
    }

    func joinSettled(_ number: UInt64) {
        guard let join = joins[number] else { return }
        joins[number]?.needsMessaging = false
        if join.wantsSnapshot && join.snapshot == nil && !join.isTooBig {
            return takeSnapshot(number, for: join)
        }
        guard let join = joins.finish(number) else { return }
        // An answer without a snapshot needs no exact position.
        let position =
            join.snapshot?.position ?? events.positions[join.channel]
            ?? StreamPosition(epoch: 0, offset: 0)
        if join.isForRoster { giveRoster(join, position) } else { join.succeed(position, settings.snapshots) }
    }

    private func takeSnapshot(_ number: UInt64, for join: PendingJoin) {
        guard events.positions[join.channel] != nil else { return askForHead(number, of: join.channel) }
        let onlineMax = join.isForRoster ? Int.max >> 1 : settings.snapshots.joinUsersMax
        store.snapshot(join.channel, onlineMax: onlineMax) { [self] outcome in
            switch outcome {
            case .success(let snapshot?):
                joins[number]?.snapshot = snapshot
                wait(number, through: snapshot.through)
            case .success(nil):
                joins[number]?.isTooBig = true
                joinSettled(number)
            case .failure(let error): joins.finish(number)?.fail(error)
            }
        }
    }

    func checkBacklog(_ channel: ChannelKey) throws(RTMError) {
        try events.check(settings.backlog, for: channel)
    }
}

extension Entry {
    init(_ join: JoinRequest, _ states: [StateItem]) {
        self.init(
            join.caller, ownership: join.ownership, lease: join.lease, isQuiet: join.quiet,
            timeout: join.presenceTimeout, states)
    }

    init(_ membership: Membership, lease: UInt64, _ states: [StateItem]) {
        self.init(
            membership.caller, ownership: membership.ownership, lease: lease, isQuiet: membership.quiet,
            timeout: membership.presenceTimeout, states)
    }

    private init(
        _ caller: Caller, ownership: UInt64, lease: UInt64, isQuiet: Bool, timeout: Duration,
        _ states: [StateItem]
    ) {
        self.init(
            user: caller.userID, session: caller.session.rawValue, instance: caller.instance,
            ownership: ownership,
            lease: lease, isQuiet: isQuiet, timeout: timeout.milliseconds, states: states)
    }
}
