// Stream channels and their topics. A stream channel, the roster of its topics, and each topic are
// subscriptions as message channels are, and the topics that this user publishes are states that it shows in
// the roster of topics (docs/decisions/0017). So what is said of subscriptions and of own states holds for
// them: they are restored at a return, and continue after the last position.

import DequeModule
import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf

final class Streams {
    private unowned let link: Link
    /// By the names of the stream channels.
    private var rosters: [String: TopicRoster] = [:]
    /// How often the app has joined a stream channel.
    private var stays: UInt64 = 0
    /// By stream channel: the calls that wait until this user is a publisher there.
    private var becoming: [String: [(RTMError?) -> Void]] = [:]
    /// Of topics that this user publishes, as far as they aren't normal ones.
    private var priorities: [TopicName: TopicPriority] = [:]
    /// By topic whose subscription is being changed: the changes that wait for the one under way.
    private var changes: [TopicName: Deque<() -> Void>] = [:]
    /// Limit: changes of one topic's subscription that wait.
    private static let changesMax = 64
    private var random = SystemRandomNumberGenerator()

    init(_ link: Link) { self.link = link }

    private var table: SubscriptionTable { link.subscriptions.table }

    private func topics(of channel: String) -> UserChannel { UserChannel(type: .topics, name: channel) }

    /// Whether the app has joined the stream channel. If it hasn't, this fails the call.
    private func isJoined<Value>(_ channel: String, for completion: Completion<Value>) -> Bool {
        guard link.requests.isReady(for: completion) else { return false }
        let stream = UserChannel(type: .stream, name: channel)
        guard table.isActive(stream.label) else {
            completion.fail(stream.isNotSubscribed)
            return false
        }
        return true
    }

    // MARK: Joining

    func join(
        _ channel: String, token: String, features: SubscriptionFeatures,
        _ completion: Completion<RTMSubscription>
    ) {
        guard link.requests.isReady(for: completion) else { return }
        let stream = UserChannel(type: .stream, name: channel)
        guard !table.isActive(stream.label) || table.isLeaving(stream.label) else {
            return completion.fail(.duplicateOperation, "stream channel '\(channel)' is joined already")
        }
        cancelJoin(of: stream.label)
        link.subscriptions.subscribe(
            to: stream.label, features: features, detail: SubscriptionDetail(token: token), completion)
    }

    /// Listens to who publishes the topics of a stream channel.
    func followTopics(of channel: String, _ completion: Completion<RTMSubscription>) {
        stays += 1
        rosters[channel] = TopicRoster(stay: stays)
        link.subscriptions.subscribe(
            to: topics(of: channel).label, features: [.presence, .quiet], completion)
    }

    func leave(_ channel: String, _ completion: Completion<Void>) {
        let label = UserChannel(type: .stream, name: channel).label
        guard !cancelJoin(of: label) else { return completion.succeed() }
        link.subscriptions.unsubscribe(from: label, completion)
    }

    /// A newer join, or a leave, takes the place of a join that has no answer yet (C-2). The server hears of
    /// it, so that it gives up the earlier one, too.
    ///
    /// - Returns: whether there was such a join.
    @discardableResult
    private func cancelJoin(of label: String) -> Bool {
        guard !table.isActive(label), let earlier = table.pending(label) else { return false }
        link.requests.tell { $0.unsubscribe = Rtm_Client_Unsubscribe(label) }
        link.requests.refuse(
            earlier,
            RTMError(
                .channelJoinCanceled, "a newer join or a leave of the stream channel has replaced this join"))
        return true
    }

    /// Replaces the token of a stream channel (S-52).
    func renewToken(_ token: String, of channel: String, _ completion: Completion<Void>) {
        guard isJoined(channel, for: completion) else { return }
        let label = UserChannel(type: .stream, name: channel).label
        let request = Rtm_Client_RenewToken.with { ($0.token, $0.channel) = (token, channel) }
        link.requests.call(completion, .renewToken(request)) { [self] body in
            guard case .tokenRenewed = body else { return nil }
            link.subscriptions.table.set(SubscriptionDetail(token: token), of: label)
            return ()
        }
    }

    /// The server has ended a membership, with all that belongs to it.
    func received(_ notice: Rtm_Client_ChannelEnded) {
        let stream = UserChannel(notice.channelType, notice.channel)
        guard stream.type == .stream, table.contains(stream.label) else { return }
        link.subscriptions.end(stream.label)
        link.locks.endWaits(in: stream)
        let error = RTMError(notice.error, unknownCode: .channelJoinFailed)
        link.events.emit(
            .streamChannelEnded(StreamChannelEndedEvent(channelName: stream.name, error: error)))
    }

    /// What presence says of the publishers of topics.
    func received(_ event: PresenceEvent) {
        let changes = rosters[event.channelName, default: TopicRoster()].apply(event.change)
        for change in changes {
            let topic = TopicEvent(
                channelName: event.channelName, change: change,
                timestampMilliseconds: event.timestampMilliseconds)
            link.events.emit(.topic(topic))
        }
    }

