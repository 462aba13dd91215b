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
    private let session: LinkSession
    private let requests: Requests
    private let events: EventOutlet
    private let eventLoop: any EventLoop
    private let subscriptions: Subscriptions
    private let rosters: TopicRosters
    private let ownStates: OwnStates
    private let messages: Messages
    private let locks: OwnLocks
    /// The priorities of the topics that this user publishes with another one than the normal one.
    private var priorities: [TopicName: TopicPriority] = [:]
    /// By topic whose subscription is being changed: the changes that wait for the one under way.
    private var changes: [TopicName: Deque<() -> Void>] = [:]
    /// Limit: changes of one topic's subscription that wait.
    private static let changesMax = 64
    private var random = SystemRandomNumberGenerator()

    init(
        session: LinkSession, requests: Requests, events: EventOutlet, eventLoop: any EventLoop,
        subscriptions: Subscriptions, rosters: TopicRosters, ownStates: OwnStates, messages: Messages,
        locks: OwnLocks
    ) {
        self.session = session
        self.requests = requests
        self.events = events
        self.eventLoop = eventLoop
        self.subscriptions = subscriptions
        self.rosters = rosters
        self.ownStates = ownStates
        self.messages = messages
        self.locks = locks
    }

    private var table: SubscriptionTable { subscriptions.subscribed.table }

    /// Whether the app has joined the stream channel. If it hasn't, this fails the call.
    private func isJoined<Value>(_ channel: String, for completion: Completion<Value>) -> Bool {
        guard requests.isReady(for: completion) else { return false }
        let stream = ChannelID.stream(channel)
        guard table.isActive(stream) else {
            completion.fail(stream.isNotSubscribed)
            return false
        }
        return true
    }

    // MARK: Joining

    func join(
        _ channel: String, token: String, features: SubscriptionFeatures,
        _ completion: Completion<SubscriptionConfirmation>
    ) {
        guard requests.isReady(for: completion) else { return }
        let stream = ChannelID.stream(channel)
        guard !table.isActive(stream) || table.isLeaving(stream) else {
            return completion.fail(.duplicateOperation, "stream channel '\(channel)' is joined already")
        }
        cancelJoin(of: stream)
        subscriptions.subscribe(
            to: stream, features: features, detail: SubscriptionDetail(token: token), completion)
    }

    /// Subscribes to who publishes the topics of a stream channel.
    func followTopics(of channel: String, _ completion: Completion<SubscriptionConfirmation>) {
        rosters.begin(channel)
        subscriptions.subscribe(
            to: .topics(of: channel), features: [.presence, .quiet], completion)
    }

    func leave(_ channel: String, _ completion: Completion<Void>) {
        let stream = ChannelID.stream(channel)
        guard !cancelJoin(of: stream) else { return completion.succeed() }
        subscriptions.unsubscribe(from: stream, completion)
    }

    /// A newer join, or a leave, replaces a join that has no answer yet (C-2). An unsubscribe makes the
    /// server give up the earlier one, too.
    ///
    /// - Returns: whether there was such a join.
    @discardableResult
    private func cancelJoin(of stream: ChannelID) -> Bool {
        guard !table.isActive(stream), let earlier = table.pending(stream) else { return false }
        requests.notify { $0.unsubscribe = Rtm_Client_Unsubscribe(stream) }
        requests.refuse(
            earlier,
            RTMError(
                .channelJoinCanceled, "a newer join or a leave of the stream channel has replaced this join"))
        return true
    }

    /// Replaces the token of a stream channel (S-52).
    func renewToken(_ token: String, of channel: String, _ completion: Completion<Void>) {
        guard isJoined(channel, for: completion) else { return }
        let request = Rtm_Client_RenewToken.with { ($0.token, $0.channel) = (token, channel) }
        requests.call(completion, .renewToken(request)) { [self] body in
            guard case .tokenRenewed = body else { return nil }
            subscriptions.subscribed.table.set(SubscriptionDetail(token: token), of: .stream(channel))
            return ()
        }
    }

    /// The server has ended a membership, with all that belongs to it.
    func received(_ notice: Rtm_Client_ChannelEnded) {
        let stream = ChannelID(notice.channelType, notice.channel)
        guard stream.type == .stream, table.contains(stream) else { return }
        subscriptions.end(stream)
        locks.endWaits(in: stream)
        let error = RTMError(notice.error, unknownCode: .channelJoinFailed)
        events.emit(
            .streamChannelEnded(StreamChannelEndedEvent(channelName: stream.name, error: error)))
    }
}

