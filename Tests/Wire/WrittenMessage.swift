import NIOCore
import RTMModel
import Testing

@testable import RTMWire

/// A message that Wire writes, with a value that is not the default in each of its fields.
struct WrittenMessage: Sendable, CustomTestStringConvertible {
    /// The message's name in the schema, without its package.
    let name: String
    let bytes: [UInt8]

    init<Message: WireMessage>(_ message: Message) {
        name = "\(Message.Fields.self)"
        bytes = message.encoded
    }

    var testDescription: String { name }

    static let all = "x".withWireText { x in
        client(x) + answers(x) + link() + messaging(x) + presence(x) + storage(x)
    }

    private static let key = ChannelKey(appID: "a", type: .stream, name: "c")
    private static let caller = Caller(
        appID: "a", userID: "u", session: SessionID(rawValue: 1), instance: 2)
    private static let position = StreamPosition(epoch: 1, offset: 2)
    private static let origin = PublishOrigin(instance: 1, sequence: 2, againAfter: 3, epoch: 4)
    private static let change = StateChange(
        userID: "u", items: [StateItem(key: "k", value: "v")], removed: ["r"], isWhole: true)
    private static let user = UserState(userID: "u", items: [StateItem(key: "k", value: "v")])
    private static let item = MetadataItem(
        key: "k", value: "v", revision: 1, updatedMilliseconds: 2, author: "a")
    private static let lock = LockDetail(name: "n", owner: "o", ttlSeconds: 1, fencingToken: 2)
    private static let conflict = RTMError.Conflict(majorRevision: 1, key: "k", revision: 2)
    private static let error = RTMError(
        .invalidParameter, "why", retryAfter: .seconds(1), limit: .init(name: "n", value: 1),
        conflict: conflict)
    private static let second = Duration.seconds(1)
    private static let condition = PublishCondition(newest: position, version: 1, versionEpoch: "e")
    private static let listed = ListedChannel(name: "n", newest: position, timestampMilliseconds: 1)
    private static let entry = ExplainedEntry(
        timestampMilliseconds: 1, publisher: "p", publisherSession: 2, feature: .message)
    private static let explainedLink = ExplainedLink(node: "n", waitingBytes: 1)
    private static let question = EdgeExplain(userID: "u", channel: key, publisher: "p")
    private static let explainedChannel = ExplainedChannel(
        isAttached: true, position: position, subscribers: 1)
    private static let explainedSession = ExplainedSession(
        session: session, tokenExpiresMilliseconds: 1, stage: .live, features: .message,
        channel: explainedChannel)
    private static let explainedPublisher = ExplainedPublisher(
        sessionID: 1, code: -2, reason: "r", retryAfter: .milliseconds(3))
    private static let fact = SessionFact(
        kind: .gap, atMilliseconds: 1, sessionID: 2, channel: key, position: position, after: position,
        hasGap: true, cause: "c", count: 3)
    private static let explanation = EdgeExplanation(
        node: "n", loop: 1, factsSinceMilliseconds: 2, facts: [fact], sessions: [explainedSession],
        channel: explainedChannel, publisher: explainedPublisher, endsSinceMilliseconds: 3)
    private static let busy = BusyChannel(channel: key, entries: 1, subscribers: 2)
    private static let loud = LoudSession(session: session, messages: 1, bytes: 2)
    private static let refused = RefusedUser(
        userID: "u", kind: .publishRefused, count: 1, atMilliseconds: 2, reason: "r", channel: key)
    private static let top = EdgeTopFindings(
        isBusy: true, measured: second, queues: [session], channels: [busy], publishers: [loud],
        refused: [refused], refusedSinceMilliseconds: 1, channelsOmitted: 2)
    private static let session = EdgeSession(
        userID: "u", sessionID: 1, address: "a", client: "c", sinceMilliseconds: 2, queuedBytes: 3,
        channelCount: 4)

    private static func message(_ x: WireText) -> MessageView {
        MessageView(type: .text, payload: x, customType: x, priority: .low)
    }