    /// The app is in the stream channel no more.
    func forget(_ channel: String) {
        rosters[channel] = nil
        became(channel, UserChannel(type: .stream, name: channel).isNotSubscribed)
    }

    func forgetAll() {
        rosters = [:]
        for channel in becoming.keys.sorted() {
            became(channel, RTMError(.notLogin, "the session has ended"))
        }
    }
}

// MARK: - Publishing

extension Streams {
    func joinTopic(
        _ topic: TopicName, meta: String, priority: TopicPriority, _ completion: Completion<Void>
    ) {
        guard isJoined(topic.channel, for: completion) else { return }
        let place = topics(of: topic.channel)
        guard !isPublished(topic) else {
            return completion.fail(.duplicateOperation, "topic '\(topic.topic)' is joined already")
        }
        becomePublisher(in: topic.channel) { [self] error in
            if let error { return completion.fail(error) }
            set(priority, of: topic)
            link.ownStates.set([topic.topic: meta], in: place, completion)
        }
    }

    private func set(_ priority: TopicPriority, of topic: TopicName) {
        priorities = priorities.filter { isPublished($0.key) }
        priorities[topic] = priority == .normal ? nil : priority
    }

    func leaveTopic(_ topic: TopicName, _ completion: Completion<Void>) {
        guard isJoined(topic.channel, for: completion), isPublished(topic, for: completion) else { return }
        link.ownStates.remove([topic.topic], in: topics(of: topic.channel), completion)
    }

    func publish(_ message: OutgoingMessage, to topic: TopicName, _ completion: Completion<PublishReceipt>) {
        guard isJoined(topic.channel, for: completion), isPublished(topic, for: completion) else { return }
        var message = message
        message.priority = priorities[topic] ?? .normal
        link.messages.publish(message, completion)
    }

    private func isPublished<Value>(_ topic: TopicName, for completion: Completion<Value>) -> Bool {
        guard !isPublished(topic) else { return true }
        completion.fail(.channelTopicNotJoined, "topic '\(topic.topic)' is not joined")
        return false
    }

    private func isPublished(_ topic: TopicName) -> Bool {
        link.ownStates.states(in: topics(of: topic.channel))[topic.topic] != nil
    }

    /// The first topic makes the user a member of the roster of topics, which it only listened to before.
    private func becomePublisher(in channel: String, _ done: @escaping (RTMError?) -> Void) {
        let label = topics(of: channel).label
        guard table.features(of: label).contains(.quiet) || !table.isActive(label) else { return done(nil) }
        becoming[channel, default: []].append(done)
        guard becoming[channel]?.count == 1 else { return }
        let streams = NIOLoopBound(self, eventLoop: link.eventLoop)
        let completion = Completion<RTMSubscription>(
            id: link.requests.nextID(), operation: .joinTopic
        ) { result in
            let error: RTMError? = if case .failure(let error) = result { error } else { nil }
            streams.value.became(channel, error)
            if error == nil { streams.value.endEarlierTopics(in: channel) }
        }
        link.subscriptions.subscribe(to: label, features: .presence, completion)
    }

    /// Others may see topics that this user published before a logout that nobody could be told of. As long
    /// as it only listened, the server let it change nothing.
    private func endEarlierTopics(in channel: String) {
        guard rosters[channel]?.shows(link.configuration.userID) == true else { return }
        link.ownStates.settleAgain(in: topics(of: channel))
    }

    private func became(_ channel: String, _ error: RTMError?) {
        for done in becoming.removeValue(forKey: channel) ?? [] { done(error) }
    }
}

// MARK: - Subscribing

extension Streams {
    /// Subscribes to users of a topic, in addition to those who are subscribed already. Named users stay
    /// chosen also if they don't publish the topic yet (C-9).
    ///
    /// - Parameter users: none stands for up to 64 publishers, chosen at random.
    func subscribe(to topic: TopicName, users: [String], _ completion: Completion<TopicSubscription>) {
        inTurn(topic, completion) { [self] in choose(users, of: topic, $0) }
    }

    /// Changes the subscription of a topic when the changes before this one are over. Each adds to what was
    /// chosen before or takes away from it, and apps ask for one user after the other without waiting.
    private func inTurn<Answer>(
        _ topic: TopicName, _ completion: Completion<Answer>,
        _ change: @escaping (Completion<Answer>) -> Void
    ) {
        let streams = NIOLoopBound(self, eventLoop: link.eventLoop)
        let inTurn = Completion<Answer>(id: completion.id, operation: completion.operation) { result in
            switch result {
            case .success(let answer): completion.succeed(answer)
            case .failure(let error): completion.fail(error)
            }
            streams.value.changed(topic)
        }
        guard let waiting = changes[topic]?.count else {
            changes[topic] = []
            return change(inTurn)
        }
        guard waiting < Self.changesMax else {
            return completion.fail(
                RTMError(
                    .operationRateExceedLimitation,
                    "\(waiting) calls about topic '\(topic.topic)' wait for the one before them already",
                    limit: .init(name: "waiting calls about a topic", value: UInt64(Self.changesMax))))
        }
        changes[topic]?.append { change(inTurn) }
    }