// MARK: - Publishing

extension Streams {
    func joinTopic(
        _ topic: TopicName, meta: String, priority: TopicPriority, _ completion: Completion<Void>
    ) {
        guard isJoined(topic.channel, for: completion) else { return }
        let topics = ChannelID.topics(of: topic.channel)
        guard !isPublished(topic) else {
            return completion.fail(.duplicateOperation, "topic '\(topic.topic)' is joined already")
        }
        becomePublisher(in: topic.channel) { [self] error in
            if let error { return completion.fail(error) }
            set(priority, of: topic)
            ownStates.set([topic.topic: meta], in: topics, completion)
        }
    }

    private func set(_ priority: TopicPriority, of topic: TopicName) {
        priorities = priorities.filter { isPublished($0.key) }
        priorities[topic] = priority == .normal ? nil : priority
    }

    func leaveTopic(_ topic: TopicName, _ completion: Completion<Void>) {
        guard isJoined(topic.channel, for: completion), isPublished(topic, for: completion) else { return }
        ownStates.remove([topic.topic], in: .topics(of: topic.channel), completion)
    }

    func publish(_ message: OutgoingMessage, to topic: TopicName, _ completion: Completion<PublishReceipt>) {
        guard isJoined(topic.channel, for: completion), isPublished(topic, for: completion) else { return }
        var message = message
        message.priority = priorities[topic] ?? .normal
        messages.publish(message, completion)
    }

    private func isPublished<Value>(_ topic: TopicName, for completion: Completion<Value>) -> Bool {
        guard !isPublished(topic) else { return true }
        completion.fail(.channelTopicNotJoined, "topic '\(topic.topic)' is not joined")
        return false
    }

    private func isPublished(_ topic: TopicName) -> Bool {
        ownStates.states(in: .topics(of: topic.channel))[topic.topic] != nil
    }

    /// The first topic makes the user a member of the roster of topics, which it only followed before.
    private func becomePublisher(in channel: String, _ done: @escaping (RTMError?) -> Void) {
        let topics = ChannelID.topics(of: channel)
        guard table.features(of: topics).contains(.quiet) || !table.isActive(topics) else { return done(nil) }
        guard rosters.waitUntilPublisher(in: channel, done) else { return }
        let streams = NIOLoopBound(self, eventLoop: eventLoop)
        let completion = Completion<SubscriptionConfirmation>(
            id: requests.nextID(), operation: .joinTopic
        ) { result in
            let error: RTMError? = if case .failure(let error) = result { error } else { nil }
            streams.value.rosters.becamePublisher(in: channel, error)
            if error == nil { streams.value.endEarlierTopics(in: channel) }
        }
        subscriptions.subscribe(to: topics, features: .presence, completion)
    }

    /// Others may see topics that this user published before a logout of which the server has no knowledge.
    /// As long as the user only followed the roster, the server allowed no change.
    private func endEarlierTopics(in channel: String) {
        guard rosters[channel]?.shows(session.userID) == true else { return }
        ownStates.settleAgain(in: .topics(of: channel))
    }
}

// MARK: - Subscribing

extension Streams {
    /// Subscribes to users of a topic, in addition to those who are subscribed already. Named users stay
    /// chosen also if they don't publish the topic yet (C-9).
    ///
    /// - Parameter users: none stands for up to 64 publishers, chosen at random.
    func subscribe(to topic: TopicName, users: [String], _ completion: Completion<TopicAnswer>) {
        serialize(topic, completion) { [self] in choose(users, of: topic, $0) }
    }

    /// Changes the subscription of a topic when the changes before this one are over. Each adds to what was
    /// chosen before or takes away from it, and apps ask for one user after the other without waiting.
    private func serialize<Answer>(
        _ topic: TopicName, _ completion: Completion<Answer>,
        _ change: @escaping (Completion<Answer>) -> Void
    ) {
        let streams = NIOLoopBound(self, eventLoop: eventLoop)
        let serialized = Completion<Answer>(id: completion.id, operation: completion.operation) { result in
            switch result {
            case .success(let answer): completion.succeed(answer)
            case .failure(let error): completion.fail(error)
            }
            streams.value.changed(topic)
        }
        guard let waiting = changes[topic]?.count else {
            changes[topic] = []
            return change(serialized)
        }
        guard waiting < Self.changesMax else {
            return completion.fail(
                RTMError(
                    .operationRateExceedLimitation,
                    "\(waiting) calls about topic '\(topic.topic)' wait for the one before them already",
                    limit: .init(name: "waiting calls about a topic", value: UInt64(Self.changesMax))))
        }
        changes[topic]?.append { change(serialized) }
    }

