import NIOCore
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMWire

/// The subscriptions that need new snapshots of presence from time to time.
protocol RefreshedSubscriptions: AnyObject {
    /// Where the session is a subscriber that wants presence. A subscriber that is coming in again gets a new
    /// snapshot once it is live.
    func subscriptionsToRefresh(of session: SessionKey) -> [Int]
    /// The session comes in again for a new snapshot, and `Memberships.refreshed` is called when it has come
    /// so far. Returns false if there is no need.
    func refresh(_ session: SessionKey, at channelIndex: Int) -> Bool
    /// The channels of which the session is a member, or on its way to be.
    func channelsOfMember(
        _ session: SessionKey
    ) -> [(channel: ChannelKey, features: SubscriptionFeatures)]
    func isSubscribed(_ session: SessionKey, to channel: ChannelKey) -> Bool
}

/// What presence knows of a loop's sessions: their memberships hang on one lease, which is renewed in time,
/// and everything is announced anew when it has to be. `PresenceLease` decides, this class performs.
final class Memberships {
    private let eventLoop: any EventLoop
    private let presence: PresenceClient
    private let sessions: Sessions
    /// Set before the link to presence is up. The loop holds both objects. A weak reference would
    /// make each retain of `Subscribing` slow, which is on the path of a message (docs/decisions/0008).
    unowned var subscriptions: (any RefreshedSubscriptions)?
    private var lease: PresenceLease
    private var timer: Scheduled<Void>?
    private var isRefreshing = false
    private var withheld = WithheldPresence()
    /// The sessions that enter the rosters of their users.
    private var logins = RequestContexts<SessionKey>()

    init(
        eventLoop: any EventLoop, presence: PresenceClient, sessions: Sessions, lease: UInt64
    ) {
        self.eventLoop = eventLoop
        self.presence = presence
        self.sessions = sessions
        self.lease = PresenceLease(id: lease)
    }

    /// The number under which presence lists the loop's members.
    var leaseID: UInt64 { lease.id }

    func presenceIsUp() {
        lease.linkUp()
        announceAgain()
        renew()
    }

    func presenceIsDown() {
        timer?.cancel()
        lease.linkDown()
    }
}

// MARK: - The lease

extension Memberships {
    private func renew() {
        timer?.cancel()
        timer = nil
        guard presence.isUp else { return }
        lease.renewing()
        do throws(RTMError) {
            try presence.lease(LeaseRequest(lease: lease.id, link: lease.link))
        } catch {
            renew(in: PresenceLease.retryDelay)
        }
    }

    private func renew(in delay: Duration) {
        timer?.cancel()
        timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { self.renew() }
    }

    func leased(_ outcome: ServiceLinkResult<LeaseResponse>) {
        switch outcome {
        case .success(let response):
            renew(in: max(response.timeToLive / 3, .milliseconds(100)))
            if lease.renewed(isKnown: response.isKnown, allSessions) {
                syncNext()
            } else if lease.beginRefreshes(allSessions) {
                refreshNext()
            }
        case .failure(.disconnected):
            break
        case .failure:
            renew(in: PresenceLease.retryDelay)
        }
    }

    private var allSessions: [SessionKey] { sessions.all.map(\.key) }
}

// MARK: - Leaves

extension Memberships {
    func announce(_ leave: PresenceLease.Leave) {
        if case .left(let session, let channel, _) = leave { lease.hold(nil, of: session, in: channel) }
        let isAnnounced =
            switch leave {
            case .left(_, let channel, let caller):
                presence.leave(
                    LeavePush(channel: channel, caller: caller, lease: lease.id, link: lease.link))
            case .ended(let caller, let end):
                presence.sessionEnded(SessionEndedPush(caller: caller, end: end))
            }
        if isAnnounced { lease.announced(leave) } else { lease.remember(leave) }
    }

    func ended(_ session: Session, _ end: SessionEnd) {
        lease.ended(session.key)
        withheld.ended(session.key)
        if session.isMember { announce(.ended(session.caller, end)) }
    }

    /// The session doesn't become a member of a channel, and presence may have it as one already.
    func hasNotEntered(_ session: Session, _ channel: ChannelKey, isContinued: Bool) {
        guard session.isMember else { return }
        guard isContinued else { return announce(.left(session.key, channel, session.caller)) }
        // Who wanted to continue has not left (P-4): he tries again, or the sync finds that he is lost.
        lease.missed()
    }

    private func announceAgain() {
        for leave in lease.takeDoubtful() where !isBack(leave) { announce(leave) }
        for leave in lease.takeUnannounced() { announce(leave) }
    }

    private func isBack(_ leave: PresenceLease.Leave) -> Bool {
        guard case .left(let session, let channel, _) = leave else { return false }
        return subscriptions?.isSubscribed(session, to: channel) ?? false
    }
}

// MARK: - Logins

extension Memberships {
    /// A session of an app with events is a member of a roster of its user. So presence reports its login and
    /// its end, also that of the sessions of an edge that died. Nobody subscribes to it, and no query shows
    /// it.
    func loggedIn(_ session: Session) {
        guard session.application.hasEvents else { return }
        session.isMember = true
        let context = logins.insert(session.key)
        presence.join(
            JoinRequest(
                channel: session.roster, caller: session.caller, lease: lease.id, quiet: false,
                presenceTimeout: .seconds(Int64(session.presenceTimeout)), wantsSnapshot: false,
                ownership: session.ownership),
            context: -1 - context)
    }

