import Logging
import NIOCore
import RTMMessagingClient
import RTMModel
import RTMPresenceClient
import RTMServiceKit
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// The links of a gateway to the other services, and what it has asked them. It is confined to one event
/// loop; `Backend` is its front for the tasks that answer HTTP requests.
final class GatewayCalls {
    /// Where the other services are.
    struct Addresses: Sendable {
        let messaging: [ServiceLinkAddress]
        let presence: [ServiceLinkAddress]
        let storage: [ServiceLinkAddress]
    }

    struct Probes: Sendable {
        let messaging: ReadinessProbe
        let presence: ReadinessProbe
        let storage: ReadinessProbe
    }

    /// How long every call to a service may take.
    private static let timeout = Duration.seconds(5)

    typealias Answer<Value: Sendable> = @Sendable (Result<Value, RTMError>) -> Void

    private let messaging: MessagingClient
    private let presence: PresenceClient
    private let storage: StorageClient
    private let probes: Probes
    private let banned: GatewayBans
    private var publishes = RequestContexts<Answer<BackendPublishResponse>>()
    private var lists = RequestContexts<Answer<ListResponse>>()
    private var explanations = RequestContexts<Answer<ExplainResponse>>()
    private var appends = RequestContexts<Answer<Void>>()
    private var calls = RequestContexts<PendingCall>()
    private var bans = RequestContexts<Answer<BanOutcome>>()
    private var banLists = RequestContexts<Answer<BansResponse>>()
    private var questions = RequestContexts<Answer<EdgeReports>>()
    private var purges = RequestContexts<Answer<PurgeHistoryResponse>>()
    private var eventPages = RequestContexts<Answer<EventsResponse>>()
    private var claims = RequestContexts<Answer<ReaderClaimed>>()
    private var keeps = RequestContexts<Answer<ReaderKept>>()
    private var moves = RequestContexts<Answer<ReaderMoved>>()
    private var readerLists = RequestContexts<Answer<ReadersResponse>>()
    private var letterLists = RequestContexts<Answer<DeadLettersResponse>>()
    private var auditLines = RequestContexts<Answer<Void>>()
    private var auditPages = RequestContexts<Answer<AuditResponse>>()

    /// A call that presence or storage answers with a frame for a client.
    private struct PendingCall {
        let errors: CallErrors
        let answer: Answer<ByteBuffer>
    }

    init(
        to addresses: Addresses, _ link: ServiceLinkConfiguration, node: String, probes: Probes,
        banned: GatewayBans, endOfTurn: EndOfTurn, logger: Logger
    ) {
        messaging = MessagingClient(
            to: addresses.messaging, link, node: node, timeout: Self.timeout, endOfTurn: endOfTurn,
            logger: logger)
        presence = PresenceClient(
            toAnyOf: addresses.presence, link, node: node, timeout: Self.timeout, endOfTurn: endOfTurn,
            logger: logger)
        storage = StorageClient(
            to: addresses.storage, link, node: node, timeout: Self.timeout, endOfTurn: endOfTurn,
            logger: logger)
        self.probes = probes
        self.banned = banned
    }

    func start() {
        for probe in [probes.messaging, probes.presence, probes.storage] {
            probe.notReady("not connected yet")
        }
        messaging.start(caller: self)
        presence.start(caller: self)
        storage.start(caller: self)
    }

    func shutdown() {
        messaging.shutdown()
        presence.shutdown()
        storage.shutdown()
    }

    // MARK: - Asking

    func publish(_ message: GatewayMessage, _ answer: @escaping Answer<BackendPublishResponse>) {
        if let outage = messaging.outage(of: message.channel) {
            return answer(
                .failure(
                    RTMError(
                        .channelPublishMessageFailed, "the messaging service can't be reached at present",
                        retryAfter: max(.seconds(1), min(outage, .seconds(10))))))
        }
        let context = publishes.insert(answer)
        message.withRequest { messaging.publish($0, context: context) }
    }

