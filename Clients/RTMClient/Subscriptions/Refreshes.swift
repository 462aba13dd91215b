// Snapshots that the client asks for. Which events were lost behind a gap is not known, but what they led to
// can be asked for, and so can what storage could not give when a subscription began (D-41, K-13). The answer
// is shown as a snapshot, so that an app that follows metadata or locks is never left with an old picture, or
// with none. Many gaps at once are more calls than the server takes at once: the rest waits for as long
// as the server says.

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
        let place = UserChannel(label: channel)
        let target = MetadataTarget.channel(place.name, type: place.type)
        if features.contains(.metadata) { refreshes.append(Refresh(.metadata, of: target)) }
        if features.contains(.lock) { refreshes.append(Refresh(.locks, of: target)) }
        return refreshes
    }
}

final class Refreshes {
    private unowned let link: Link

    init(_ link: Link) { self.link = link }

    /// How long until the next attempt if the server doesn't say when.
    private var pause: Duration { link.configuration.timing.refreshPause }

    /// Asks for all snapshots that a channel's subscription follows.
    func ask(for channel: String) {
        let features = link.subscriptions.table.features(of: channel)
        for refresh in Refresh.all(of: channel, features) { ask(refresh) }
    }

    /// Asks later for what the server can't show of a channel at the moment.
    func putOff(_ channel: String, _ unavailable: SubscriptionFeatures) {
        let features = link.subscriptions.table.features(of: channel).intersection(unavailable)
        for refresh in Refresh.all(of: channel, features) { putOff(refresh) }
    }

    func ask(_ refresh: Refresh) {
        guard link.state == .connected else { return }
        guard !link.requests.isFull else { return putOff(refresh) }
        let target = refresh.target
        link.requests.ask(RefreshRequest(refreshes: self, refresh: refresh)) {
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

    func tryAgain(_ refresh: Refresh) {
        guard isFollowed(refresh) else { return }
        // Subscriptions may still be being restored.
        if link.state == .connected { ask(refresh) } else { putOff(refresh) }
    }

    private func isFollowed(_ refresh: Refresh) -> Bool {
        let target = refresh.target
        guard target.channelType != .none else { return link.followedUsers.table.contains(target.name) }
        let features = link.subscriptions.table.features(of: target.label)
        return features.contains(refresh.revisioned == .locks ? .lock : .metadata)
    }

    private func putOff(_ refresh: Refresh, for pause: Duration? = nil) {
        link.retry(.snapshot(refresh), after: pause ?? self.pause)
    }

    // MARK: Answers

    fileprivate func received(_ metadata: Rtm_Client_Metadata, for refresh: Refresh) {
        if isOld(refresh, UInt64(clamping: metadata.majorRevision)) { return askOnceMore(refresh) }
        link.metadata.received(metadata)
    }

    fileprivate func received(_ locks: Rtm_Client_Locks, for refresh: Refresh) {
        if isOld(refresh, locks.revision) { return askOnceMore(refresh) }
        link.locks.received(locks)
    }

    /// The answer and the events come on different ways. An answer that was read before an event must not
    /// take its place. When the next answer is as old, storage itself has gone back, which a restored backup
    /// does.
    private func isOld(_ refresh: Refresh, _ revision: UInt64) -> Bool {
        let table =
            refresh.target.channelType == .none ? link.followedUsers.table : link.subscriptions.table
        return !refresh.isRepeated
            && table.revision(refresh.revisioned, of: refresh.target.label) > revision
    }

    private func askOnceMore(_ refresh: Refresh) {
        var refresh = refresh
        refresh.isRepeated = true
        ask(refresh)
    }

    /// What waiting mends is tried as long as the connection lives. The next connection catches up by itself,
    /// or the server reports a gap again.
    fileprivate func failed(_ refresh: Refresh, _ error: RTMError) {
        if error.isRetryable { return putOff(refresh, for: error.retryAfter) }
        link.logger.warning("a snapshot could not be read", metadata: ["cause": "\(error)"])
    }
}

/// The link's own question for a snapshot.
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
