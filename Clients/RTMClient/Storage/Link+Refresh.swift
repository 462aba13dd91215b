import Logging
import RTMModel
import RTMProtocol

/// A snapshot that is asked for because none came, or because events of it were lost.
struct Refresh: Hashable {
    let revisioned: SubscriptionTable.Revisioned
    let target: MetadataTarget
    /// The answer before was older than what the app had seen.
    var isRepeated = false

    init(_ revisioned: SubscriptionTable.Revisioned, of target: MetadataTarget) {
        self.revisioned = revisioned
        self.target = target
    }

    static func all(of channel: String, _ features: SubscriptionFeatures) -> [Refresh] {
        var refreshes: [Refresh] = []
        if features.contains(.metadata) { refreshes.append(Refresh(.metadata, of: .channel(channel))) }
        if features.contains(.lock) { refreshes.append(Refresh(.locks, of: .channel(channel))) }
        return refreshes
    }
}

// What events were lost behind a gap is not known, but what they led to can be asked for; so can what storage
// could not give when a subscription began (D-41, K-13). The answer is shown as a snapshot, so that an app
// that follows metadata or locks is never left with an old picture, or with none. Many gaps at once are more
// calls than the server takes at once: the rest waits for as long as it says.
extension Link {
    /// How long until the next attempt if nobody says when.
    var refreshPause: Duration { configuration.timing.refreshPause }

    func refresh(_ channel: String) {
        let features = subscriptions.features(of: channel)
        for refresh in Refresh.all(of: channel, features) { perform(refresh) }
    }

    /// The same for what the server can't show of a channel at the moment.
    func putOffRefresh(of channel: String, _ unavailable: SubscriptionFeatures) {
        let features = subscriptions.features(of: channel).intersection(unavailable)
        for refresh in Refresh.all(of: channel, features) { put(off: refresh, for: refreshPause) }
    }

    func perform(_ refresh: Refresh) {
        guard machine.state == .connected else { return }
        guard !requests.isFull else { return put(off: refresh, for: refreshPause) }
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
        case .metadata(let metadata):
            guard !isOld(refresh, UInt64(clamping: metadata.majorRevision)) else { return repeated(refresh) }
            received(snapshot: metadata)
        case .locks(let locks):
            guard !isOld(refresh, locks.revision) else { return repeated(refresh) }
            received(snapshot: locks)
        case .error(let error): refreshFailed(refresh, RTMError(error, unknownCode: .storageOperationFailed))
        default: logger.debug("the answer to the request of a snapshot is none")
        }
    }

    /// The answer and the events come on different ways: one that was read before an event must not take its
    /// place. When the next one is as old, storage itself has gone back, which a restored backup does.
    private func isOld(_ refresh: Refresh, _ revision: UInt64) -> Bool {
        let table = refresh.target.channelType == .none ? userMetadata : subscriptions
        return !refresh.isRepeated
            && table.revision(refresh.revisioned, of: refresh.target.name) > revision
    }

    private func repeated(_ refresh: Refresh) {
        var refresh = refresh
        refresh.isRepeated = true
        perform(refresh)
    }

    /// What waiting mends is tried as long as the link lives.
    func refreshFailed(_ refresh: Refresh, _ error: RTMError) {
        if error.isRetryable { return put(off: refresh, for: error.retryAfter ?? refreshPause) }
        logger.warning("a snapshot could not be had", metadata: ["cause": "\(error)"])
    }

    /// The next connection catches up by itself, or is told of a gap again.
    private func put(off refresh: Refresh, for pause: Duration) {
        let time = now + pause
        connection?.refreshes.put(refresh, until: time)
        armTimer(by: time)
    }

    func refreshIfDue() {
        for refresh in connection?.refreshes.takeDue(now: now) ?? [] where isFollowed(refresh) {
            // Subscriptions may still be being restored.
            if machine.state == .connected { perform(refresh) } else { put(off: refresh, for: refreshPause) }
        }
    }

    private func isFollowed(_ refresh: Refresh) -> Bool {
        let name = refresh.target.name
        guard refresh.target.channelType != .none else { return userMetadata.contains(name) }
        return subscriptions.features(of: name).contains(refresh.revisioned == .locks ? .lock : .metadata)
    }
}
