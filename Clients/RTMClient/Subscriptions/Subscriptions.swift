// The subscribed channels. What is subscribed, and how far each channel has been seen, `SubscriptionTable`
// knows; this decides what becomes of the answers.

import RTMModel
import RTMProtocol

final class Subscriptions {
    private unowned let link: Link
    var table = SubscriptionTable()
    var putOff = RefusedSubscribes()

    init(_ link: Link) { self.link = link }

    var isOnSecondPath: Bool { link.connection?.isSecondPath == true }

    // MARK: Calls

    /// - Parameter channel: here and below, the label of the channel.
    func subscribe(
        to channel: String, features: SubscriptionFeatures,
        detail: SubscriptionDetail = SubscriptionDetail(), _ completion: Completion<RTMSubscription>
    ) {
        guard link.requests.isReady(for: completion) else { return }
        let beginsAnew = table.isLeaving(channel)
        do {
            try table.subscribe(to: channel, features: features, detail, request: completion.id)
        } catch {
            return completion.fail(error)
        }
        // What the app sets from here on belongs to the new subscription (P-42).
        if beginsAnew { forgetPresence(of: channel) }
        let body = ClientBody.subscribe(
            Rtm_Client_Subscribe(.init(channel: channel, features: features, after: nil, detail: detail)))
        let request = SubscribeRequest(
            subscriptions: self, completion: completion, channel: channel, features: features,
            repetition: body)
        link.requests.ask(request, id: completion.id) { $0.body = body }
    }

    func unsubscribe(from channel: String, _ completion: Completion<Void>) {
        guard !link.isClosed else { return completion.fail(.released) }
        switch link.state {
        case .idle, .failed:
            completion.fail(link.notLoggedIn)
        case .connecting, .disconnected, .suspended:
            // The channel is not restored (S-16). A server that has it restored already is told to end it.
            if link.isBeingRestored, table.contains(channel) {
                link.requests.tell { $0.unsubscribe = Rtm_Client_Unsubscribe(channel) }
            }
            end(channel)
            // While the path changes a subscribe waits here to be sent again.
            putOff.remove(of: channel)
            link.requests.refuse(.unsubscribedMeanwhile) { ($0 as? SubscribeRequest)?.channel == channel }
            link.locks.endWaits(in: UserChannel(label: channel))
            completion.succeed()
        case .connected:
            guard table.contains(channel) else {
                return completion.fail(UserChannel(label: channel).isNotSubscribed)
            }
            if let id = putOff.remove(of: channel) {
                link.requests.refuse(id, .unsubscribedMeanwhile)
                guard table.contains(channel) else { return completion.succeed() }
            }
            table.beginLeaving(channel)
            let request = UnsubscribeRequest(
                subscriptions: self, completion: completion, channel: channel)
            link.requests.ask(request, id: completion.id) { $0.unsubscribe = Rtm_Client_Unsubscribe(channel) }
        }
    }

    // MARK: Asking again

    /// The server could not reach the messaging service, and said when that may be over. Until then the
    /// subscribe waits, and its time runs on.
    func putOff(_ request: SubscribeRequest, _ refusal: RTMError) {
        putOff.add(request.completion.id, of: request.channel, refusal)
        link.retry(.subscribes, after: refusal.retryAfter ?? .zero)
    }

    func askAgain() {
        for id in putOff.takeAll() { link.requests.askAgain(id) }
    }

    // MARK: Answers

    /// The server confirmed the app's subscribe.
    func confirmed(_ request: SubscribeRequest, _ answer: Rtm_Client_Subscribed) {
        let channel = request.channel
        let position = StreamPosition(answer.position)
        let gap = table.confirm(
            channel, request: request.completion.id, position: position, hasGap: answer.gap)
        request.completion.succeed(
            RTMSubscription(
                channelName: UserChannel(label: channel).name, position: position, features: request.features,
                unavailableFeatures: SubscriptionFeatures(rawValue: answer.featuresUnavailable)))
        if let gap { emit(gap, of: channel) }
        guard table.isActive(channel) else { return }
        begin(channel, features: request.features, answer, isNew: true)
    }

    /// The server confirmed a subscribe that nobody waits for any more. Its answer may say that something of
    /// the subscription was lost that ran then. It says nothing of one that has begun since.
    ///
    /// The subscription has the features of that subscribe from here on, because the server gives it these. A
    /// next subscribe brings no snapshot of what the server has given already (M-5).
    func confirmedLate(
        _ channel: String, _ features: SubscriptionFeatures, running: UInt64, _ answer: Rtm_Client_Subscribed
    ) {
        guard table.running(channel) == running else { return }
        let gap = table.confirm(
            channel, request: nil, position: StreamPosition(answer.position), hasGap: answer.gap)
        if let gap { link.events.emit(.gap(gap)) }
        guard !table.isLeaving(channel) else { return }
        table.set(features, of: channel)
        begin(channel, features: features, answer, isNew: true)
    }

