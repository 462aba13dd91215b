import NIOCore
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMWire

/// The loop's lease at presence: renewed in time, and everything told anew when it has to be.
extension EdgeLoop {
    func renewLease() {
        leaseTimer?.cancel()
        leaseTimer = nil
        guard presence.isUp else { return }
        lease.renewing()
        do throws(RTMError) {
            try presence.lease(LeaseRequest(lease: lease.id))
        } catch {
            renewLease(in: PresenceLease.retryDelay)
        }
    }

    private func renewLease(in delay: Duration) {
        leaseTimer?.cancel()
        leaseTimer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { self.renewLease() }
    }

    func presenceLeased(_ outcome: Result<LeaseResponse, ServiceLinkRequestFailure>) {
        switch outcome {
        case .success(let response):
            renewLease(in: max(response.timeToLive / 3, .milliseconds(100)))
            if lease.renewed(isKnown: response.isKnown, Array(sessions.values)) {
                syncNext()
            } else if lease.beginRefreshes(Array(sessions.values)) {
                refreshNext()
            }
        case .failure(.disconnected):
            break
        case .failure:
            renewLease(in: PresenceLease.retryDelay)
        }
    }

    // MARK: Departures

    func tellPresence(_ departure: PresenceLease.Departure) {
        let isTold =
            switch departure {
            case .left(let channel, let caller):
                presence.leave(LeavePush(channel: channel, caller: caller))
            case .ended(let caller, let end):
                presence.sessionEnded(SessionEndedPush(caller: caller, end: end))
            }
        if isTold { lease.told(departure) } else { lease.remember(departure) }
    }

    func tellPresenceAgain() {
        for departure in lease.takeDoubtful() where !isBack(departure) { tellPresence(departure) }
        for departure in lease.takeUntold() { tellPresence(departure) }
    }

    private func isBack(_ departure: PresenceLease.Departure) -> Bool {
        guard case .left(let channel, let caller) = departure, let place = index.place(of: channel) else {
            return false
        }
        return sessions[caller.session]?.subscriptions[place] != nil
    }

    // MARK: All memberships

    private func syncNext() {
        let request = lease.nextSync { memberships(of: $0) }
        do throws(RTMError) {
            try presence.sync(request)
        } catch {
            lease.syncFailed()
        }
    }

    func presenceSynced(_ outcome: Result<SyncResponse, ServiceLinkRequestFailure>) {
        guard case .success = outcome else { return lease.syncFailed() }
        switch lease.synced(Array(sessions.values)) {
        case .more: syncNext()
        case .done(refreshes: true) where lease.refreshDelay > .zero:
            eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(lease.refreshDelay)) {
                self.refreshNext()
            }
        case .done: refreshNext()
        }
    }

    private func memberships(of session: Session) -> [Membership] {
        guard !session.isEnded else { return [] }
        let memberships: [Membership] = session.subscriptions.compactMap { place, subscription in
            let key = index.key(at: place)
            guard key.type == .message else { return nil }
            // Before its join perhaps: so presence hears of its end, too.
            session.isMember = true
            return Membership(
                channel: key, caller: session.caller, quiet: subscription.isQuiet,
                presenceTimeout: .seconds(Int64(session.presenceTimeout)))
        }
        // A subscribe that waits for messaging yet is among them: presence has to hear of its end, too.
        if !memberships.isEmpty { session.isMember = true }
        return memberships
    }

    // MARK: New snapshots

    /// Presence lost what it knew, or didn't give somebody his snapshot, or messaging lost what followed
    /// it: who wants presence and is affected gets a snapshot of what it knows now (P-1), some at a time.
    private func refreshNext() {
        // One that ends at once comes back here: the loop below takes the next one, not a deeper call.
        guard presence.isUp, !isRefreshing else { return }
        isRefreshing = true
        defer { isRefreshing = false }
        while let next = lease.nextRefresh({ presencePlaces(of: $0) }) {
            guard let features = index.features(of: next.session, at: next.place),
                let subscription = next.session.subscriptions[next.place], features.contains(.presence)
            else {
                // One that is coming in again gets it when it is live.
                if next.session.subscriptions[next.place]?.pausedAt != nil {
                    next.session.subscriptions[next.place]?.lacksSnapshot = true
                }
                lease.refreshed()
                continue
            }
            var pending = PendingSubscribe(
                session: next.session, requestID: subscription.requestID, features: features, after: nil,
                purpose: .subscribe)
            pending.renewed = .presence
            pending.isSilent = true
            enter(pending, index.key(at: next.place))
        }
    }

    private func presencePlaces(of session: Session) -> [Int] {
        guard !session.isEnded else { return [] }
        for (place, subscription) in session.subscriptions where subscription.pausedAt != nil {
            session.subscriptions[place]?.lacksSnapshot = true
        }
        return session.subscriptions.keys.filter {
            index.features(of: session, at: $0)?.contains(.presence) == true
        }
    }

    /// One has got its snapshot, or has left meanwhile.
    func refreshed() {
        lease.refreshed()
        refreshNext()
    }
}
