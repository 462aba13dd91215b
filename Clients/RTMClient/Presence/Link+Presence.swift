import Logging
import RTMModel
import RTMProtocol
import SwiftProtobuf

// Presence: rosters of the subscribed channels, and the own states.
extension Link {
    /// While presence can't be reached: how long until states are tried to be set again.
    static let stateRetryDelay = Duration.seconds(1)

    // MARK: Calls

    func setState(_ items: [String: String], in channel: UserChannel, _ completion: Completion<Void>) {
        guard isReady(for: completion) else { return }
        guard isSubscribed(channel) else {
            do { try states.hold(items, in: channel, subscribed: subscribedChannels) } catch {
                return completion.fail(error)
            }
            return completion.succeed()
        }
        // Only what the server has taken is worth being restored.
        send(items, in: channel, completion)
    }

    private func send(_ items: [String: String], in channel: UserChannel, _ completion: Completion<Void>) {
        connection?.stateRequests[channel] = completion.id
        call(completion, .setState(.init(items, in: channel))) { [self] body in
            guard case .done = body else { return nil }
            if isSubscribed(channel) { states.set(items, in: channel) }
            changeOwnStates(in: channel) { $0.merge(items) { $1 } }
            return ()
        }
    }

    func removeState(_ keys: [String], in channel: UserChannel, _ completion: Completion<Void>) {
        guard isReady(for: completion) else { return }
        guard isSubscribed(channel) else {
            states.remove(keys, in: channel)
            return completion.succeed()
        }
        connection?.stateRequests[channel] = completion.id
        call(completion, .removeState(.init(keys, in: channel))) { [self] body in
            guard case .done = body else { return nil }
            states.remove(keys, in: channel)
            changeOwnStates(in: channel) { shown in
                if keys.isEmpty { shown = [:] } else { for key in keys { shown[key] = nil } }
            }
            return ()
        }
    }

    func state(of userID: String, in channel: UserChannel, _ completion: Completion<[String: String]>) {
        if userID == configuration.userID, !isSubscribed(channel), let waiting = states.states(in: channel) {
            guard isReady(for: completion) else { return }
            return completion.succeed(waiting)
        }
        call(completion, .getState(.init(userID, in: channel))) { body in
            guard case .userState(let answer) = body else { return nil }
            return UserState(answer).states
        }
    }

    func watch(_ channel: String, _ watcher: RosterWatcher) {
        guard !isClosed else { return watcher.finish() }
        watchers.add(watcher, for: channel)
        if let members = rosters[channel]?.members {
            watcher.append(RosterUpdate(members: members, changes: [.replaced]))
        }
    }

    private var subscribedChannels: Set<UserChannel> {
        Set(subscriptions.channels.map { UserChannel(type: .message, name: $0) })
    }

    private func isSubscribed(_ channel: UserChannel) -> Bool {
        channel.type == .message && subscriptions.isActive(channel.name)
    }

    // MARK: Subscriptions

    /// A subscription has begun, has new features, or was restored.
    ///
    /// - Parameter isNew: false for a restoration: what the app was told once stands.
    func followPresence(
        of channel: String, features: SubscriptionFeatures, unavailable: SubscriptionFeatures, epoch: UInt64,
        isNew: Bool
    ) {
        guard features.contains(.presence) else {
            forgetRoster(of: channel)
            if isNew { emit(.errorOutOfService(.notAskedFor), in: channel) }
            return settleStates(in: UserChannel(type: .message, name: channel))
        }
        var roster = rosters[channel] ?? ChannelRoster(channelName: channel, userID: configuration.userID)
        roster.follow(epoch: epoch)
        let changes = isNew ? roster.showSelf(!features.contains(.quiet)) : []
        rosters[channel] = roster
        watchers.publish(roster.members, changes, in: channel)
        // Otherwise a snapshot comes, and shows what the server has of the own states.
        guard unavailable.contains(.presence) else { return }
        perform(channel) { $0.outOfService(at: serverTimeMilliseconds) }
        settleStates(in: UserChannel(type: .message, name: channel))
    }

    /// The subscription has ended, or was never there.
    func forgetPresence(of channel: String) {
        forgetRoster(of: channel)
        states.forget(UserChannel(type: .message, name: channel))
    }

    func forgetAllPresence() {
        for channel in rosters.keys.sorted() { forgetRoster(of: channel) }
        states.removeAll()
    }

    private func forgetRoster(of channel: String) {
        guard let roster = rosters.removeValue(forKey: channel), roster.members != nil else { return }
        watchers.publish(nil, [.cleared], in: channel)
    }

    // MARK: Events

