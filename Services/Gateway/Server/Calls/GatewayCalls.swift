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

    /// Asks storage.
    func ask<Request: StorageRequesting, Response: ArenaDecodable & Sendable>(
        _ method: ServiceMethod<Request, Response>, _ request: Request, errors: CallErrors = .storage,
        _ answer: @escaping Answer<Response>
    ) {
        storage.call(method, request) { answer($0.mapError(errors.error)) }
    }

    /// Asks storage for something of a client. It is answered with a frame for a client.
    func callStorage(
        _ caller: Caller, _ request: ByteBuffer, _ errors: CallErrors, _ answer: @escaping Answer<ByteBuffer>
    ) {
        request.withUnsafeReadableBytes {
            storage.call(StorageMethod.call, CallRequest(caller: caller, request: WireText($0))) {
                answer($0.map { ByteBuffer(bytes: $0.response.bytes) }.mapError(errors.error))
            }
        }
    }

    /// Asks presence for something of a client. It is answered with a frame for a client.
    func callPresence(_ caller: Caller, _ request: ByteBuffer, _ answer: @escaping Answer<ByteBuffer>) {
        request.withUnsafeReadableBytes {
            presence.calls.call(
                PresenceMethod.call, CallRequest(caller: caller, request: WireText($0))
            ) {
                answer($0.map { ByteBuffer(bytes: $0.response.bytes) }.mapError(CallErrors.presence.error))
            }
        }
    }

    func appendHistory(_ message: GatewayMessage, at time: LogTime, _ answer: @escaping Answer<NoContent>) {
        message.withView { view in
            let request = AppendHistoryRequest(
                channel: message.channel, publisher: message.publisher,
                timestampMilliseconds: time.milliseconds, order: time.order, message: view,
                origin: message.origin)
            ask(StorageMethod.appendHistory, request, errors: .history, answer)
        }
    }

    func askEdges(_ query: EdgeQuery, _ answer: @escaping Answer<EdgeReports>) {
        storage.askEdges(query) { answer($0.map(EdgeReports.init).mapError(CallErrors.storage.error)) }
    }

    func listBans(_ place: BansRequest, _ answer: @escaping Answer<BansResponse>) {
        storage.bans(place) { answer($0.mapError(CallErrors.storage.error)) }
    }

    func publish(_ message: GatewayMessage, _ answer: @escaping Answer<BackendPublishResponse>) {
        if let outage = messaging.outage(of: message.channel) {
            return answer(
                .failure(
                    RTMError(
                        .channelPublishMessageFailed, "the messaging service can't be reached at present",
                        retryAfter: max(.seconds(1), min(outage, .seconds(10))))))
        }
        message.withRequest {
            messaging.call(MessagingMethod.backendPublish, $0) {
                answer($0.mapError(CallErrors.publish.error))
            }
        }
    }

    /// How many shards messaging has.
    var shardCount: Int { messaging.shards.all.count }

    /// The shard that has the channel.
    func shard(of channel: ChannelKey) -> Int { channel.withView { messaging.shard(of: $0) } }

    func list(_ request: ListRequest, in shard: Int, _ answer: @escaping Answer<ListResponse>) {
        messaging.list(request, in: shard) { answer($0.mapError(CallErrors.log.error)) }
    }

    func explain(_ request: ExplainRequest, _ answer: @escaping Answer<ExplainedLog>) {
        let node = messaging.leader(of: request.channel).map { "messaging \($0)" } ?? "messaging"
        messaging.call(MessagingMethod.explain, request) {
            answer($0.map { ExplainedLog(node: node, response: $0) }.mapError(CallErrors.log.error))
        }
    }
}

/// Which codes an unanswered call ends with.
struct CallErrors: Sendable {
    let unavailable: ErrorCode
    let timeout: ErrorCode

    func error(_ failure: ServiceLinkRequestFailure) -> RTMError {
        RTMError(failure, unavailable, timeout: timeout)
    }

    static let presence = CallErrors(
        unavailable: .presenceOperationFailed, timeout: .presenceOperationTimeout)
    static let storage = CallErrors(unavailable: .storageNotAvailable, timeout: .storageOperationTimeout)
    static let locks = CallErrors(unavailable: .lockNotAvailable, timeout: .lockOperationTimeout)
    static let history = CallErrors(unavailable: .historyNotAvailable, timeout: .historyOperationTimeout)
    static let publish = CallErrors(
        unavailable: .channelPublishMessageFailed, timeout: .channelPublishMessageTimeout)
    /// Of what is asked about a log.
    static let log = CallErrors(unavailable: .notConnected, timeout: .channelPublishMessageTimeout)
}

// MARK: - What the links say

extension GatewayCalls: ShardRouterDelegate {
    func shardIsUp(_ shard: Int, isWhole: Bool) { if isWhole { probes.messaging.ready() } }
    func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) { connectFailed(reason) }
    func connectFailed(_ reason: ServiceLinkDownReason) { probes.messaging.notReady("\(reason)") }
}

extension GatewayCalls: PresenceCaller {
    func presenceIsUp() { probes.presence.ready() }
    func presenceIsDown(_ reason: ServiceLinkDownReason) { probes.presence.notReady("\(reason)") }
    func presenceIsUnreachable(_ reason: ServiceLinkDownReason) { probes.presence.notReady("\(reason)") }
}

extension GatewayCalls: StorageCaller {
    func storageIsUp(_ shard: Int, isWhole: Bool) {
        banned.listBegins(of: shard)
        if isWhole { probes.storage.ready() }
    }
    func storageIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) { probes.storage.notReady("\(reason)") }
    func storageIsUnreachable(_ reason: ServiceLinkDownReason) { probes.storage.notReady("\(reason)") }

    func storageBanned(_ ban: Ban, in shard: Int) -> BanReport {
        banned.received(ban, of: shard)
        return BanReport(number: ban.number, isAppKnown: false, sessions: 0)
    }
}
