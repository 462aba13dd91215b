// Who is in the subscribed channels. What a snapshot or an event means, `ChannelRoster` decides; from here it
// reaches the app and those who watch a roster.

import RTMModel
import RTMProtocol

final class Rosters {
    private unowned let link: Link
    /// By the channel's label, for the subscriptions that asked for presence.
    private var rosters: [String: ChannelRoster] = [:]
    private var watchers = RosterWatchers()

    init(_ link: Link) { self.link = link }

    func watch(_ channel: String, _ watcher: RosterWatcher) {
        guard !link.isClosed else { return watcher.finish() }
        watchers.add(watcher, for: channel)
        if let members = rosters[channel]?.members {
            watcher.append(RosterUpdate(members: members, changes: [.replaced]))
        }
    }

    /// The client is closed.
    func finish() { watchers.finish() }

    // MARK: Subscriptions

    /// A subscription has begun, has new features, or was restored.
    ///
    /// - Parameter isNew: false for a restoration, because what the app was told before still holds.
    func follow(
        _ channel: String, features: SubscriptionFeatures, unavailable: SubscriptionFeatures, epoch: UInt64,
        isNew: Bool
    ) {
        guard features.contains(.presence) else {
            forget(channel)
            if isNew { emit(.errorOutOfService(.notAskedFor), in: channel) }
            return link.ownStates.settle(in: channel)
        }
        var roster =
            rosters[channel]
            ?? ChannelRoster(of: UserChannel(label: channel), userID: link.configuration.userID)
        roster.follow(epoch: epoch)
        let changes = isNew ? roster.showSelf(!features.contains(.quiet)) : []
        rosters[channel] = roster
        watchers.publish(roster.members, changes, in: channel)
        // Otherwise a snapshot comes, and shows what the server has of the own states.
        guard unavailable.contains(.presence) else { return }
        change(channel) { $0.outOfService(at: link.time.milliseconds) }
        link.ownStates.settle(in: channel)
    }

    /// The channel's log goes on in this epoch, behind a gap.
    func skip(_ channel: String, toEpoch epoch: UInt64) { rosters[channel]?.follow(epoch: epoch) }

    /// The subscription has ended, or follows presence no more.
    func forget(_ channel: String) {
        guard let roster = rosters.removeValue(forKey: channel), roster.members != nil else { return }
        watchers.publish(nil, [.cleared], in: channel)
    }

    func forgetAll() {
        for channel in rosters.keys.sorted() { forget(channel) }
    }

    // MARK: What the server sends

    func received(_ snapshot: Rtm_Client_PresenceSnapshot) {
        let place = UserChannel(snapshot.channelType, snapshot.channel)
        let channel = place.label
        guard rosters[channel] != nil else { return }
        let users = snapshot.users.map(UserState.init)
        let page = ChannelRoster.Page(
            position: StreamPosition(snapshot.position),
            users: place.type == .topics ? users : link.encryption?.open(users, in: place) ?? users,
            more: snapshot.more, timestampMilliseconds: link.time.milliseconds)
        change(channel, showsSame: link.connection?.isSecondPath != true) { $0.received(page) }
        guard !page.more, let members = rosters[channel]?.members else { return }
        link.ownStates.restore(in: channel, shown: members[link.configuration.userID])
    }

    func received(_ event: Rtm_Client_PresenceEvent, in publication: Rtm_Client_Publication) {
        guard let change = PresenceNews.Change(event, publisher: publication.publisher) else { return }
        let channel = UserChannel(publication.channelType, publication.channel)
        let news = PresenceNews(
            change: channel.type == .topics ? change : link.encryption?.open(change, in: channel) ?? change,
            timestampMilliseconds: publication.timestampMs)
        self.change(channel.label) { $0.received(news, offset: publication.offset) }
    }

    /// This user shows other states now. The app hears no event of what it did itself (P-8).
    func changeOwnStates(in channel: UserChannel, _ change: (inout [String: String]) -> Void) {
        guard let index = rosters.index(forKey: channel.label) else { return }
        let changes = rosters.values[index].changeOwnStates(change)
        watchers.publish(rosters.values[index].members, changes, in: channel.label)
    }

    /// - Parameter showsSame: whether a snapshot is shown that brings nothing new.
    private func change(
        _ channel: String, showsSame: Bool = true, _ change: (inout ChannelRoster) -> ChannelRoster.Outcome
    ) {
        guard let index = rosters.index(forKey: channel) else { return }
        let known = rosters.values[index].members
        let outcome = change(&rosters.values[index])
        if !showsSame, outcome.changes == [.replaced], known == rosters.values[index].members { return }
        for event in outcome.events { emit(event, of: channel) }
        watchers.publish(rosters.values[index].members, outcome.changes, in: channel)
    }

    private func emit(_ change: PresenceEvent.Change, in channel: String) {
        let place = UserChannel(label: channel)
        let event = PresenceEvent(
            channelType: place.type, channelName: place.name, change: change,
            timestampMilliseconds: link.time.milliseconds)
        emit(event, of: channel)
    }

    /// Who publishes the topics of a stream channel reaches the app as events of the topics.
    private func emit(_ event: PresenceEvent, of channel: String) {
        guard event.channelType != .topics else { return link.streams.received(event) }
        link.events.emit(.presence(event), of: channel, event.channelType)
    }
}
