// Subscribing to channels, and what follows from the server's answers. `SubscriptionTable` knows what is
// subscribed, and how far each channel has been seen.

import RTMModel
import RTMProtocol

final class Subscriptions {
    let subscribed: LinkSubscriptions
    var postponed = PostponedSubscribes()
    /// What the app has left without an answer of the server, in which others may still see this user.
    private var left = LeftSubscriptions()
    private let session: LinkSession
    private let requests: Requests
    private let events: EventOutlet
    private let refreshes: Refreshes
    private let presence: ChannelPresence
    private let topics: TopicRosters
    private let locks: OwnLocks

    init(
        session: LinkSession, requests: Requests, events: EventOutlet, subscribed: LinkSubscriptions,
        refreshes: Refreshes, presence: ChannelPresence, topics: TopicRosters, locks: OwnLocks
    ) {
        self.session = session
        self.requests = requests
        self.events = events
        self.subscribed = subscribed
        self.refreshes = refreshes
        self.presence = presence
        self.topics = topics
        self.locks = locks
    }

    var isOnSecondPath: Bool { session.isOnSecondPath }

    // MARK: Calls

    func subscribe(
        to channel: ChannelID, features: SubscriptionFeatures,
        detail: SubscriptionDetail = SubscriptionDetail(), _ completion: Completion<SubscriptionConfirmation>
    ) {
        guard requests.isReady(for: completion) else { return }
        let beginsAnew = subscribed.table.isLeaving(channel)
        do {
            try subscribed.table.subscribe(to: channel, features: features, detail, request: completion.id)
        } catch {
            return completion.fail(error)
        }
        left.remove(channel)
        // What the app sets from here on belongs to the new subscription (P-42).
        if beginsAnew { presence.forget(channel) }
        var wanted = SubscriptionTable.Restoration(
            channel: channel, features: features, after: nil, detail: detail)
        // What is subscribed shows its states, and a call may change them before this one takes effect.
        if !subscribed.table.isActive(channel) { wanted = withStates(wanted) }
        let body = ClientBody.subscribe(Rtm_Client_Subscribe(wanted))
        let request = SubscribeCall(
            subscriptions: self, completion: completion, channel: channel, features: features,
            repetition: body)
        requests.send(request, id: completion.id) { $0.body = body }
    }

    func unsubscribe(from channel: ChannelID, _ completion: Completion<Void>) {
        guard !session.isClosed else { return completion.fail(.released) }
        switch session.state {
        case .idle, .failed:
            completion.fail(session.notLoggedIn)
        case .connecting, .disconnected, .suspended:
            // The channel is not restored (S-16). If the server has restored it already, the server has to
            // end it.
            let isRestored = session.isBeingRestored && subscribed.table.contains(channel)
            leaveUnheard(channel)
            if isRestored { endOnServer(channel) }
            // While the path changes a subscribe waits here to be sent again.
            postponed.remove(of: channel)
            requests.refuse(.unsubscribedMeanwhile) { ($0 as? SubscribeCall)?.channel == channel }
            locks.endWaits(in: channel)
            completion.succeed()
        case .connected:
            guard subscribed.table.contains(channel) else {
                return completion.fail(channel.isNotSubscribed)
            }
            if let id = postponed.remove(of: channel) {
                requests.refuse(id, .unsubscribedMeanwhile)
                guard subscribed.table.contains(channel) else { return completion.succeed() }
            }
            subscribed.table.beginLeaving(channel)
            let request = UnsubscribeRequest(
                subscriptions: self, completion: completion, channel: channel)
            requests.send(request, id: completion.id) { $0.unsubscribe = Rtm_Client_Unsubscribe(channel) }
        }
    }

    // MARK: Sending again

    /// The server could not reach the messaging service, and said when that may be over. Until then the
    /// subscribe waits, and its time runs on.
    func postpone(_ request: SubscribeCall, _ refusal: RTMError) {
        postponed.add(request.completion.id, of: request.channel, refusal)
        session.retry(.subscribes, after: refusal.retryAfter ?? .zero)
    }

    func resendPostponed() {
        for id in postponed.takeAll() { requests.resend(id) }
    }

    // MARK: Answers

    /// The server confirmed the app's subscribe.
    func confirmed(_ request: SubscribeCall, _ answer: Rtm_Client_Subscribed) {
        let channel = request.channel
        let position = StreamPosition(answer.position)
        let gap = subscribed.table.confirm(
            channel, request: request.completion.id, position: position, hasGap: answer.gap)
        request.completion.succeed(
            SubscriptionConfirmation(
                channelName: channel.name, position: position, features: request.features,
                unavailableFeatures: SubscriptionFeatures(rawValue: answer.featuresUnavailable)))
        if let gap { emit(gap, of: channel) }
        guard subscribed.table.isActive(channel) else { return }
        begin(channel, features: request.features, answer, isNew: true)
    }

