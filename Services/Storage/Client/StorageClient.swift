package import Logging
import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls storage and hears from it. All calls come on the link's event loop.
package protocol StorageCaller: AnyObject {
    /// What the caller remembers of an append until its answer.
    associatedtype Append
    /// What the caller remembers of a client's call until its answer.
    associatedtype Call
    /// What the caller remembers of a snapshot until its answer.
    associatedtype Snapshot

    func storageIsUp()
    /// Storage can't be called until the link comes back, which it does by itself. The latest pushes may not
    /// have arrived, and every wait for a lock has ended.
    func storageIsDown(_ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func storageIsUnreachable(_ reason: ServiceLinkDownReason)
    func historyAppended(_ append: Append, _ outcome: Result<Void, ServiceLinkRequestFailure>)
    /// The response is valid during the call. If it is a ticket, the answer comes by `storageGranted`.
    func storageCalled(_ call: Call, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>)
    /// The wait for a lock ended. This never comes before the response that gave the ticket, and is valid
    /// during the call.
    func storageGranted(_ push: LockGrantedPush)
    /// The response's frames are valid during the call.
    func storageSnapshot(_ snapshot: Snapshot, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>)
    /// An operator shuts a user out or ends a session, or lets the user in again. When the link comes up,
    /// all bans arrive, and behind them one without a user. Returns what was found and done.
    func storageBanned(_ ban: Ban) -> BanReport
}

extension StorageCaller {
    package func storageIsUnreachable(_ reason: ServiceLinkDownReason) {}
    package func storageBanned(_ ban: Ban) -> BanReport {
        BanReport(number: ban.number, isAppKnown: false, sessions: 0)
    }
}

/// Typed calls to storage over one link. Every call has exactly one outcome.
package final class StorageClient<Caller: StorageCaller>: ServiceClient {
    package enum Open {
        case append(Caller.Append)
        case call(Caller.Call)
        case snapshot(Caller.Snapshot)
    }

    package let calls: ServiceCalls<Open, Caller>

    /// - Parameter timeout: how long every call may take.
    package init(
        to address: ServiceLinkAddress, _ link: ServiceLinkConfiguration, node: String, timeout: Duration,
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        calls = ServiceCalls(
            of: "storage", to: address, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    package func appendHistory(_ request: AppendHistoryRequest, context: Caller.Append) {
        if let failure = calls.refusal(sending: StorageMethod.appendHistory, request, .append(context)) {
            calls.caller?.historyAppended(context, .failure(failure))
        }
    }

    package func call(_ request: CallRequest, context: Caller.Call) {
        if let failure = calls.refusal(sending: StorageMethod.call, request, .call(context)) {
            calls.caller?.storageCalled(context, .failure(failure))
        }
    }

    package func snapshot(_ request: SnapshotRequest, context: Caller.Snapshot) {
        if let failure = calls.refusal(sending: StorageMethod.snapshot, request, .snapshot(context)) {
            calls.caller?.storageSnapshot(context, .failure(failure))
        }
    }

    /// Has no answer. False if the link is down: then it was not sent.
    @discardableResult
    package func session(_ push: SessionPush) -> Bool { calls.link.push(StorageMethod.session, push) }

    // MARK: - What comes back

    package func linkUp(_ link: ServiceLinkClient<Open>, peer: ServiceLinkPeer) {
        calls.caller?.storageIsUp()
    }

    package func linkDown(_ link: ServiceLinkClient<Open>, _ reason: ServiceLinkDownReason) {
        calls.caller?.storageIsDown(reason)
    }

    package func linkUnreachable(_ link: ServiceLinkClient<Open>, _ reason: ServiceLinkDownReason) {
        calls.caller?.storageIsUnreachable(reason)
    }

    package func response(_ link: ServiceLinkClient<Open>, _ context: Open, _ outcome: ServiceLinkOutcome) {
        let caller = calls.caller
        switch context {
        case .append(let append):
            caller?.historyAppended(append, outcome.result { _ in })
        case .call(let call):
            caller?.storageCalled(call, outcome.result { try StorageCallResponse($0, in: calls.arena) })
        case .snapshot(let snapshot):
            caller?.storageSnapshot(snapshot, outcome.result { try SnapshotResponse($0, in: calls.arena) })
        }
    }

    package func push(_ link: ServiceLinkClient<Open>, method: UInt32, body: UnsafeRawBufferPointer) {
        switch method {
        case StorageMethod.lockGranted:
            if let push = try? LockGrantedPush(scanning: body) { calls.caller?.storageGranted(push) }
        case StorageMethod.banned:
            guard let ban = try? Ban(body, in: calls.arena), let caller = calls.caller else { return }
            let report = caller.storageBanned(ban)
            if ban.number != 0 { link.push(StorageMethod.banReport, report) }
        default: break
        }
    }
}
