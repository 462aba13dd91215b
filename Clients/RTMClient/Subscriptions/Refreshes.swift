// Snapshots that the client requests. Which events were lost in a gap is not known, but what they led to can
// be requested, and so can what storage could not give when a subscription began (D-41, K-13). The answer is
// shown as a snapshot, so that an app that follows metadata or locks is never left with an old state, or with
// none. Many gaps at once are more calls than the server accepts at once: the rest waits for as long as
// the server says.

import Logging
import RTMModel
import RTMProtocol

/// A snapshot that is requested because none came, or because events of it were lost.
struct Refresh: Hashable {
    let revisioned: SubscriptionTable.Revisioned
    let target: MetadataTarget
    /// The answer before was older than what the app had seen.
    var isRepeated = false

    init(_ revisioned: SubscriptionTable.Revisioned, of target: MetadataTarget) {
        self.revisioned = revisioned
        self.target = target
    }

    static func all(of channel: ChannelID, _ features: SubscriptionFeatures) -> [Refresh] {
        var refreshes: [Refresh] = []
        let target = MetadataTarget.channel(channel.name, type: channel.type)
        if features.contains(.metadata) { refreshes.append(Refresh(.metadata, of: target)) }
        if features.contains(.lock) { refreshes.append(Refresh(.locks, of: target)) }
        return refreshes
    }
}

final class Refreshes {
    private let session: LinkSession
    private let requests: Requests
    private let subscribed: LinkSubscriptions
    private let metadata: MetadataFeed
    private let locks: OwnLocks

    init(
        session: LinkSession, requests: Requests, subscribed: LinkSubscriptions, metadata: MetadataFeed,
        locks: OwnLocks
    ) {
        self.session = session
        self.requests = requests
        self.subscribed = subscribed
        self.metadata = metadata
        self.locks = locks
    }

    /// How long until the next attempt if the server doesn't say when.
    private var pause: Duration { session.configuration.timing.refreshPause }

    /// Requests all snapshots that a channel's subscription follows.
    func request(for channel: ChannelID) {
        let features = subscribed.table.features(of: channel)
        for refresh in Refresh.all(of: channel, features) { request(refresh) }
    }

    /// Requests later what the server can't show of a channel at the moment.
    func postpone(_ channel: ChannelID, _ unavailable: SubscriptionFeatures) {
        let features = subscribed.table.features(of: channel).intersection(unavailable)
        for refresh in Refresh.all(of: channel, features) { postpone(refresh) }
    }

    func request(_ refresh: Refresh) {
        guard session.state == .connected else { return }
        guard !requests.isFull else { return postpone(refresh) }
        let target = refresh.target
        requests.send(RefreshRequest(refreshes: self, refresh: refresh)) {
            switch refresh.revisioned {
            case .metadata:
                $0.getMetadata.channelType = Rtm_Client_ChannelType(target.channelType)
                $0.getMetadata.target = target.name
            case .locks:
                $0.getLocks.channelType = Rtm_Client_ChannelType(target.channelType)
                $0.getLocks.channel = target.name
            }
        }
    }

    func retry(_ refresh: Refresh) {
        guard isFollowed(refresh) else { return }
        // Subscriptions may still be being restored.
        if session.state == .connected { request(refresh) } else { postpone(refresh) }
    }

    private func isFollowed(_ refresh: Refresh) -> Bool {
        let features = subscribed.table.features(of: refresh.target.id)
        return features.contains(refresh.revisioned == .locks ? .lock : .metadata)
    }

    private func postpone(_ refresh: Refresh, for pause: Duration? = nil) {
        session.retry(.snapshot(refresh), after: pause ?? self.pause)
    }

    // MARK: Answers

    fileprivate func received(_ metadata: Rtm_Client_Metadata, for refresh: Refresh) {
        if isOld(refresh, UInt64(clamping: metadata.majorRevision)) { return requestOnceMore(refresh) }
        self.metadata.received(metadata)
    }

    fileprivate func received(_ locks: Rtm_Client_Locks, for refresh: Refresh) {
        if isOld(refresh, locks.revision) { return requestOnceMore(refresh) }
        self.locks.received(locks)
    }

    /// The answer and the events come by different routes. An answer that was read before an event must not
    /// replace it. When the next answer is as old, storage itself has older data, as after a restored
    /// backup.
    private func isOld(_ refresh: Refresh, _ revision: UInt64) -> Bool {
        !refresh.isRepeated && subscribed.table.revision(refresh.revisioned, of: refresh.target.id) > revision
    }

    private func requestOnceMore(_ refresh: Refresh) {
        var refresh = refresh
        refresh.isRepeated = true
        request(refresh)
    }

    /// A temporary failure is retried as long as the connection lives. The next connection catches up by
    /// itself, or the server reports a gap again.
    fileprivate func failed(_ refresh: Refresh, _ error: RTMError) {
        if error.mayPass { return postpone(refresh, for: error.retryAfter) }
        session.logger.warning("a snapshot could not be read", metadata: ["cause": "\(error)"])
    }
}

/// The client's own request for a snapshot.
private struct RefreshRequest: Request {
    let refreshes: Refreshes
    let refresh: Refresh

    /// The code for an answer that can't be understood is the same for metadata and locks.
    var operation: Operation { .getChannelMetadata }

    func answered(_ body: ServerBody) -> Bool {
        switch body {
        case .metadata(let metadata): refreshes.received(metadata, for: refresh)
        case .locks(let locks): refreshes.received(locks, for: refresh)
        default: return false
        }
        return true
    }

    func refused(_ error: RTMError) { refreshes.failed(refresh, error) }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        refreshes.failed(refresh, error)
        return nil
    }

    /// The next connection brings a snapshot of its own.
    func lost(_ reason: String) {}
}
