import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// A join whose answer waits for its events to be in the log.
struct PendingJoin {
    let request: UInt64
    let link: ServerLink
    let channel: ChannelKey
    let wantsSnapshot: Bool
    /// Until messaging has answered.
    var needsMessaging = false
    /// Once it was taken: who is there, while the events before it are on their way.
    var snapshot: RosterSnapshot?
}

extension PresenceNode {
    func join(_ join: JoinRequest, _ id: UInt64, timeout: Duration, _ link: ServerLink) throws(RTMError) {
        try check(join.channel.type)
        try checkBacklog(of: join.channel)
        lastJoin += 1
        let number = lastJoin
        joins[number] = PendingJoin(
            request: id, link: link, channel: join.channel, wantsSnapshot: join.wantsSnapshot)
        // A sync that is under way may be past this session: it is told by the join.
        syncs[SyncKey(link: link.id, lease: join.lease)]?.insert(MemberKey(join.caller, join.channel))
        // Sooner than the caller gives up, so that it hears the cause.
        joinDeadlines.set(now + timeout.milliseconds * 3 / 4, for: number)
        store.enter(Entry(join), join.channel) { [self] outcome in
            switch outcome {
            case .success(let through): wait(number, through: through)
            case .failure(let error): finish(number)?.fail(error)
            }
        }
    }

    /// Until the events up to that one, and all that this node has for the channel, are in the log.
    private func wait(_ number: UInt64, through: UInt64) {
        guard let join = joins[number] else { return }
        let last = max(through, outbox.last(of: join.channel) ?? 0)
        if outbox.wait(number, for: join.channel, through: last) {
            joins[number]?.needsMessaging = false
            joinSettled(number)
        } else {
            waitForMessaging(number)
        }
    }

    /// While messaging can't be reached nobody is kept waiting: the caller does without, and asks again.
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
                .presenceOperationFailed, "presence can't reach messaging at present",
                retryAfter: .seconds(1)))
    }

    // MARK: The log's head

    /// The log may have events of an earlier life of this service, which are on their way to subscribers yet:
    /// the snapshot is of later, so its position has to be behind them.
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

    func headAnswered(_ channel: ChannelKey, _ outcome: Result<StreamPosition, LinkRequestFailure>) {
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
        if join.wantsSnapshot && join.snapshot == nil {
            guard positions[join.channel] != nil else { return askForHead(number, of: join.channel) }
            store.snapshot(join.channel) { [self] outcome in
                switch outcome {
                case .success(let snapshot):
                    joins[number]?.snapshot = snapshot
                    wait(number, through: snapshot.through)
                case .failure(let error): finish(number)?.fail(error)
                }
            }
            return
        }
        guard let join = finish(number) else { return }
        // Of no use to who gets no snapshot.
        let position =
            join.snapshot?.position ?? positions[join.channel]
            ?? StreamPosition(epoch: 0, offset: 0)
        join.succeed(position)
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

    /// Limit: see EventOutbox.
    func checkBacklog(of channel: ChannelKey) throws(RTMError) {
        guard outbox.backlog(of: channel) >= settings.backlogMax else { return }
        throw RTMError(
            .presenceOperationFailed, "too many events of the channel wait for messaging",
            retryAfter: .seconds(1),
            limit: .init(name: "waiting presence events", value: UInt64(settings.backlogMax)))
    }

    func check(_ type: ChannelType?) throws(RTMError) {
        guard type == .message || type == .stream else {
            throw RTMError(.invalidChannelType, "presence knows message and stream channels")
        }
    }
}

extension PendingJoin {
    func fail(_ error: RTMError) { link.fail(request, error) }

    func succeed(_ position: StreamPosition) {
        var frames = ByteBuffer()
        if wantsSnapshot { encodeSnapshot(at: position, into: &frames) }
        frames.withUnsafeReadableBytes { bytes in
            link.respond(to: request, JoinResponse(position: position, frames: WireText(bytes)))
        }
    }

    private func encodeSnapshot(at position: StreamPosition, into frames: inout ByteBuffer) {
        let users = snapshot?.users ?? []
        var start = 0
        repeat {
            let end = start + PresencePage.count(of: users, from: start)
            let part = PresenceSnapshot(
                channel: channel, position: position, users: Array(users[start..<end]),
                more: end < users.count)
            ServerFrame(part).encodeFrame(into: &frames)
            start = end
        } while start < users.count
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