    private static func client(_ x: WireText) -> [WrittenMessage] {
        [
            WrittenMessage(ServerFrame(LoggedOut(), answering: 1)),
            WrittenMessage(
                Welcome(
                    version: 1, serverTimeMilliseconds: 2, frameBytesMax: 3, server: "s",
                    handshakeTimeout: second)),
            WrittenMessage(
                LoggedIn(
                    session: SessionID(rawValue: 1), serverTimeMilliseconds: 2, heartbeatIntervalSeconds: 3,
                    heartbeatGraceSeconds: 4, inboxPosition: position, inboxGap: true, subscriptionCount: 5,
                    followedUserCount: 6,
                    publishRates: PublishRates(
                        targetMessages: 7, sessionMessages: 8, sessionBytes: 9, topicMessages: 10))),
            WrittenMessage(
                PublishRates(targetMessages: 1, sessionMessages: 2, sessionBytes: 3, topicMessages: 4)),
            WrittenMessage(TokenRenewed()), WrittenMessage(TokenWillExpire(remaining: second, channel: "c")),
            WrittenMessage(
                ChannelEnded(
                    ChannelKey(appID: "a", type: .stream, name: "c"), RTMError(.tokenExpired, "why"))),
            WrittenMessage(LoggedOut()), WrittenMessage(HeartbeatAck(serverTimeMilliseconds: 1)),
            WrittenMessage(Done()), WrittenMessage(Unsubscribed()),
            WrittenMessage(Disconnect(.draining, "why", retryAfter: second)),
            WrittenMessage(
                Subscribed(position: position, unavailable: .presence, gap: true, hasSetStates: true)),
            WrittenMessage(UserMetadataSubscribed(position: position, gap: true)),
            WrittenMessage(Published(offset: 1, timestampMilliseconds: 2)),
            WrittenMessage(Gap(key, position)), WrittenMessage(position), WrittenMessage(message(x)),
            WrittenMessage(
                Publication(
                    channelType: .stream, channel: x, offset: 1, timestampMilliseconds: 2, order: 3,
                    publisher: x, message: message(x))),
            WrittenMessage(error), WrittenMessage(RTMError.Limit(name: "n", value: 1)),
            WrittenMessage(conflict),
        ]
    }

    private static func answers(_ x: WireText) -> [WrittenMessage] {
        [
            WrittenMessage(StateItem(key: "k", value: "v")), WrittenMessage(user),
            WrittenMessage(OnlineUsers(users: [user], nextPage: "n", total: 1)),
            WrittenMessage(UserChannels(channels: [UserChannel(type: .stream, name: "n")])),
            WrittenMessage(UserChannel(type: .stream, name: "n")),
            WrittenMessage(PresenceSnapshot(channel: key, position: position, users: [user], more: true)),
            WrittenMessage(
                PresenceInterval(joined: ["u"], left: ["u"], timedOut: ["u"], states: [change])),
            WrittenMessage(change),
            WrittenMessage(MetadataWritten(majorRevision: 1)), WrittenMessage(item),
            WrittenMessage(Metadata(key, majorRevision: 1, items: [item])),
            WrittenMessage(StorageEvent(majorRevision: 1, items: [item])),
            WrittenMessage(lock), WrittenMessage(LockAcquired(fencingToken: 1)),
            WrittenMessage(Locks(key, revision: 1, locks: [lock])),
            WrittenMessage(LockEvent(.set, lock, revision: 1)),
            WrittenMessage(
                HistoryPage(
                    messages: [
                        HistoryMessage(
                            type: .text, payload: [1], customType: "c", publisher: "p",
                            timestampMilliseconds: 1, order: 2)
                    ], newStart: 1)),
            WrittenMessage(
                HistoryMessage(
                    type: .text, payload: [1], customType: "c", publisher: "p", timestampMilliseconds: 1,
                    order: 2)),
        ]
    }