    func received(snapshot: Rtm_Client_PresenceSnapshot) {
        guard snapshot.channelType == .message, rosters[snapshot.channel] != nil else { return }
        let page = ChannelRoster.Page(
            position: StreamPosition(snapshot.position), users: snapshot.users.map(UserState.init),
            more: snapshot.more, timestampMilliseconds: serverTimeMilliseconds)
        perform(snapshot.channel) { $0.received(page) }
        guard !page.more, let members = rosters[snapshot.channel]?.members else { return }
        restoreStates(
            in: UserChannel(type: .message, name: snapshot.channel), shown: members[configuration.userID])
    }

    func received(_ event: Rtm_Client_PresenceEvent, in publication: Rtm_Client_Publication) {
        guard let change = PresenceEvent.Change(event, publisher: publication.publisher) else { return }
        let event = PresenceEvent(
            channelType: .message, channelName: publication.channel, change: change,
            timestampMilliseconds: publication.timestampMs)
        perform(publication.channel) { $0.received(event, offset: publication.offset) }
    }

    private func perform(_ channel: String, _ change: (inout ChannelRoster) -> ChannelRoster.Outcome) {
        guard let index = rosters.index(forKey: channel) else { return }
        let outcome = change(&rosters.values[index])
        for event in outcome.events { emit(.presence(event), of: channel, .message) }
        watchers.publish(rosters.values[index].members, outcome.changes, in: channel)
    }

    private func emit(_ change: PresenceEvent.Change, in channel: String) {
        let event = PresenceEvent(
            channelType: .message, channelName: channel, change: change,
            timestampMilliseconds: serverTimeMilliseconds)
        emit(.presence(event), of: channel, .message)
    }

    private func changeOwnStates(in channel: UserChannel, _ change: (inout [String: String]) -> Void) {
        guard channel.type == .message, let index = rosters.index(forKey: channel.name) else { return }
        let changes = rosters.values[index].changeOwnStates(change)
        watchers.publish(rosters.values[index].members, changes, in: channel.name)
    }

    // MARK: Restoring the own states

    /// Sets what the server lacks of the cached states, and removes what only it has (P-41, S-19).
    private func restoreStates(in channel: UserChannel, shown: [String: String]?) {
        let missing = states.missing(from: shown, in: channel)
        let forgotten = states.forgotten(in: shown, in: channel)
        guard !missing.isEmpty || !forgotten.isEmpty else { return }
        // What is shown may be older than a change that is under way, and the cache is until its answer.
        if let request = connection?.stateRequests[channel], requests.isOpen(request) {
            return settleStatesLater(in: channel, Self.stateRetryDelay)
        }
        if !forgotten.isEmpty { removeAgain(forgotten, in: channel) }
        guard !missing.isEmpty else { return }
        internalCall(.setState, .setState(.init(missing, in: channel))) { [self] result in
            switch result {
            case .success(.done): changeOwnStates(in: channel) { $0.merge(missing) { $1 } }
            case .success: break
            case .failure(let error): restoringStatesFailed(error, in: channel)
            }
        }
    }

    private func removeAgain(_ keys: [String], in channel: UserChannel) {
        internalCall(.removeState, .removeState(.init(keys, in: channel))) { [self] result in
            switch result {
            case .success(.done): changeOwnStates(in: channel) { for key in keys { $0[key] = nil } }
            case .success: break
            case .failure(let error): restoringStatesFailed(error, in: channel)
            }
        }
    }

    /// The same where no snapshot says what the server has.
    private func settleStates(in channel: UserChannel) {
        if states.states(in: channel) != nil { askForStates(in: channel) }
    }

    private func askForStates(in channel: UserChannel) {
        internalCall(.getState, .getState(.init(configuration.userID, in: channel))) { [self] result in
            switch result {
            case .success(.userState(let answer)):
                restoreStates(in: channel, shown: UserState(answer).states)
            case .success: break
            case .failure(let error) where error.code == .presenceUserNotExist:
                // Quiet users are hidden from themselves, too.
                restoreStates(in: channel, shown: nil)
            case .failure(let error): restoringStatesFailed(error, in: channel)
            }
        }
    }

    private func restoringStatesFailed(_ error: RTMError, in channel: UserChannel) {
        // Without a connection: the next one begins with a snapshot.
        guard connection != nil else { return }
        guard error.isRetryable else {
            logger.warning(
                "states could not be set", metadata: ["channel": "\(channel.name)", "cause": "\(error)"])
            return
        }
        settleStatesLater(in: channel, error.retryAfter ?? Self.stateRetryDelay)
    }

    private func settleStatesLater(in channel: UserChannel, _ delay: Duration) {
        connection?.unsettledStates.insert(channel)
        guard connection?.settleStatesAt == nil else { return }
        connection?.settleStatesAt = now + delay
        armTimer()
    }

    /// Called when the timer fires.
    func settleStatesIfDue() {
        guard let due = connection?.settleStatesAt, due <= now else { return }
        let channels = connection?.unsettledStates ?? []
        connection?.settleStatesAt = nil
        connection?.unsettledStates = []
        for channel in channels where isSubscribed(channel) { askForStates(in: channel) }
    }
}
