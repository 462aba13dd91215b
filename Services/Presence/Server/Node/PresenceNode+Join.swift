import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// A join whose answer waits until its events are in the log. The request for the snapshot of a big channel
/// waits in the same way.
struct PendingJoin {
    let request: UInt64
    let link: AcceptedServiceLink
    let channel: ChannelKey
    let wantsSnapshot: Bool
    /// Nobody joins; only the snapshot is wanted, and it may be of any size.
    var isForRoster = false
    /// Whether the snapshot is too big for the answer to a join.
    var isTooBig = false
    /// Whether the join waits for an answer of messaging.
    var needsMessaging = false
    /// The users, once the snapshot was taken; the events before it may still be on their way.
    var snapshot: RosterSnapshot?
}

extension PresenceNode {
    func join(_ join: JoinRequest, _ id: UInt64, timeout: Duration, _ link: AcceptedServiceLink)
        throws(RTMError)
    {
        try check(join.channel.type)
        try checkBacklog(of: join.channel)
        lastJoin += 1
        let number = lastJoin
        joins[number] = PendingJoin(
            request: id, link: link, channel: join.channel, wantsSnapshot: join.wantsSnapshot)
        // A sync that is under way may have passed this session already, so the join counts as a report of
        // it.
        syncs[SyncKey(link: link.id, lease: join.lease)]?.insert(MemberKey(join.caller, join.channel))
        // The deadline comes before the caller's own, so that the caller is told the cause.
        joinDeadlines.set(now + timeout.milliseconds * 3 / 4, for: number)
        store.enter(Entry(join), join.channel) { [self] outcome in
            switch outcome {
            case .success(let through): wait(number, through: through)
            case .failure(let error): finish(number)?.fail(error)
            }
        }
    }

    /// Waits until the events up to `through`, and all events that this node has for the channel, are in the
    /// log.
    func wait(_ number: UInt64, through: UInt64) {
        guard let join = joins[number] else { return }
        let last = max(through, outbox.last(of: join.channel) ?? 0)
        if outbox.wait(number, for: join.channel, through: last) {
            joins[number]?.needsMessaging = false
            joinSettled(number)
        } else {
            waitForMessaging(number)
        }
    }

    /// While messaging can't be reached nobody is kept waiting: the caller goes on without presence and asks
    /// again.
    private func waitForMessaging(_ number: UInt64) {
        joins[number]?.needsMessaging = true
        if !messaging.isUp { failUnreachable(number) }
    }

    func failWaitingJoins() {
        for (number, join) in joins.sorted(by: { $0.key < $1.key }) where join.needsMessaging {
            failUnreachable(number)
        }
    }

    private func failUnreachable(_ number: UInt64) {
        finish(number)?.fail(
            RTMError(
                .presenceOperationFailed, "presence can't reach messaging at the moment",
                retryAfter: .seconds(1)))
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
            try messaging.append(
                AppendRequest(channel: channel, source: 0, events: EventRun()),
                context: .head(channel))
        } catch {
            headWaiters[channel] = nil
            finish(number)?.fail(error)
        }
    }

    func headAnswered(_ channel: ChannelKey, _ outcome: Result<StreamPosition, ServiceLinkRequestFailure>) {
        let waiters = headWaiters.removeValue(forKey: channel) ?? []
        switch outcome {
        case .success(let position):
            if positions[channel] == nil { positions[channel] = position }
            for number in waiters { wait(number, through: 0) }
        case .failure(let failure):
            let error = RTMError(failure, .presenceOperationFailed, timeout: .presenceOperationTimeout)
            for number in waiters { finish(number)?.fail(error) }
        }
    }

    func joinSettled(_ number: UInt64) {
        guard let join = joins[number] else { return }
        joins[number]?.needsMessaging = false
        if join.wantsSnapshot && join.snapshot == nil && !join.isTooBig {
            return takeSnapshot(number, for: join)
        }
        guard let join = finish(number) else { return }
        // An answer without a snapshot needs no exact position.
        let position =
            join.snapshot?.position ?? positions[join.channel]
            ?? StreamPosition(epoch: 0, offset: 0)
        if join.isForRoster { giveRoster(join, position) } else { join.succeed(position, settings.snapshots) }
    }

    private func takeSnapshot(_ number: UInt64, for join: PendingJoin) {
        guard positions[join.channel] != nil else { return askForHead(number, of: join.channel) }
        let onlineMax = join.isForRoster ? Int.max >> 1 : settings.snapshots.joinUsersMax
        store.snapshot(join.channel, onlineMax: onlineMax) { [self] outcome in
            switch outcome {
            case .success(let snapshot?):
                joins[number]?.snapshot = snapshot
                wait(number, through: snapshot.through)
            case .success(nil):
                joins[number]?.isTooBig = true
                joinSettled(number)
            case .failure(let error): finish(number)?.fail(error)
            }
        }
    }

    func joinTimedOut(_ number: UInt64) {
        finish(number)?.fail(
            RTMError(
                .presenceOperationTimeout, "the join's events did not reach the channel's log in time",
                retryAfter: .seconds(1)))
    }

    private func finish(_ number: UInt64) -> PendingJoin? {
        joinDeadlines.set(nil, for: number)
        return joins.removeValue(forKey: number)
    }

    /// Limit: waiting events of a channel, see `EventOutbox`.
    func checkBacklog(of channel: ChannelKey) throws(RTMError) {
        guard outbox.backlog(of: channel) >= settings.backlogMax else { return }
        throw RTMError(
            .presenceOperationFailed, "too many events of the channel wait for messaging",
            retryAfter: .seconds(1),
            limit: .init(name: "waiting presence events", value: UInt64(settings.backlogMax)))
    }

    func check(_ type: ChannelType?) throws(RTMError) {
        guard type == .message || type == .stream else {
            throw RTMError(.invalidChannelType, "only message and stream channels have presence")
        }
    }
}

extension PendingJoin {
    func fail(_ error: RTMError) { link.fail(request, error) }

    func succeed(_ position: StreamPosition, _ limits: SnapshotLimits) {
        var frames = ByteBuffer()
        var isTooBig = isTooBig
        if let snapshot {
            let bytesMax = min(limits.joinBytesMax, limits.joinQueueMax - link.queuedBytes)
            let whole = SnapshotText(users: snapshot.users, channel: channel, position: position)
            isTooBig = whole.bytes > bytesMax
            if !isTooBig { _ = whole.write(from: 0, bytesMax: .max, into: &frames) }
        }
        frames.withUnsafeReadableBytes { bytes in
            link.respond(
                to: request,
                JoinResponse(position: position, frames: WireText(bytes), isTooBig: isTooBig))
        }
    }
}

extension Entry {
    init(_ join: JoinRequest) {
        self.init(
            join.caller, lease: join.lease, isQuiet: join.quiet, timeout: join.presenceTimeout)
    }

    init(_ membership: Membership, lease: UInt64) {
        self.init(
            membership.caller, lease: lease, isQuiet: membership.quiet,
            timeout: membership.presenceTimeout)
    }

    private init(_ caller: Caller, lease: UInt64, isQuiet: Bool, timeout: Duration) {
        self.init(
            user: caller.userID, session: caller.session.rawValue, instance: caller.instance, lease: lease,
            isQuiet: isQuiet, timeout: timeout.milliseconds)
    }
}