    private static func link() -> [WrittenMessage] {
        [
            WrittenMessage(
                ServiceLinkHello(version: 1, service: "s", node: "n", nonce: [1], shard: 1, relayTo: "a:1")),
            WrittenMessage(ServiceLinkChallenge(nonce: [1])),
            WrittenMessage(ServiceLinkProof(proof: [1])),
            WrittenMessage(
                ServiceLinkWelcome(
                    version: 1, service: "s", incarnation: 2, proof: [1], shards: 3, announcesLeader: true)),
            WrittenMessage(ServiceLinkTrace(traceHigh: 1, traceLow: 2, span: 3)),
            WrittenMessage(ServiceLinkGoAway(.draining, "why")),
        ]
    }

    private static func messaging(_ x: WireText) -> [WrittenMessage] {
        let event = AppendedEvent(
            publisher: x, publisherSession: 1, feature: .presence, event: x, sequence: 2)
        var events = ByteBuffer()
        EventRun.append(event, to: &events)
        var messages = ByteBuffer()
        MessageRun.append(message(x), to: &messages)
        return [
            WrittenMessage(key),
            WrittenMessage(
                AttachRequest(
                    channel: key, interest: 1, after: position, ownership: 2, owner: 3, returns: true,
                    attempt: 4)),
            WrittenMessage(AttachResponse(position: position, ownership: 1)),
            WrittenMessage(SkipPush(interest: 1, position: position, features: .all, wentBack: true)),
            WrittenMessage(SupersededPush(interest: 1, owner: 2)),
            WrittenMessage(DetachPush(interest: 1, isLoggedOut: true)),
            messages.withUnsafeReadableBytes {
                WrittenMessage(
                    PublishRequest(
                        appID: x, channelType: .stream, channel: x, publisher: x, publisherSession: 1,
                        needsReceiver: true, origin: origin, messages: MessageRun($0, count: 1)))
            },
            messages.withUnsafeReadableBytes {
                WrittenMessage(
                    BackendPublishRequest(
                        PublishRequest(
                            appID: x, channelType: .stream, channel: x, publisher: x, publisherSession: 1,
                            needsReceiver: true, origin: origin, messages: MessageRun($0, count: 1)),
                        if: condition))
            },
            WrittenMessage(condition),
            WrittenMessage(
                BackendPublishResponse(
                    outcome: .outdatedVersion, position: position, timestampMilliseconds: 1,
                    rememberedMilliseconds: 2, version: 3, versionEpoch: "e", order: 4)),
            WrittenMessage(
                ListRequest(appID: "a", type: .stream, prefix: "p", after: "b", limit: 1, name: "n")),
            WrittenMessage(ListResponse(channels: [listed], hasMore: true, total: 1)),
            WrittenMessage(listed),
            WrittenMessage(ExplainRequest(channel: key, entry: position)),
            WrittenMessage(
                ExplainResponse(
                    trace: .found, head: position, entry: entry, links: [explainedLink], leftMilliseconds: 1,
                    knownSinceMilliseconds: 2)),
            WrittenMessage(entry), WrittenMessage(explainedLink),
            WrittenMessage(PublishResponse(offset: 1, timestampMilliseconds: 2, order: 3)),
            events.withUnsafeReadableBytes {
                WrittenMessage(AppendRequest(channel: key, source: 1, events: EventRun($0)))
            },
            WrittenMessage(event),
            WrittenMessage(AppendResponse(position: position, timestampMilliseconds: 1)),
            WrittenMessage(LeaderPush(term: 1, follows: 2, lineage: [EarlierTerm(term: 2)])),
            WrittenMessage(EarlierTerm(term: 1)),
            WrittenMessage(NodesPush(nodes: [NodeAddress(host: "x", port: 1)])),
            WrittenMessage(NodeAddress(host: "x", port: 1)),
            WrittenMessage(entries(x)),
            WrittenMessage(JournaledChannel(channel: key, head: 1, timestamp: 2, hadEntries: true)),
            WrittenMessage(
                JournaledOwnership(channel: key, number: 1, owner: 2, isOnline: true, attempt: 3)),
            WrittenMessage(JournaledVersion(channel: key, version: 1, epoch: "e")),
            WrittenMessage(JournaledHeads(heads: [JournaledHead(partition: 1, offset: 2)], time: 3)),
            WrittenMessage(JournaledHead(partition: 1, offset: 2)),
            WrittenMessage(
                ReadRequest(channel: key, after: position, exceptPublisher: "p", features: .presence)),
            WrittenMessage(ReadResponse(frames: x, position: position, gap: true, more: true)),
            WrittenMessage(feed), WrittenMessage(FeedRequest(appID: "a", after: feed, wait: second)),
            WrittenMessage(FeedResponse(frames: x, next: feed, gap: true, more: true)),
            WrittenMessage(
                DeliveryPush(
                    interest: 1, offset: 2, offsetsBetween: 5, count: 3, publisherSession: 4,
                    feature: .presence,
                    frames: x)),
        ]
    }