    private func begin(
        _ channel: String, features: SubscriptionFeatures, _ answer: Rtm_Client_Subscribed, isNew: Bool
    ) {
        guard UserChannel(label: channel).type != .topic else { return }
        let unavailable = SubscriptionFeatures(rawValue: answer.featuresUnavailable)
        link.refreshes.putOff(channel, unavailable)
        link.rosters.follow(
            channel, features: features, unavailable: unavailable, epoch: answer.position.epoch,
            isNew: isNew)
    }

    /// The server may have subscribed although nobody waits for that any more. What the app doesn't know of
    /// must not stay.
    ///
    /// - Returns: the request that began the subscription of this channel that runs on; `nil` if none does.
    func abandon(_ channel: String, request: UInt64) -> UInt64? {
        if table.abandon(channel, request: request) {
            link.requests.tell { $0.unsubscribe = Rtm_Client_Unsubscribe(channel) }
        }
        return table.running(channel)
    }

    /// An unsubscribe is over. Unless the channel was subscribed again meanwhile, nothing of it remains; and
    /// of a stream channel that is joined again, none of the topics that the app was in.
    func left(_ channel: String) {
        if table.finishLeaving(channel) {
            forget(channel)
        } else {
            forgetTopics(of: UserChannel(label: channel))
        }
    }

    /// The subscription has ended.
    func end(_ channel: String) {
        table.remove(channel)
        forget(channel)
    }

    /// Who leaves a stream channel leaves its topics, too (C-4).
    private func forget(_ channel: String) {
        forgetPresence(of: channel)
        forgetTopics(of: UserChannel(label: channel))
    }

    private func forgetTopics(of place: UserChannel) {
        guard place.type == .stream else { return }
        link.streams.forget(place.name)
        for topic in table.active where topic.belongs(to: place.name) { end(topic.label) }
    }

    private func emit(_ gap: GapEvent, of channel: String) {
        link.events.emit(.gap(gap), of: channel, UserChannel(label: channel).type)
    }

    private func forgetPresence(of channel: String) {
        link.rosters.forget(channel)
        link.ownStates.forget(channel)
    }

    func forgetAll() { table.removeAll() }

    // MARK: Restoring

    /// Each channel continues after the last position that this client saw (S-19).
    ///
    /// - Parameter taken: those that the server answers for, because the login carried them. The app may have
    ///   left some of them since.
    func restore(taken: [LoginOffer.Item]) {
        let known = Set(taken.map(\.restoration.channel))
        let others = table.restorations.filter { !known.contains($0.channel) }
        link.connection?.restoration.begin(taken.count + others.count)
        for item in taken {
            link.requests.add(RestoreRequest(subscriptions: self, restoration: item.restoration), id: item.id)
        }
        for restoration in others { ask(restoration) }
    }

    private func ask(_ restoration: SubscriptionTable.Restoration) {
        link.requests.ask(RestoreRequest(subscriptions: self, restoration: restoration)) {
            $0.subscribe = Rtm_Client_Subscribe(restoration)
        }
    }

    /// The server takes subscribes more slowly than they were asked for, and has said when to go on.
    func restoreAgain(_ channel: String) {
        guard let restoration = table.restoration(of: channel) else { return link.opening.restorationEnded() }
        ask(restoration)
    }

    func restored(_ restoration: SubscriptionTable.Restoration, _ answer: Rtm_Client_Subscribed) {
        let channel = restoration.channel
        defer { link.opening.restorationEnded() }
        guard table.contains(channel) else {
            // The app has left the channel since, and the server has to hear of that (S-16).
            link.requests.tell { $0.unsubscribe = Rtm_Client_Unsubscribe(channel) }
            return
        }
        let gap = table.confirm(
            channel, request: nil, position: StreamPosition(answer.position), hasGap: answer.gap)
        if let gap {
            emit(gap, of: channel)
            link.connection?.restoration.interrupted(channel: gap.channelName)
        }
        begin(channel, features: restoration.features, answer, isNew: false)
    }

    /// The app asked for the subscription, and must not have to ask again because of a bad moment: then the
    /// next connection tries to restore it (S-19).
    func restorationRefused(_ channel: String, _ error: RTMError) {
        guard table.contains(channel) else { return link.opening.restorationEnded() }
        if error.cameTooOften, let pause = error.retryAfter {
            return link.retry(.restoration(of: channel), after: pause)
        }
        guard !error.maySoonPass else {
            return link.end(.connectionError("a subscription could not be restored yet: \(error.reason)"))
        }
        end(channel)
        let place = UserChannel(label: channel)
        switch place.type {
        case .stream:
            link.events.emit(
                .streamChannelEnded(StreamChannelEndedEvent(channelName: place.name, error: error)))
        case .topics, .topic: break
        case .message, .user, .none: link.connection?.restoration.failed(channel: place.name, error.code)
        }
        link.opening.restorationEnded()
    }

    func restorationUnanswered() {
        link.end(.connectionError("the server did not answer while subscriptions were restored"))
    }

    // MARK: Gaps

    /// The server says that what lay before this position is lost. The snapshots that are asked for show what
    /// the lost events led to.
    func skip(_ channel: String, to position: StreamPosition) {
        guard let event = table.skip(channel, to: position) else { return }
        emit(event, of: channel)
        link.rosters.skip(channel, toEpoch: position.epoch)
        link.refreshes.ask(for: channel)
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