    /// - Parameter context: negative for a login. Joins of channels have other contexts.
    /// - Returns: whether it was a login.
    func joined(_ context: Int, _ outcome: ServiceLinkResult<JoinResponse>) -> Bool {
        guard context < 0 else { return false }
        let key = logins.remove(-1 - context)
        guard let session = sessions[key] else { return true }
        switch outcome {
        case .success(let response): if response.isOlder { isUnlisted(key, in: session.roster) }
        case .failure: lease.missedJoin(of: key, in: session.roster)
        }
        return true
    }
}

extension Session {
    /// The log of the user's metadata has the events of the user's sessions, too.
    fileprivate var roster: ChannelKey { metadata(of: userID) }
}

// MARK: - All memberships

extension Memberships {
    /// - Parameter states: what the user shows from the join on.
    func joinMissed(
        _ session: SessionKey, _ channel: ChannelKey, _ states: JoinStates?, isContinued: Bool
    ) {
        lease.hold(states, of: session, in: channel)
        if isContinued { lease.missed() } else { lease.missedJoin(of: session, in: channel) }
    }

    /// A newer login of the user is in the channel, perhaps at an edge that has died. The session is
    /// announced to presence again, until that login has gone or the session has ended.
    func isUnlisted(_ session: SessionKey, in channel: ChannelKey) {
        lease.isUnlisted(session, in: channel)
    }

    private func syncNext() {
        let request = lease.nextSync { memberships(of: $0) }
        do throws(RTMError) {
            try presence.sync(request)
        } catch {
            lease.syncFailed()
        }
    }

    func synced(_ outcome: ServiceLinkResult<SyncResponse>) {
        guard case .success(let response) = outcome else { return lease.syncFailed() }
        switch lease.synced(unlisted: response.older.map { Int($0.place) }, allSessions) {
        case .more: syncNext()
        case .done(refreshes: true) where lease.refreshDelay > .zero:
            eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(lease.refreshDelay)) {
                self.refreshNext()
            }
        case .done: refreshNext()
        }
    }

    private func memberships(of key: SessionKey) -> [Membership] {
        guard let session = sessions[key], var channels = subscriptions?.channelsOfMember(key) else {
            return []
        }
        // A session that is on its way to its inbox has no ownership, and enters the roster afterwards.
        if session.application.hasEvents, session.ownership != 0 { channels.append((session.roster, [])) }
        guard !channels.isEmpty else { return [] }
        // A subscribe that still waits for messaging is among them, so the session's end has to be announced
        // to presence from now on.
        session.isMember = true
        return channels.map { channel, features in
            Membership(
                channel: channel, caller: session.caller, quiet: features.contains(.quiet),
                presenceTimeout: .seconds(Int64(session.presenceTimeout)), ownership: session.ownership)
        }
    }
}

// MARK: - New snapshots

extension Memberships {
    func lacksSnapshot(_ session: SessionKey, at channelIndex: Int) {
        lease.lacksSnapshot(session, at: channelIndex)
    }

    /// Presence lost what it knew, or couldn't send a snapshot, or messaging lost what followed it: every
    /// affected subscriber of presence gets a snapshot of what presence knows now (P-1), some at a
    /// time.
    private func refreshNext() {
        // A refresh that ends at once comes back here: the loop below takes the next one, not a deeper call.
        guard presence.isUp, !isRefreshing, let subscriptions else { return }
        isRefreshing = true
        defer { isRefreshing = false }
        while let next = lease.nextRefresh({ subscriptions.subscriptionsToRefresh(of: $0) }) {
            if !subscriptions.refresh(next.session, at: next.channelIndex) { lease.refreshed() }
        }
    }

    /// One has got its snapshot, or has left meanwhile.
    func refreshed(_ session: SessionKey, at channelIndex: Int) {
        lease.refreshed()
        if withheld.refreshed(session, at: channelIndex) { refreshWhenWritable(session) }
        refreshNext()
    }
}

// MARK: - Presence that is withheld

extension Memberships {
    /// Whether the session will get a snapshot of the channel, and no events of presence until then.
    func awaitsSnapshot(_ session: SessionKey, at channelIndex: Int) -> Bool {
        withheld.contains(session, at: channelIndex)
    }

    /// Events of presence were not sent to the session, because its client is behind (P-28).
    func presenceWithheld(_ session: SessionKey, at channelIndex: Int) {
        if withheld.add(session, at: channelIndex) { refreshWhenWritable(session) }
    }

    /// The session needs no snapshot of the channel any more.
    func left(_ session: SessionKey, _ channelIndex: Int) { withheld.left(session, channelIndex) }

    private func refreshWhenWritable(_ session: SessionKey) {
        sessions[session]?.connection?.whenWritable { [self] in
            while let channelIndex = withheld.next(of: session) {
                lease.refreshBegan()
                if subscriptions?.refresh(session, at: channelIndex) == true { return }
                lease.refreshed()
            }
        }
    }
}