    private static let feed = FeedPosition(epoch: 1, sequence: 2, partition: 3, offset: 4)

    private static func entries(_ x: WireText) -> JournaledEntries {
        var entries = JournaledEntries(
            channel: key, offset: 1, timestamp: 2, count: 3, publisherSession: 4, feature: .message, frames: x
        )
        (entries.user, entries.client, entries.sequence, entries.previous) = (5, 6, 7, 8)
        (entries.source, entries.sourceSequence, entries.order) = (9, 10, 11)
        return entries
    }

    private static func presence(_ x: WireText) -> [WrittenMessage] {
        let membership = Membership(
            channel: key, caller: caller, quiet: true, presenceTimeout: second, ownership: 3,
            unannounced: true, states: [StateItem(key: "k", value: "v")])
        return [
            WrittenMessage(caller), WrittenMessage(CallRequest(caller: caller, request: x)),
            WrittenMessage(CallResponse(response: x, cost: 1)),
            WrittenMessage(
                JoinRequest(
                    channel: key, caller: caller, lease: 1, quiet: true, presenceTimeout: second,
                    wantsSnapshot: true, ownership: 3, states: [StateItem(key: "k", value: "v")])),
            WrittenMessage(
                JoinResponse(
                    position: position, frames: x, isTooBig: true, isOlder: true, hasSetStates: true,
                    statesCost: 1)),
            WrittenMessage(RosterRequest(channel: key, snapshot: 1)),
            WrittenMessage(RosterResponse(frames: x, snapshot: 1)),
            WrittenMessage(LeavePush(channel: key, caller: caller, lease: 1, link: 1)),
            WrittenMessage(SessionEndedPush(caller: caller, end: .lost)),
            WrittenMessage(LeaseRequest(lease: 1, link: 1)),
            WrittenMessage(LeaseResponse(timeToLive: second, isKnown: true)),
            WrittenMessage(SyncRequest(lease: 1, memberships: [membership], isFirst: true, isLast: true)),
            WrittenMessage(SyncResponse(older: [OlderMembership(place: 1)])),
            WrittenMessage(OlderMembership(place: 1)), WrittenMessage(membership),
        ]
    }

