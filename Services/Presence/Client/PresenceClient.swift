package import Logging
import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls presence and hears from it. All calls come on the link's event loop.
package protocol PresenceCaller: AnyObject {
    /// What the caller remembers of a join until its answer.
    associatedtype Join

    func presenceIsUp()
    func presenceIsDown(_ reason: LinkDownReason)
    func presenceJoined(_ context: Join, _ outcome: Result<Void, LinkRequestFailure>)
}

/// Typed calls to presence over one link: every call has exactly one outcome. Confined to the link's event
/// loop.
package final class PresenceClient<Caller: PresenceCaller> {
    private let link: ServiceLinkClient<Caller.Join>
    private let timeout: Duration
    /// Held from the start to the end of the link: a weak reference would make each of the caller's retains
    /// slow.
    private var caller: Caller?

    /// - Parameter timeout: of every call.
    package init(
        to address: ServiceLinkAddress, _ link: LinkConfiguration, node: String, timeout: Duration,
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        var configuration = ServiceLinkClientConfiguration(service: "presence", node: node)
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

    package func join(_ request: JoinRequest, context: Caller.Join) {
        do throws(RTMError) {
            try link.request(PresenceMethod.join, request, timeout: timeout, context: context)
        } catch {
            caller?.presenceJoined(context, .failure(.refused(error)))
        }
    }
}

extension PresenceClient: ServiceLinkClientDelegate {
    package func linkUp(_ link: ServiceLinkClient<Caller.Join>, peer: LinkPeer) { caller?.presenceIsUp() }

    package func linkDown(_ link: ServiceLinkClient<Caller.Join>, _ reason: LinkDownReason) {
        caller?.presenceIsDown(reason)
    }

    package func response(
        _ link: ServiceLinkClient<Caller.Join>, _ context: Caller.Join, _ outcome: LinkOutcome
    ) {
        caller?.presenceJoined(context, outcome.result { _ in })
    }

    package func linkRetired(_ link: ServiceLinkClient<Caller.Join>) { caller = nil }

    package func push(_ link: ServiceLinkClient<Caller.Join>, method: UInt32, body: UnsafeRawBufferPointer) {}
}
