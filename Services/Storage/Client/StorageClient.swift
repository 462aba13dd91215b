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
    /// The link comes back by itself. What was pushed lately may not have arrived; who waits for a lock waits
    /// no longer.
    func storageIsDown(_ reason: ServiceLinkDownReason)
    func historyAppended(_ append: Append, _ outcome: Result<Void, ServiceLinkRequestFailure>)
    /// The response is valid during the call. With a ticket the answer comes by `storageGranted`.
    func storageCalled(_ call: Call, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>)
    /// How the wait for a lock ended. Never before the response that gave the ticket. Valid during the call.
    func storageGranted(_ push: LockGrantedPush)
    /// The response's frames are valid during the call.
    func storageSnapshot(_ snapshot: Snapshot, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>)
}

/// Typed calls to storage over one link: every call has exactly one outcome. Confined to the link's event
/// loop.
package final class StorageClient<Caller: StorageCaller> {
    package enum Open {
        case append(Caller.Append)
        case call(Caller.Call)
        case snapshot(Caller.Snapshot)
    }

    private let link: ServiceLinkClient<Open>
    private let timeout: Duration
    private let arena = DecodeArena()
    /// Held from the start to the end of the link: a weak reference would make each of the caller's retains
    /// slow.
    private var caller: Caller?

    /// - Parameter timeout: of every call.
    package init(
        to address: ServiceLinkAddress, _ link: ServiceLinkConfiguration, node: String, timeout: Duration,
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        var configuration = ServiceLinkClientConfiguration(service: "storage", node: node)
        configuration.link = link
        self.link = ServiceLinkClient(configuration, to: address, endOfTurn: endOfTurn, logger: logger)
        self.timeout = timeout
    }

    package var isUp: Bool { link.isUp }
    package var address: ServiceLinkAddress { link.address }

    package func start(caller: Caller) {
        self.caller = caller
        link.start(delegate: self)
    }

    package func shutdown() { link.shutdown() }

    package func appendHistory(_ request: AppendHistoryRequest, context: Caller.Append) {
        do throws(RTMError) {
            try link.request(
                StorageMethod.appendHistory, request, timeout: timeout, context: .append(context))
        } catch {
            caller?.historyAppended(context, .failure(.refused(error)))
        }
    }

    package func call(_ request: CallRequest, context: Caller.Call) {
        do throws(RTMError) {
            try link.request(StorageMethod.call, request, timeout: timeout, context: .call(context))
        } catch {
            caller?.storageCalled(context, .failure(.refused(error)))
        }
    }

    package func snapshot(_ request: SnapshotRequest, context: Caller.Snapshot) {
        do throws(RTMError) {
            try link.request(StorageMethod.snapshot, request, timeout: timeout, context: .snapshot(context))
        } catch {
            caller?.storageSnapshot(context, .failure(.refused(error)))
        }
    }

    /// Without an answer. False: the link is down, it was not sent.
    @discardableResult
    package func session(_ push: SessionPush) -> Bool { link.push(StorageMethod.session, push) }
}

extension StorageClient: ServiceLinkClientDelegate {
    package func linkUp(_ link: ServiceLinkClient<Open>, peer: ServiceLinkPeer) { caller?.storageIsUp() }

    package func linkDown(_ link: ServiceLinkClient<Open>, _ reason: ServiceLinkDownReason) {
        caller?.storageIsDown(reason)
    }

    package func response(_ link: ServiceLinkClient<Open>, _ context: Open, _ outcome: ServiceLinkOutcome) {
        switch context {
        case .append(let append):
            caller?.historyAppended(append, outcome.result { _ in })
        case .call(let call):
            caller?.storageCalled(call, outcome.result { try StorageCallResponse($0, in: arena) })
        case .snapshot(let snapshot):
            caller?.storageSnapshot(snapshot, outcome.result { try SnapshotResponse($0, in: arena) })
        }
    }

    package func linkRetired(_ link: ServiceLinkClient<Open>) { caller = nil }

    package func push(_ link: ServiceLinkClient<Open>, method: UInt32, body: UnsafeRawBufferPointer) {
        guard method == StorageMethod.lockGranted, let push = try? LockGrantedPush(scanning: body) else {
            return
        }
        caller?.storageGranted(push)
    }
}