    /// How many shards messaging has.
    var shardCount: Int { messaging.shards.all.count }

    func list(_ request: ListRequest, in shard: Int, _ answer: @escaping Answer<ListResponse>) {
        messaging.list(request, in: shard, context: lists.insert(answer))
    }

    func explain(_ request: ExplainRequest, _ answer: @escaping Answer<ExplainedLog>) {
        let node = messaging.leader(of: request.channel).map { "messaging \($0)" } ?? "messaging"
        let context = explanations.insert { answer($0.map { ExplainedLog(node: node, response: $0) }) }
        messaging.explain(request, context: context)
    }

    /// The shard that has the channel.
    func shard(of channel: ChannelKey) -> Int { channel.withView { messaging.shard(of: $0) } }

    func appendHistory(_ message: GatewayMessage, at time: LogTime, _ answer: @escaping Answer<Void>) {
        let context = appends.insert(answer)
        message.withView { view in
            storage.appendHistory(
                AppendHistoryRequest(
                    channel: message.channel, publisher: message.publisher,
                    timestampMilliseconds: time.milliseconds, order: time.order, message: view,
                    origin: message.origin),
                context: context)
        }
    }

    func callPresence(_ caller: Caller, _ request: ByteBuffer, _ answer: @escaping Answer<ByteBuffer>) {
        let context = calls.insert(PendingCall(errors: .presence, answer: answer))
        request.withUnsafeReadableBytes {
            presence.call(CallRequest(caller: caller, request: WireText($0)), context: context)
        }
    }

    func callStorage(
        _ caller: Caller, _ request: ByteBuffer, _ errors: CallErrors, _ answer: @escaping Answer<ByteBuffer>
    ) {
        let context = calls.insert(PendingCall(errors: errors, answer: answer))
        request.withUnsafeReadableBytes {
            storage.call(CallRequest(caller: caller, request: WireText($0)), context: context)
        }
    }

    func ban(_ ban: Ban, _ answer: @escaping Answer<BanOutcome>) {
        storage.ban(ban, context: bans.insert(answer))
    }

    func askEdges(_ query: EdgeQuery, _ answer: @escaping Answer<EdgeReports>) {
        storage.askEdges(query, context: questions.insert(answer))
    }

    func purgeHistory(_ request: PurgeHistoryRequest, _ answer: @escaping Answer<PurgeHistoryResponse>) {
        storage.purgeHistory(request, context: purges.insert(answer))
    }

    func listBans(_ place: BansRequest, _ answer: @escaping Answer<BansResponse>) {
        storage.bans(place, context: banLists.insert(answer))
    }

    func readEvents(_ request: EventsRequest, _ answer: @escaping Answer<EventsResponse>) {
        storage.events(request, context: eventPages.insert(answer))
    }

    func claimReader(_ request: ClaimReader, _ answer: @escaping Answer<ReaderClaimed>) {
        storage.claimReader(request, context: claims.insert(answer))
    }

    func keepReader(_ request: KeepReader, _ answer: @escaping Answer<ReaderKept>) {
        storage.keepReader(request, context: keeps.insert(answer))
    }

    func moveReader(_ request: MoveReader, _ answer: @escaping Answer<ReaderMoved>) {
        storage.moveReader(request, context: moves.insert(answer))
    }

    func listReaders(_ request: ReadersRequest, _ answer: @escaping Answer<ReadersResponse>) {
        storage.readers(request, context: readerLists.insert(answer))
    }

    func keepAudit(_ request: KeepAudit, _ answer: @escaping Answer<Void>) {
        storage.keepAudit(request, context: auditLines.insert(answer))
    }

    func listAudit(_ request: AuditRequest, _ answer: @escaping Answer<AuditResponse>) {
        storage.audit(request, context: auditPages.insert(answer))
    }

    func listDeadLetters(_ request: DeadLettersRequest, _ answer: @escaping Answer<DeadLettersResponse>) {
        storage.deadLetters(request, context: letterLists.insert(answer))
    }
}

