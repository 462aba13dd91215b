import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

extension PresenceNode: ServiceLinkHandler {
    func linkOpened(_ link: AcceptedServiceLink) { metrics.links.add(1) }

    func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason) {
        metrics.links.add(-1)
        reports.closed(link)
        heldSnapshots.forget(of: link.id)
        leases.closed(link)
        turns.linkClosed(link.id)
    }

    func linkBecameWritable(_ link: AcceptedServiceLink) {
        while let turn = turns.next(of: link.id, queuedBytes: link.queuedBytes) {
            // Who has stopped waiting takes no answer.
            guard turn.deadline > link.eventLoop.now else {
                turns.ended(turn.bytesMax, of: link.id)
                continue
            }
            do {
                try turn.work.request.withUnsafeReadableBytes { bytes in
                    try perform(
                        try PresenceCall(bytes, in: callArena), of: turn.work.caller, turn.work.id, link,
                        bytesMax: turn.bytesMax)
                }
            } catch {
                refuse(turn.work.id, error, link)
            }
        }
    }

    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink
    ) {
        do {
            switch method {
            case PresenceMethod.join: try join(JoinRequest(body, in: arena), id, timeout: timeout, link)
            case PresenceMethod.call: try call(CallRequest(body, in: arena), id, timeout: timeout, link)
            case PresenceMethod.lease: try renew(LeaseRequest(body, in: arena), id, link)
            case PresenceMethod.sync: try sync(SyncRequest(body, in: arena), id, link)
            case PresenceMethod.roster:
                try roster(RosterRequest(body, in: arena), id, timeout: timeout, link)
            default: throw RTMError(.serviceNotSupport, "presence has no method \(method)")
            }
        } catch {
            refuse(id, error, link)
        }
    }

    /// A query is answered when the link has room.
    private func call(
        _ call: CallRequest, _ id: UInt64, timeout: Duration, _ link: AcceptedServiceLink
    ) throws {
        let request = try PresenceCall(call.request.bytes, in: callArena)
        guard request.isQuery else { return try perform(request, of: call.caller, id, link) }
        let page = CallPage(
            caller: call.caller, request: ByteBuffer(bytes: call.request.bytes), id: id)
        let turn = AnswerTurns<CallPage>.Turn(
            page, app: call.caller.appID, caller: call.caller.userID, bytesMax: CallPage.bytesMax,
            deadline: link.eventLoop.now + TimeAmount(timeout))
        switch turns.ask(turn, of: link.id, queuedBytes: link.queuedBytes) {
        case .begin: try perform(request, of: call.caller, id, link, bytesMax: turn.bytesMax)
        case .wait: break
        case .refuse(let waitingMax):
            throw RTMError(
                .presenceOperationFailed, "too many answers wait until the link has room",
                retryAfter: .seconds(1), limit: .init(name: "waiting answers", value: UInt64(waitingMax)))
        }
    }

    /// - Parameter bytesMax: what the answer may take of its turn; 0 if it needs none.
    private func perform(
        _ call: PresenceCall, of caller: Caller, _ id: UInt64, _ link: AcceptedServiceLink, bytesMax: Int = 0
    ) throws {
        let answer = PresenceCallAnswer(request: id, link: link, metrics: metrics) { [self] in
            if bytesMax > 0 { turns.ended(bytesMax, of: link.id) }
        }
        do {
            try PresenceCalls(store: store, states: settings.states).perform(
                call, of: caller, over: leases.edgeLink(of: link), answer, checkBacklog: checkBacklog)
        } catch {
            answer.ended()
            throw error
        }
    }

    func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink) {
        switch method {
        case PresenceMethod.leave:
            guard let push = try? LeavePush(body, in: arena) else { return }
            let edgeLink = EdgeLink(lease: push.lease, number: push.link)
            store.leave(push.caller, push.channel, over: edgeLink) { self.note($0) }
        case PresenceMethod.sessionEnded:
            guard let push = try? SessionEndedPush(body, in: arena) else { return }
            store.end(push.caller, push.end) { self.note($0) }
        default: break
        }
    }

    private func refuse(_ id: UInt64, _ error: any Error, _ link: AcceptedServiceLink) {
        let unreadable = { RTMError(.invalidParameter, "presence can't read the request: \(error)") }
        refuse(id, error as? RTMError ?? unreadable(), link)
    }

    func refuse(_ id: UInt64, _ error: RTMError, _ link: AcceptedServiceLink) {
        metrics.refused.increment()
        link.fail(id, error)
    }

    /// Logs a failed push. Nobody waits for its answer, and the edge's next sync repairs what was lost.
    private func note(_ outcome: Result<Void, RTMError>) {
        guard case .failure(let error) = outcome else { return }
        metrics.refused.increment()
        logger.warning("the store refused a leave", metadata: ["cause": "\(error)"])
    }

    // MARK: - Leases

    private func renew(_ request: LeaseRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws(RTMError) {
        let edgeLink = try leases.name(request.lease, number: request.link, over: link)
        store.renew(edgeLink) { [self] outcome in
            switch outcome {
            case .success(let isKnown):
                link.respond(
                    to: id, LeaseResponse(timeToLive: settings.leaseTimeToLive, isKnown: isKnown))
            case .failure(let error): refuse(id, error, link)
            }
        }
    }

    private func sync(_ request: SyncRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws(RTMError) {
        let edgeLink = try leases.name(request.lease, over: link)
        reports.report(request, over: link, edgeLink) { [self] outcome in
            switch outcome {
            case .success(let older): link.respond(to: id, SyncResponse(older: older))
            case .failure(let error): refuse(id, error, link)
            }
        }
    }
}

/// A query of a client that waits until the link has room for its answer.
struct CallPage {
    /// Limit: about how long an answer may be. A page of users ends at 64 KiB.
    static let bytesMax = 68 * 1024

    let caller: Caller
    /// The client's call.
    let request: ByteBuffer
    let id: UInt64
}

extension PresenceCall {
    /// Whether the answer may be long.
    fileprivate var isQuery: Bool {
        switch self {
        case .whoNow, .whereNow, .getState: true
        case .setState, .removeState, .unknown: false
        }
    }
}