    private func changed(_ topic: TopicName) {
        if let next = changes[topic]?.popFirst() { next() } else { changes[topic] = nil }
    }

    private func choose(_ users: [String], of topic: TopicName, _ completion: Completion<TopicSubscription>) {
        guard isJoined(topic.channel, for: completion) else { return }
        let present = rosters[topic.channel]?.publishers(of: topic.topic) ?? []
        // Somebody who joined a moment ago may not have been announced here yet. Then the server knows.
        guard present.isEmpty || !present.isSuperset(of: users) else {
            return subscribe(to: topic, users, among: present, completion)
        }
        let stay = rosters[topic.channel]?.stay
        askForPublishers(of: topic.channel, after: "", []) { [self] result in
            // The app may have left the stream channel since, and even have joined it again.
            guard isJoined(topic.channel, for: completion) else { return }
            guard rosters[topic.channel]?.stay == stay else {
                return completion.fail(UserChannel(type: .stream, name: topic.channel).isNotSubscribed)
            }
            switch result {
            case .failure(let error): completion.fail(error)
            case .success(let listed):
                var roster = TopicRoster()
                roster.replace(listed)
                let present = roster.publishers(of: topic.topic)
                guard !present.isEmpty || !users.isEmpty else {
                    return completion.fail(.channelTopicNotExist, "there is no topic '\(topic.topic)'")
                }
                subscribe(to: topic, users, among: present, completion)
            }
        }
    }

    private func subscribe(
        to topic: TopicName, _ users: [String], among present: Set<String>,
        _ completion: Completion<TopicSubscription>
    ) {
        let label = UserChannel(type: .topic, name: topic.text).label
        let choice: TopicChoice
        do {
            choice = try TopicChoice(
                of: users, among: present, subscribed: table.detail(of: label).publishers, using: &random)
        } catch {
            return completion.fail(error)
        }
        let answer = TopicSubscription(
            topic: topic.topic, succeededUsers: choice.succeeded, failedUsers: choice.failed,
            exists: !present.isEmpty)
        guard !choice.publishers.isEmpty, choice.publishers != table.detail(of: label).publishers else {
            return completion.succeed(answer)
        }
        deliver(choice.publishers, of: topic, completion) { answer }
    }

    /// Delivers the messages of these publishers, and of nobody else.
    private func deliver<Answer>(
        _ publishers: [String], of topic: TopicName, _ completion: Completion<Answer>,
        _ answer: @escaping @Sendable () -> Answer
    ) {
        let subscribed = Completion<RTMSubscription>(id: completion.id, operation: completion.operation) {
            switch $0 {
            case .success: completion.succeed(answer())
            case .failure(let error): completion.fail(error)
            }
        }
        link.subscriptions.subscribe(
            to: UserChannel(type: .topic, name: topic.text).label, features: .message,
            detail: SubscriptionDetail(publishers: publishers), subscribed)
    }

    /// - Parameter users: none stands for all of the topic.
    func unsubscribe(from topic: TopicName, users: [String], _ completion: Completion<Void>) {
        inTurn(topic, completion) { [self] in drop(users, of: topic, $0) }
    }

    private func drop(_ users: [String], of topic: TopicName, _ completion: Completion<Void>) {
        let label = UserChannel(type: .topic, name: topic.text).label
        let subscribed = table.detail(of: label).publishers
        let remaining = users.isEmpty ? [] : subscribed.filter { !users.contains($0) }
        guard !remaining.isEmpty, table.isActive(label) else {
            return link.subscriptions.unsubscribe(from: label, completion)
        }
        guard isJoined(topic.channel, for: completion) else { return }
        guard remaining.count < subscribed.count else { return completion.succeed() }
        deliver(remaining, of: topic, completion) {}
    }

    func subscribedUsers(of topic: TopicName, _ completion: Completion<[String]>) {
        guard isJoined(topic.channel, for: completion) else { return }
        let place = UserChannel(type: .topic, name: topic.text)
        guard table.isActive(place.label) else { return completion.fail(place.isNotSubscribed) }
        completion.succeed(table.detail(of: place.label).publishers)
    }

    /// All publishers of the channel with their topics, page by page.
    private func askForPublishers(
        of channel: String, after page: String, _ found: [UserState],
        _ done: @escaping (Result<[UserState], RTMError>) -> Void
    ) {
        let request = Rtm_Client_WhoNow.with {
            $0.channelType = .topics
            $0.channel = channel
            $0.includeUserID = true
            $0.includeState = true
            $0.page = page
        }
        link.requests.call(.subscribeTopic, .whoNow(request)) { [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(.onlineUsers(let answer)):
                let found = found + answer.users.map(UserState.init)
                guard !answer.nextPage.isEmpty else { return done(.success(found)) }
                askForPublishers(of: channel, after: answer.nextPage, found, done)
            case .success:
                done(
                    .failure(RTMError(.channelSubscribeFailed, "the server's answer doesn't fit the request"))
                )
            }
        }
    }
}