/// Which codes an unanswered call ends with.
struct CallErrors: Sendable {
    let unavailable: ErrorCode
    let timeout: ErrorCode

    static let presence = CallErrors(
        unavailable: .presenceOperationFailed, timeout: .presenceOperationTimeout)
    static let metadata = CallErrors(unavailable: .storageNotAvailable, timeout: .storageOperationTimeout)
    static let locks = CallErrors(unavailable: .lockNotAvailable, timeout: .lockOperationTimeout)
    static let history = CallErrors(unavailable: .historyNotAvailable, timeout: .historyOperationTimeout)
}

// MARK: - Messaging

extension GatewayCalls: MessagingCaller {
    func shardIsUp(_ shard: Int, isWhole: Bool) { if isWhole { probes.messaging.ready() } }

    func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) { connectFailed(reason) }

    func connectFailed(_ reason: ServiceLinkDownReason) { probes.messaging.notReady("\(reason)") }

    func messagingPublished(
        _ context: Int, _ outcome: Result<BackendPublishResponse, ServiceLinkRequestFailure>
    ) {
        publishes.remove(context)(
            outcome.mapError {
                RTMError($0, .channelPublishMessageFailed, timeout: .channelPublishMessageTimeout)
            })
    }

    func messagingListed(_ context: Int, _ outcome: Result<ListResponse, ServiceLinkRequestFailure>) {
        lists.remove(context)(
            outcome.mapError { RTMError($0, .notConnected, timeout: .channelPublishMessageTimeout) })
    }

    func messagingExplained(_ context: Int, _ outcome: Result<ExplainResponse, ServiceLinkRequestFailure>) {
        explanations.remove(context)(
            outcome.mapError { RTMError($0, .notConnected, timeout: .channelPublishMessageTimeout) })
    }

    // A gateway attaches to no log yet, and publishes as backends do.
    func messagingPublished(
        _ context: Int, in shard: Int, _ outcome: Result<PublishResponse, ServiceLinkRequestFailure>
    ) {}
    func messagingDelivered(_ delivery: DeliveryPush) {}
    func messagingSkipped(_ skip: SkipPush) {}
    func messagingSuperseded(_ interest: UInt64, by holder: UInt64) {}
    func messagingAttached(
        _ interest: UInt64, in shard: Int, _ outcome: Result<AttachResponse, ServiceLinkRequestFailure>
    ) {}
    func messagingRead(_ context: Int, _ outcome: Result<ReadResponse, ServiceLinkRequestFailure>) {}
}

// MARK: - Presence

extension GatewayCalls: PresenceCaller {
    func presenceIsUp() { probes.presence.ready() }
    func presenceIsDown(_ reason: ServiceLinkDownReason) { probes.presence.notReady("\(reason)") }
    func presenceIsUnreachable(_ reason: ServiceLinkDownReason) { probes.presence.notReady("\(reason)") }

    func presenceCalled(_ context: Int, _ outcome: Result<CallResponse, ServiceLinkRequestFailure>) {
        answered(context, outcome.map { ByteBuffer(bytes: $0.response.bytes) })
    }

    // A gateway has no members, so it has no lease either.
    func presenceJoined(_ context: Int, _ outcome: Result<JoinResponse, ServiceLinkRequestFailure>) {}
    func presenceRoster(_ channel: ChannelKey, _ outcome: Result<RosterResponse, ServiceLinkRequestFailure>) {
    }
    func presenceLeased(_ outcome: Result<LeaseResponse, ServiceLinkRequestFailure>) {}
    func presenceSynced(_ outcome: Result<SyncResponse, ServiceLinkRequestFailure>) {}

    private func answered(_ context: Int, _ outcome: Result<ByteBuffer, ServiceLinkRequestFailure>) {
        let call = calls.remove(context)
        call.answer(
            outcome.mapError { RTMError($0, call.errors.unavailable, timeout: call.errors.timeout) })
    }
}

// MARK: - Storage