    /// The server confirmed a subscribe that nobody waits for any more. Its answer may say that something of
    /// the subscription was lost that ran then. It says nothing of one that has begun since.
    ///
    /// The subscription has the features of that subscribe from here on, because the server gives it these. A
    /// next subscribe brings no snapshot of what the server has given already (M-5).
    func confirmedLate(
        _ channel: ChannelID, _ features: SubscriptionFeatures, running: UInt64,
        _ answer: Rtm_Client_Subscribed
    ) {
        guard subscribed.table.running(channel) == running else { return }
        let gap = subscribed.table.confirm(
            channel, request: nil, position: StreamPosition(answer.position), hasGap: answer.gap)
        if let gap { events.emit(.gap(gap)) }
        guard !subscribed.table.isLeaving(channel) else { return }
        subscribed.table.set(features, of: channel)
        begin(channel, features: features, answer, isNew: true)
    }

    private func begin(
        _ channel: ChannelID, features: SubscriptionFeatures, _ answer: Rtm_Client_Subscribed, isNew: Bool
    ) {
        guard channel.type != .topic else { return }
        let unavailable = SubscriptionFeatures(rawValue: answer.featuresUnavailable)
        refreshes.postpone(channel, unavailable)
        presence.follow(
            channel, features: features, unavailable: unavailable, epoch: answer.position.epoch,
            hasSetStates: answer.statesSet, isNew: isNew)
    }

    /// The server may have subscribed although nobody waits for that any more. What the app doesn't know of
    /// must not stay.
    ///
    /// - Returns: the request that began the subscription of this channel that runs on; `nil` if none does.
    func abandon(_ channel: ChannelID, request: UInt64) -> UInt64? {
        if subscribed.table.abandon(channel, request: request) {
            requests.notify { $0.unsubscribe = Rtm_Client_Unsubscribe(channel) }
        }
        return subscribed.table.running(channel)
    }

    /// An unsubscribe is over. Unless the channel was subscribed again meanwhile, nothing of it remains; and
    /// of a stream channel that is joined again, none of the topics that the app was in.
    func left(_ channel: ChannelID) {
        if subscribed.table.finishLeaving(channel) {
            forget(channel)
        } else {
            forgetTopics(of: channel)
        }
    }

    /// An unsubscribe was lost with its connection, and the server may not have received it.
    func leftUnheard(_ channel: ChannelID) {
        if subscribed.table.isLeaving(channel) { leaveUnheard(channel) } else { left(channel) }
    }

    /// The next connection takes the channel up once more and ends it there, so that others see the user
    /// leave (M-6). The topics of a stream channel go with it.
    private func leaveUnheard(_ channel: ChannelID) {
        let before = subscribed.table.channelRestorations
        end(channel)
        let ended = before.filter { !subscribed.table.contains($0.channel) }
        left.add(ended, until: session.now + session.configuration.presenceTime)
    }

    /// The server has what the app has left.
    private func endOnServer(_ channel: ChannelID) {
        requests.call(.unsubscribe, .unsubscribe(Rtm_Client_Unsubscribe(channel))) { [self] result in
            // Without an answer the next connection ends it.
            switch result {
            case .success: left.remove(channel)
            case .failure(let error): if error.isNotSubscribed { left.remove(channel) }
            }
        }
    }

    /// Nothing is restored after this.
    func forgetAll() {
        subscribed.table.removeAll()
        left = LeftSubscriptions()
    }

    /// The subscription has ended.
    func end(_ channel: ChannelID) {
        subscribed.table.remove(channel)
        forget(channel)
    }

    /// Who leaves a stream channel leaves its topics, too (C-4).
    private func forget(_ channel: ChannelID) {
        presence.forget(channel)
        forgetTopics(of: channel)
    }

    private func forgetTopics(of channel: ChannelID) {
        guard channel.type == .stream else { return }
        topics.forget(channel.name)
        for topic in subscribed.table.active where topic.belongs(to: channel.name) { end(topic) }
    }

    private func emit(_ gap: GapEvent, of channel: ChannelID) {
        events.emit(.gap(gap), of: channel)
    }

    // MARK: Restoring

