import NIOCore
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// Calls that presence or storage answers. The edge checks who calls, how often and what about. Then it
/// passes the client's bytes on, and the service's bytes back; it reads neither, but for the names of locks.
final class Calls {
    private let presence: PresenceClient<ServiceEvents>
    private let storage: StorageClient<ServiceEvents>
    private let locks: Locks
    private let subscribing: Subscribing
    private let metrics: EdgeMetrics
    private let endOfTurn: EndOfTurn

    init(
        presence: PresenceClient<ServiceEvents>, storage: StorageClient<ServiceEvents>, locks: Locks,
        subscribing: Subscribing, metrics: EdgeMetrics, endOfTurn: EndOfTurn
    ) {
        self.presence = presence
        self.storage = storage
        self.locks = locks
        self.subscribing = subscribing
        self.metrics = metrics
        self.endOfTurn = endOfTurn
    }

    func call(_ session: Session, _ call: ClientCall, _ requestID: UInt64) {
        var context = ForwardedCall(session: session, requestID: requestID, kind: call.kind)
        do throws(RTMError) {
            try session.rates.call(call, session.application.rates, now: endOfTurn.now)
            try session.check(call)
            try checkJoined(call, session)
            context.lock = try locks.begin(call, of: session)
        } catch {
            return context.refuse(error, metrics)
        }
        let request = CallRequest(caller: session.caller, request: call.request)
        switch call.kind.service {
        case .presence: presence.call(request, context: context)
        case .metadata, .locks, .history: storage.call(request, context: context)
        }
    }

    /// The metadata of a stream channel are for those who have joined it (D-15).
    private func checkJoined(_ call: ClientCall, _ session: Session) throws(RTMError) {
        guard call.channelType == .stream, call.kind.service == .metadata else { return }
        let channel = session.channel(call.target.string, .stream)
        guard !subscribing.isSubscribed(session.key, to: channel) else { return }
        throw RTMError(.storageNotSubscribe, "stream channel \"\(channel.name)\" is not joined")
    }

    func presenceAnswered(
        _ call: ForwardedCall, _ outcome: Result<CallResponse, ServiceLinkRequestFailure>
    ) {
        switch outcome {
        case .success(let response):
            call.session.rates.announced(
                response.cost, call.session.application.rates, now: endOfTurn.now)
            call.answer(response.response, metrics)
        case .failure(let failure): call.refuse(call.kind.error(failure), metrics)
        }
    }

    func storageAnswered(
        _ call: ForwardedCall, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>
    ) {
        switch outcome {
        case .success(let response) where response.ticket != 0 && response.response.isEmpty:
            locks.wait(call, response.ticket)
        case .success(let response):
            locks.answered(call, refusal: nil)
            call.answer(response.response, metrics)
        case .failure(let failure):
            let error = call.kind.error(failure)
            locks.answered(call, refusal: error)
            call.refuse(error, metrics)
        }
    }
}
