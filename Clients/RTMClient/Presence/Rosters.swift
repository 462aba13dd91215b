// Who is in the subscribed channels. What a snapshot or an event means, `ChannelRoster` decides; from here it
// reaches the app and those who watch a roster.

import RTMModel
import RTMProtocol

final class Rosters {
    private let session: LinkSession
    private let events: EventOutlet
    private let encryption: Encryption?
    private let topics: TopicRosters
    /// The rosters of the channels whose subscriptions asked for presence.
    private var rosters: [ChannelID: ChannelRoster] = [:]
    private var watchers = RosterWatchers()

    init(session: LinkSession, events: EventOutlet, encryption: Encryption?, topics: TopicRosters) {
        self.session = session
        self.events = events
        self.encryption = encryption
        self.topics = topics
    }

    func watch(_ channel: ChannelID, _ watcher: RosterWatcher) {
        guard !session.isClosed else { return watcher.finish() }
        watchers.add(watcher, for: channel)
        if let members = rosters[channel]?.members {
            watcher.append(RosterUpdate(members: members, changes: [.replaced]))
        }
    }

    /// The client is closed.
    func finish() { watchers.finish() }

    // MARK: Subscriptions

    /// - Parameter ownStates: what this user has set in the channel.
    /// - Returns: whether a snapshot will come, which shows what the server has of the own states.
    func follow(
        _ channel: ChannelID, features: SubscriptionFeatures, unavailable: SubscriptionFeatures,
        epoch: UInt64, isNew: Bool, ownStates: [String: String]
    ) -> Bool {
        guard features.contains(.presence) else {
            forget(channel)
            if isNew { emit(.outage(.notAskedFor), in: channel) }
            return false
        }
        var roster =
            rosters[channel]
            ?? ChannelRoster(of: channel, userID: session.userID)
        roster.follow(epoch: epoch)
        let changes = isNew ? roster.showSelf(!features.contains(.quiet), ownStates) : []
        rosters[channel] = roster
        watchers.publish(roster.members, changes, in: channel)
        guard unavailable.contains(.presence) else { return true }
        change(channel) { $0.outOfService(at: session.clock.milliseconds) }
        return false
    }

    /// The channel's log continues in this epoch after a gap.
    func skip(_ channel: ChannelID, toEpoch epoch: UInt64) { rosters[channel]?.follow(epoch: epoch) }

    /// The subscription has ended, or follows presence no more.
    func forget(_ channel: ChannelID) {
        guard let roster = rosters.removeValue(forKey: channel), roster.members != nil else { return }
        watchers.publish(nil, [.cleared], in: channel)
    }

    func forgetAll() {
        for channel in rosters.keys.sorted() { forget(channel) }
    }

    // MARK: What the server sends

    /// - Parameter ownStates: what this user has set in the channel.
    /// - Returns: whether the snapshot is complete.
    func received(
        _ snapshot: Rtm_Client_PresenceSnapshot, in channel: ChannelID, ownStates: [String: String]
    ) -> Bool {
        guard rosters[channel] != nil else { return false }
        let users = snapshot.users.map(UserState.init)
        let page = ChannelRoster.Page(
            position: StreamPosition(snapshot.position),
            users: channel.type == .topics ? users : encryption?.open(users, in: channel) ?? users,
            ownStates: ownStates, more: snapshot.more, timestampMilliseconds: session.clock.milliseconds)
        change(channel, showsSame: !session.isOnSecondPath) { $0.received(page) }
        return !page.more && rosters[channel]?.members != nil
    }

    /// What others see of this user; `nil` if it isn't listed.
    func listedStates(in channel: ChannelID) -> [String: String]? { rosters[channel]?.listedStates }

    func received(_ event: Rtm_Client_PresenceEvent, in publication: Rtm_Client_Publication) {
        guard let change = PresenceUpdate.Change(event, publisher: publication.publisher) else { return }
        let channel = ChannelID(publication.channelType, publication.channel)
        let update = PresenceUpdate(
            change: channel.type == .topics ? change : encryption?.open(change, in: channel) ?? change,
            timestampMilliseconds: publication.timestampMs)
        self.change(channel) { $0.received(update, offset: publication.offset) }
    }

    /// This user shows other states now. The app gets no event of what it did itself (P-8).
    func changeOwnStates(in channel: ChannelID, _ change: (inout [String: String]) -> Void) {
        guard let index = rosters.index(forKey: channel) else { return }
        let changes = rosters.values[index].changeOwnStates(change)
        watchers.publish(rosters.values[index].members, changes, in: channel)
    }

    /// - Parameter showsSame: whether a snapshot is shown that brings nothing new.
    private func change(
        _ channel: ChannelID, showsSame: Bool = true, _ change: (inout ChannelRoster) -> ChannelRoster.Outcome
    ) {
        guard let index = rosters.index(forKey: channel) else { return }
        let known = rosters.values[index].members
        let outcome = change(&rosters.values[index])
        if !showsSame, outcome.changes == [.replaced], known == rosters.values[index].members { return }
        for event in outcome.events { emit(event, of: channel) }
        watchers.publish(rosters.values[index].members, outcome.changes, in: channel)
    }

    private func emit(_ change: PresenceEvent.Change, in channel: ChannelID) {
        let event = PresenceEvent(
            channelType: channel.type, channelName: channel.name, change: change,
            timestampMilliseconds: session.clock.milliseconds)
        emit(event, of: channel)
    }

    /// Who publishes the topics of a stream channel reaches the app as events of the topics.
    private func emit(_ event: PresenceEvent, of channel: ChannelID) {
        guard event.channelType != .topics else { return topics.received(event) }
        events.emit(.presence(event), of: channel)
    }
}