extension GatewayCalls: StorageCaller {
    func storageIsUp(_ shard: Int, isWhole: Bool) {
        banned.listBegins(of: shard)
        if isWhole { probes.storage.ready() }
    }
    func storageIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) { probes.storage.notReady("\(reason)") }
    func storageIsUnreachable(_ reason: ServiceLinkDownReason) { probes.storage.notReady("\(reason)") }

    func historyAppended(_ context: Int, _ outcome: Result<Void, ServiceLinkRequestFailure>) {
        appends.remove(context)(
            outcome.mapError { RTMError($0, .historyNotAvailable, timeout: .historyOperationTimeout) })
    }

    func storageCalled(
        _ context: Int, in shard: Int, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>
    ) {
        answered(context, outcome.map { ByteBuffer(bytes: $0.response.bytes) })
    }

    func storageCarriedOut(_ context: Int, _ outcome: Result<BanOutcome, ServiceLinkRequestFailure>) {
        bans.remove(context)(Self.mapped(outcome))
    }

    func storageListedBans(_ context: Int, _ outcome: Result<BansResponse, ServiceLinkRequestFailure>) {
        banLists.remove(context)(Self.mapped(outcome))
    }

    func storageReadEvents(_ context: Int, _ outcome: Result<EventsResponse, ServiceLinkRequestFailure>) {
        eventPages.remove(context)(Self.mapped(outcome))
    }

    func storageClaimedReader(_ context: Int, _ outcome: Result<ReaderClaimed, ServiceLinkRequestFailure>) {
        claims.remove(context)(Self.mapped(outcome))
    }

    func storageKeptReader(_ context: Int, _ outcome: Result<ReaderKept, ServiceLinkRequestFailure>) {
        keeps.remove(context)(Self.mapped(outcome))
    }

    func storageMovedReader(_ context: Int, _ outcome: Result<ReaderMoved, ServiceLinkRequestFailure>) {
        moves.remove(context)(Self.mapped(outcome))
    }

    func storageListedReaders(_ context: Int, _ outcome: Result<ReadersResponse, ServiceLinkRequestFailure>) {
        readerLists.remove(context)(Self.mapped(outcome))
    }

    func storageListedDeadLetters(
        _ context: Int, _ outcome: Result<DeadLettersResponse, ServiceLinkRequestFailure>
    ) {
        letterLists.remove(context)(Self.mapped(outcome))
    }

    func storageKeptAudit(_ context: Int, _ outcome: Result<Void, ServiceLinkRequestFailure>) {
        auditLines.remove(context)(Self.mapped(outcome))
    }

    func storageListedAudit(_ context: Int, _ outcome: Result<AuditResponse, ServiceLinkRequestFailure>) {
        auditPages.remove(context)(Self.mapped(outcome))
    }

    private static func mapped<Value>(
        _ outcome: Result<Value, ServiceLinkRequestFailure>
    ) -> Result<Value, RTMError> {
        outcome.mapError { RTMError($0, .storageNotAvailable, timeout: .storageOperationTimeout) }
    }

    func storageAskedEdges(_ context: Int, _ outcome: Result<EdgeAnswers, ServiceLinkRequestFailure>) {
        questions.remove(context)(Self.mapped(outcome.map { EdgeReports($0) }))
    }

    func storagePurgedHistory(
        _ context: Int, _ outcome: Result<PurgeHistoryResponse, ServiceLinkRequestFailure>
    ) {
        purges.remove(context)(
            outcome.mapError { RTMError($0, .historyNotAvailable, timeout: .historyOperationTimeout) })
    }

    func storageBanned(_ ban: Ban, in shard: Int) -> BanReport {
        banned.received(ban, of: shard)
        return BanReport(number: ban.number, isAppKnown: false, sessions: 0)
    }

    // A gateway never waits for a lock and subscribes to nothing.
    func storageGranted(_ push: LockGrantedPush, in shard: Int) {}
    func storageSnapshot(_ context: Int, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>) {}
}