    /// What a return restores. A stream channel comes before its topics.
    var restorations: [SubscriptionTable.Restoration] {
        subscribed.table.channelRestorations.map(withStates)
    }

    /// Others see the user with its states at once (P-46).
    private func withStates(
        _ restoration: SubscriptionTable.Restoration
    ) -> SubscriptionTable.Restoration {
        var restoration = restoration
        restoration.states = presence.statesToBring(to: restoration.channel)
        return restoration
    }

    /// Each channel continues after the last position that this client saw (S-19).
    ///
    /// - Parameter taken: those that the server answers for, because the login carried them. The app may have
    ///   left some of them since.
    func restore(taken: [LoginOffer.Item]) {
        let known = Set(taken.map(\.restoration.channel))
        let others = (subscribed.table.channelRestorations + left.restorations(now: session.now))
            .filter { !known.contains($0.channel) }
        session.beginRestorations(taken.count + others.count)
        for item in taken {
            requests.add(RestoreRequest(subscriptions: self, restoration: item.restoration), id: item.id)
        }
        for restoration in others { send(restoration) }
    }

    private func send(_ restoration: SubscriptionTable.Restoration) {
        requests.send(RestoreRequest(subscriptions: self, restoration: restoration)) {
            $0.subscribe = Rtm_Client_Subscribe(withStates(restoration))
        }
    }

    /// The server had refused the restoration because of its rate, and has said when to send it again.
    func restoreAgain(_ channel: ChannelID) {
        guard let restoration = subscribed.table.restoration(of: channel) ?? left[channel] else {
            return session.restorationEnded()
        }
        send(restoration)
    }

    func restored(_ restoration: SubscriptionTable.Restoration, _ answer: Rtm_Client_Subscribed) {
        let channel = restoration.channel
        defer { session.restorationEnded() }
        guard subscribed.table.contains(channel) else {
            // The app has left the channel since, and the server has to end the subscription (S-16).
            return endOnServer(channel)
        }
        let gap = subscribed.table.confirm(
            channel, request: nil, position: StreamPosition(answer.position), hasGap: answer.gap)
        if let gap {
            emit(gap, of: channel)
            session.connection?.restoration.interrupted(channel: gap.channelName)
        }
        begin(channel, features: restoration.features, answer, isNew: false)
    }

    /// The app asked for the subscription, and must not have to ask again because of a bad moment: then the
    /// next connection tries to restore it (S-19).
    func restorationRefused(_ channel: ChannelID, _ error: RTMError) {
        let isWanted = subscribed.table.contains(channel)
        guard isWanted || left[channel] != nil else { return session.restorationEnded() }
        if error.cameTooOften, let pause = error.retryAfter {
            return session.retry(.restoration(of: channel), after: pause)
        }
        guard isWanted else {
            left.remove(channel)
            return session.restorationEnded()
        }
        guard !error.maySoonPass else {
            return session.end(.connectionError("a subscription could not be restored yet: \(error.reason)"))
        }
        end(channel)
        switch channel.type {
        case .stream:
            events.emit(
                .streamChannelEnded(StreamChannelEndedEvent(channelName: channel.name, error: error)))
        case .topics, .topic: break
        case .message, .user, .none: session.connection?.restoration.failed(channel: channel.name, error.code)
        }
        session.restorationEnded()
    }

    func restorationUnanswered() {
        session.end(.connectionError("the server did not answer while subscriptions were restored"))
    }

    // MARK: Gaps

    /// The server says that what lay before this position is lost. The snapshots that are asked for show what
    /// the lost events led to.
    func skip(_ channel: ChannelID, to position: StreamPosition) {
        guard let event = subscribed.table.skip(channel, to: position) else { return }
        emit(event, of: channel)
        // While other channels are still restored, this one counts among those with a gap.
        session.connection?.restoration.interrupted(channel: event.channelName)
        presence.skip(channel, toEpoch: position.epoch)
        refreshes.request(for: channel)
    }
}

extension RTMError {
    fileprivate static let unsubscribedMeanwhile = RTMError(
        .channelSubscribeFailed, "the channel was unsubscribed before the subscribe was done")

    fileprivate var cameTooOften: Bool {
        code == .operationRateExceedLimitation || code == .channelSubscribeTooFrequent
    }

    /// Nothing is wrong with a subscribe that is refused so; the server just couldn't do it.
    fileprivate var maySoonPass: Bool {
        code == .channelSubscribeTimeout || code == .channelSubscribeFailed && limit == nil
            || code == .channelJoinFailed && limit == nil && retryAfter != nil
    }
}