    private func changed(_ topic: TopicName) {
        if let next = changes[topic]?.popFirst() { next() } else { changes[topic] = nil }
    }

    private func choose(_ users: [String], of topic: TopicName, _ completion: Completion<TopicAnswer>) {
        guard isJoined(topic.channel, for: completion) else { return }
        let present = rosters[topic.channel]?.publishers(of: topic.topic) ?? []
        // A user who joined a moment ago may not have been announced here yet, so the server is asked.
        guard present.isEmpty || !present.isSuperset(of: users) else {
            return subscribe(to: topic, users, among: present, completion)
        }
        let membership = rosters[topic.channel]?.membership
        requestPublishers(of: topic.channel, after: "", []) { [self] result in
            // The app may have left the stream channel since, and even have joined it again.
            guard isJoined(topic.channel, for: completion) else { return }
            guard rosters[topic.channel]?.membership == membership else {
                return completion.fail(ChannelID(type: .stream, name: topic.channel).isNotSubscribed)
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
        _ completion: Completion<TopicAnswer>
    ) {
        let id = ChannelID.topic(topic)
        let choice: TopicChoice
        do {
            choice = try TopicChoice(
                of: users, among: present, subscribed: table.detail(of: id).publishers, using: &random)
        } catch {
            return completion.fail(error)
        }
        let answer = TopicAnswer(
            topic: topic.topic, deliveredUsers: choice.succeeded, undeliveredUsers: choice.failed,
            exists: !present.isEmpty)
        guard !choice.publishers.isEmpty, choice.publishers != table.detail(of: id).publishers else {
            return completion.succeed(answer)
        }
        deliver(choice.publishers, of: topic, completion) { answer }
    }

    /// Delivers the messages of these publishers, and of nobody else.
    private func deliver<Answer>(
        _ publishers: [String], of topic: TopicName, _ completion: Completion<Answer>,
        _ answer: @escaping @Sendable () -> Answer
    ) {
        let subscribed = Completion<SubscriptionConfirmation>(
            id: completion.id, operation: completion.operation
        ) {
            switch $0 {
            case .success: completion.succeed(answer())
            case .failure(let error): completion.fail(error)
            }
        }
        subscriptions.subscribe(
            to: .topic(topic), features: .message,
            detail: SubscriptionDetail(publishers: publishers), subscribed)
    }

    /// - Parameter users: none stands for all of the topic.
    func unsubscribe(from topic: TopicName, users: [String], _ completion: Completion<Void>) {
        serialize(topic, completion) { [self] in drop(users, of: topic, $0) }
    }

    private func drop(_ users: [String], of topic: TopicName, _ completion: Completion<Void>) {
        let id = ChannelID.topic(topic)
        let subscribed = table.detail(of: id).publishers
        let remaining = users.isEmpty ? [] : subscribed.filter { !users.contains($0) }
        guard !remaining.isEmpty, table.isActive(id) else {
            return subscriptions.unsubscribe(from: id, completion)
        }
        guard isJoined(topic.channel, for: completion) else { return }
        guard remaining.count < subscribed.count else { return completion.succeed() }
        deliver(remaining, of: topic, completion) {}
    }

    func subscribedUsers(of topic: TopicName, _ completion: Completion<[String]>) {
        guard isJoined(topic.channel, for: completion) else { return }
        let id = ChannelID.topic(topic)
        guard table.isActive(id) else { return completion.fail(id.isNotSubscribed) }
        completion.succeed(table.detail(of: id).publishers)
    }

    /// All publishers of the channel with their topics, page by page.
    private func requestPublishers(
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
        requests.call(.subscribeTopic, .whoNow(request)) { [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(.onlineUsers(let answer)):
                let found = found + answer.users.map(UserState.init)
                guard !answer.nextPage.isEmpty else { return done(.success(found)) }
                requestPublishers(of: channel, after: answer.nextPage, found, done)
            case .success:
                done(
                    .failure(RTMError(.channelSubscribeFailed, "the server's answer doesn't fit the request"))
                )
            }
        }
    }
}
