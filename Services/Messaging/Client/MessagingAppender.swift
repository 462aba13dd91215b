package import Logging
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// A service whose events become entries of channel logs. All calls come on the link's event loop.
package protocol AppendCaller: AnyObject {
    /// What the caller remembers of an append until its answer.
    associatedtype Append

    /// Messaging can be called.
    func messagingIsUp()
    /// Messaging can't be called; the link comes back by itself. Open appends have been answered before: they
    /// may have been done, so they are to be repeated with the same source and sequence.
    func messagingIsDown(_ reason: ServiceLinkDownReason)
    func messagingAppended(_ append: Append, _ outcome: Result<AppendResponse, ServiceLinkRequestFailure>)
}

/// Appends events to channel logs over one link: every append has exactly one outcome, never from within the
/// call. Confined to the link's event loop.
///
/// For presence and storage; edges publish and attach with `MessagingClient`.
package final class MessagingAppender<Caller: AppendCaller> {
    private let link: ServiceLinkClient<Caller.Append>
    private let timeout: Duration
    private let arena = DecodeArena()
    /// Held from the start to the end of the link.
    private var caller: Caller?

    /// - Parameters:
    ///   - node: the service's name, for messaging's log.
    ///   - timeout: of every append.
    package init(
        to address: ServiceLinkAddress, _ link: ServiceLinkConfiguration, node: String, timeout: Duration,
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        var configuration = ServiceLinkClientConfiguration(service: "messaging", node: node)
        configuration.link = link
        self.link = ServiceLinkClient(configuration, to: address, endOfTurn: endOfTurn, logger: logger)
        self.timeout = timeout
    }

    package var isUp: Bool { link.isUp }
    package var address: ServiceLinkAddress { link.address }
    /// Appends without an answer yet.
    package var openAppends: Int { link.openRequests }

    package func start(caller: Caller) {
        self.caller = caller
        link.start(delegate: self)
    }

    package func shutdown() { link.shutdown() }

    /// Throws, without having sent anything, when the link is down or has too many open requests.
    package func append(_ request: AppendRequest, context: Caller.Append) throws(RTMError) {
        try link.request(MessagingMethod.append, request, timeout: timeout, context: context)
    }
}

extension MessagingAppender: ServiceLinkClientDelegate {
    package func linkUp(_ link: ServiceLinkClient<Caller.Append>, peer: ServiceLinkPeer) {
        caller?.messagingIsUp()
    }

    package func linkDown(_ link: ServiceLinkClient<Caller.Append>, _ reason: ServiceLinkDownReason) {
        caller?.messagingIsDown(reason)
    }

    package func response(
        _ link: ServiceLinkClient<Caller.Append>, _ context: Caller.Append, _ outcome: ServiceLinkOutcome
    ) {
        caller?.messagingAppended(context, outcome.result { try AppendResponse($0, in: arena) })
    }

    package func linkRetired(_ link: ServiceLinkClient<Caller.Append>) { caller = nil }

    package func push(_ link: ServiceLinkClient<Caller.Append>, method: UInt32, body: UnsafeRawBufferPointer)
    {}
}
