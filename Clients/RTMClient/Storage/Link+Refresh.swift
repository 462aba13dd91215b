import Logging
import RTMModel
import RTMProtocol

/// A snapshot that is asked for because events of it were lost.
struct Refresh: Hashable {
    let revisioned: SubscriptionTable.Revisioned
    let target: MetadataTarget

    init(_ revisioned: SubscriptionTable.Revisioned, of target: MetadataTarget) {
        self.revisioned = revisioned
        self.target = target
    }
}

/// Those that can't be had at the moment.
struct PendingRefreshes {
    var refreshes: Set<Refresh> = []
    var at: Link.Instant?
}

// After a gap: what events were lost is not known, but what they led to can be asked for. The answer is shown
// as a snapshot, so that an app that follows metadata or locks is never left with an old picture. Many gaps
// at once are more calls than the server takes at once: the rest waits for as long as it says.
extension Link {
    /// Limit: how long until the next attempt if nobody says when.
    private static let refreshPause = Duration.seconds(2)

    func refresh(_ channel: String) {
        let features = subscriptions.features(of: channel)
        if features.contains(.metadata) { perform(Refresh(.metadata, of: .channel(channel))) }
        if features.contains(.lock) { perform(Refresh(.locks, of: .channel(channel))) }
    }

    func perform(_ refresh: Refresh) {
        guard machine.state == .connected else { return }
        guard !requests.isFull else { return put(off: refresh, for: Self.refreshPause) }
        let id = requestIDs.next()
        let deadline = now + configuration.requestTimeout
        requests.add(id, .refresh(refresh), deadline: deadline)
        let target = refresh.target
        send(id) {
            switch refresh.revisioned {
            case .metadata:
                $0.getMetadata.channelType = Rtm_Client_ChannelType(target.channelType)
                $0.getMetadata.target = target.name
            case .locks:
                $0.getLocks.channelType = Rtm_Client_ChannelType(target.channelType)
                $0.getLocks.channel = target.name
            }
        }
        armTimer(by: deadline)
    }

    func refreshed(_ refresh: Refresh, _ body: ServerBody) {
        switch body {
        case .metadata(let metadata): received(snapshot: metadata)
        case .locks(let locks): received(snapshot: locks)
        case .error(let error) where error.retryAfterMs > 0:
            put(off: refresh, for: .milliseconds(error.retryAfterMs))
        default: logger.debug("a snapshot after a gap could not be had")
        }
    }

    /// The next connection catches up by itself, or is told of a gap again.
    private func put(off refresh: Refresh, for pause: Duration) {
        let time = now + pause
        connection?.refreshes.refreshes.insert(refresh)
        let earlier = connection?.refreshes.at ?? time
        connection?.refreshes.at = min(earlier, time)
        armTimer(by: time)
    }

    func refreshIfDue() {
        guard let time = connection?.refreshes.at, now >= time,
            let due = connection?.refreshes.refreshes
        else { return }
        connection?.refreshes = PendingRefreshes()
        for refresh in due where isFollowed(refresh) { perform(refresh) }
    }

    private func isFollowed(_ refresh: Refresh) -> Bool {
        refresh.target.channelType == .none
            ? userMetadata.contains(refresh.target.name) : subscriptions.contains(refresh.target.name)
    }
}
