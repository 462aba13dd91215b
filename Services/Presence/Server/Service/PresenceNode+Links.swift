import Logging
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
    }

    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink
    ) {
        do {
            switch method {
            case PresenceMethod.join: try join(JoinRequest(body, in: arena), id, timeout: timeout, link)
            case PresenceMethod.call: try call(CallRequest(body, in: arena), id, link)
            case PresenceMethod.lease: try renew(LeaseRequest(body, in: arena), id, link)
            case PresenceMethod.sync: try sync(SyncRequest(body, in: arena), id, link)
            case PresenceMethod.roster:
                try roster(RosterRequest(body, in: arena), id, timeout: timeout, link)
            default: throw RTMError(.serviceNotSupport, "presence has no method \(method)")
            }
        } catch let error as RTMError {
            refuse(id, error, link)
        } catch {
            refuse(id, RTMError(.invalidParameter, "presence can't read the request: \(error)"), link)
        }
    }

    private func call(_ call: CallRequest, _ id: UInt64, _ link: AcceptedServiceLink) throws {
        try PresenceCalls(store: store, states: settings.states).perform(
            try PresenceCall(call.request.bytes, in: callArena), of: call.caller,
            over: leases.edgeLink(of: link), PresenceCallAnswer(request: id, link: link, metrics: metrics),
            checkBacklog: checkBacklog)
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