    private static func storage(_ x: WireText) -> [WrittenMessage] {
        [
            WrittenMessage(
                AppendHistoryRequest(
                    channel: key, publisher: "p", timestampMilliseconds: 1, order: 2, message: message(x),
                    origin: origin)),
            WrittenMessage(StorageCallResponse(response: x, ticket: 1)),
            WrittenMessage(SnapshotRequest(channel: key, metadata: true, locks: true)),
            WrittenMessage(SnapshotResponse(frames: x)),
            WrittenMessage(SessionPush(caller: caller, change: .left, channel: key)),
            WrittenMessage(
                Ban(
                    appID: "a", userID: "u", untilMilliseconds: 1, reason: "r", endsSession: true,
                    sinceMilliseconds: 2, by: "o", number: 3, tokensBeforeSeconds: 4)),
            WrittenMessage(BanReport(number: 1, isAppKnown: true, sessions: 2)),
            WrittenMessage(
                BanOutcome(
                    asked: 1, answered: 2, isAppKnown: true, sessions: 3,
                    before: Ban(appID: "a", userID: "u", endsSession: false))),
            WrittenMessage(BansRequest(afterApp: "a", afterUser: "u")),
            WrittenMessage(
                BansResponse(bans: [Ban(appID: "a", userID: "u", endsSession: true)], hasMore: true)),
            WrittenMessage(EdgeQuestion(number: 1, query: x)),
            WrittenMessage(EdgeAnswer(number: 1, findings: x)),
            WrittenMessage(EdgeAnswers(asked: 1, answers: [EdgeAnswer(number: 1, findings: x)])),
            WrittenMessage(
                EdgeQuery(
                    appID: "a", limit: 1, prefix: "p", afterUser: "b", afterSession: 2, userID: "u",
                    channels: [key], explain: question, sessionID: 3, isByQueue: true, afterQueued: 4,
                    top: EdgeTop(limit: 1, measure: second))),
            WrittenMessage(
                EdgeFindings(
                    sessions: [session], hasMore: true, total: 1, subscribers: [SubscriberCount(count: 1)],
                    explanation: explanation, top: top)),
            WrittenMessage(EdgeTop(limit: 1, measure: second)), WrittenMessage(top), WrittenMessage(busy),
            WrittenMessage(loud), WrittenMessage(refused), WrittenMessage(question),
            WrittenMessage(explanation), WrittenMessage(explainedChannel),
            WrittenMessage(explainedSession), WrittenMessage(explainedPublisher), WrittenMessage(fact),
            WrittenMessage(SubscriberCount(count: 1)), WrittenMessage(session),
            WrittenMessage(PurgeHistoryRequest(channel: key, beforeMilliseconds: 1)),
            WrittenMessage(PurgeHistoryResponse(removed: 1)),
        ] + events
    }

    private static var events: [WrittenMessage] {
        let event = AppEvent(
            position: position, type: .lock, keyType: .message, key: "k", number: 1, timeMilliseconds: 2,
            body: [3])
        let line = AuditLine(
            number: 1, timeMilliseconds: 2, by: "k", address: "a", what: "w", whom: "u", outcome: "200",
            omitted: 3)
        let letter = DeadLetter(
            number: 1, position: position, timeMilliseconds: 2, reason: "r", body: [3])
        let reader = EventReader(
            name: "n", owner: "o", term: 1, lease: second, position: position, state: [2], letters: 3,
            dropped: 4)
        return [
            WrittenMessage(event), WrittenMessage(letter), WrittenMessage(reader),
            WrittenMessage(EventGap(reason: "r", shard: 1, sinceMilliseconds: 2)),
            WrittenMessage(
                EventsRequest(
                    appID: "a", after: position, fromNewest: true, limit: 1, types: 2, channelPrefix: "p",
                    wait: second)),
            WrittenMessage(EventsResponse(events: [event], next: position, hasMore: true)),
            WrittenMessage(ClaimReader(appID: "a", name: "n", node: "o", lease: second)),
            WrittenMessage(
                ReaderClaimed(term: 1, position: position, state: [2], owner: "o", wait: second)),
            WrittenMessage(
                KeepReader(
                    appID: "a", name: "n", term: 1, lease: second, position: position, state: [2],
                    letters: [letter], removed: [DeadLetterNumber(number: 3)])),
            WrittenMessage(DeadLetterNumber(number: 3)), WrittenMessage(ReaderKept(isKept: true)),
            WrittenMessage(MoveReader(appID: "a", name: "n", position: position, forgets: true)),
            WrittenMessage(ReaderMoved(isFound: true)),
            WrittenMessage(ReadersRequest(appID: "a", after: "n")),
            WrittenMessage(
                ReadersResponse(readers: [reader], hasMore: true, newest: position, oldest: position)),
            WrittenMessage(DeadLettersRequest(appID: "a", name: "n", after: 1, limit: 2)),
            WrittenMessage(DeadLettersResponse(letters: [letter], hasMore: true)), WrittenMessage(line),
            WrittenMessage(KeepAudit(appID: "a", line: line)),
            WrittenMessage(AuditRequest(appID: "a", before: 1, limit: 2)),
            WrittenMessage(AuditResponse(lines: [line], hasMore: true)),
        ]
    }
}
