package import Logging
import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls storage and hears from it. All calls come on the link's event loop.
package protocol StorageCaller: AnyObject {
    /// What the caller remembers of an append until its answer.
    associatedtype Append

    func storageIsUp()
    func storageIsDown(_ reason: LinkDownReason)
    func historyAppended(_ context: Append, _ outcome: Result<Void, LinkRequestFailure>)
}

/// Typed calls to storage over one link: every call has exactly one outcome. Confined to the link's event
/// loop.
package final class StorageClient<Caller: StorageCaller> {
    private let link: ServiceLinkClient<Caller.Append>
    private let timeout: Duration
    /// Held from the start to the end of the link: a weak reference would make each of the caller's retains
    /// slow.
    private var caller: Caller?

    /// - Parameter timeout: of every call.
    package init(
        to address: ServiceLinkAddress, _ link: LinkConfiguration, node: String, timeout: Duration,
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        var configuration = ServiceLinkClientConfiguration(service: "storage", node: node)
        configuration.link = link
        self.link = ServiceLinkClient(configuration, to: address, endOfTurn: endOfTurn, logger: logger)
        self.timeout = timeout
    }

    package var address: ServiceLinkAddress { link.address }

    package func start(caller: Caller) {
        self.caller = caller
        link.start(delegate: self)
    }

    package func shutdown() { link.shutdown() }

    package func appendHistory(_ request: AppendHistoryRequest, context: Caller.Append) {
        do throws(RTMError) {
            try link.request(StorageMethod.appendHistory, request, timeout: timeout, context: context)
        } catch {
            caller?.historyAppended(context, .failure(.refused(error)))
        }
    }
}

extension StorageClient: ServiceLinkClientDelegate {
    package func linkUp(_ link: ServiceLinkClient<Caller.Append>, peer: LinkPeer) { caller?.storageIsUp() }

    package func linkDown(_ link: ServiceLinkClient<Caller.Append>, _ reason: LinkDownReason) {
        caller?.storageIsDown(reason)
    }

    package func response(
        _ link: ServiceLinkClient<Caller.Append>, _ context: Caller.Append, _ outcome: LinkOutcome
    ) {
        caller?.historyAppended(context, outcome.result { _ in })
    }

    package func linkRetired(_ link: ServiceLinkClient<Caller.Append>) { caller = nil }

    package func push(_ link: ServiceLinkClient<Caller.Append>, method: UInt32, body: UnsafeRawBufferPointer)
    {}
}
