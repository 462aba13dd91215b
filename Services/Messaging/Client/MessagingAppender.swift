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
    /// Messaging can't be called until the link comes back, which it does by itself. Open appends have been
    /// answered before. They may have been done, so the caller repeats them with the same source and
    /// sequence.
    func messagingIsDown(_ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func messagingIsUnreachable(_ reason: ServiceLinkDownReason)
    func messagingAppended(_ append: Append, _ outcome: Result<AppendResponse, ServiceLinkRequestFailure>)
}

extension AppendCaller {
    package func messagingIsUnreachable(_ reason: ServiceLinkDownReason) {}
}

/// Appends events to channel logs over one link. Every append has exactly one outcome, which never comes from
/// within the call.
///
/// Presence and storage use it; edges publish and attach with `MessagingClient`.
package final class MessagingAppender<Caller: AppendCaller>: ServiceClient {
    package let calls: ServiceCalls<Caller.Append, Caller>

    /// - Parameters:
    ///   - node: the name of this process, for messaging's log.
    ///   - timeout: how long every append may take.
    package init(
        to address: ServiceLinkAddress, _ link: ServiceLinkConfiguration, node: String, timeout: Duration,
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        calls = ServiceCalls(
            of: "messaging", to: address, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    /// How many appends have no answer yet.
    package var openAppends: Int { calls.link.openRequests }

    /// Throws, without having sent anything, when the link is down or has too many open requests.
    package func append(_ request: AppendRequest, context: Caller.Append) throws(RTMError) {
        try calls.send(MessagingMethod.append, request, context)
    }

    // MARK: - What comes back

    package func linkUp(_ link: ServiceLinkClient<Caller.Append>, peer: ServiceLinkPeer) {
        calls.caller?.messagingIsUp()
    }

    package func linkDown(_ link: ServiceLinkClient<Caller.Append>, _ reason: ServiceLinkDownReason) {
        calls.caller?.messagingIsDown(reason)
    }

    package func linkUnreachable(
        _ link: ServiceLinkClient<Caller.Append>, _ reason: ServiceLinkDownReason
    ) {
        calls.caller?.messagingIsUnreachable(reason)
    }

    package func response(
        _ link: ServiceLinkClient<Caller.Append>, _ context: Caller.Append, _ outcome: ServiceLinkOutcome
    ) {
        calls.caller?.messagingAppended(
            context, outcome.result { try AppendResponse($0, in: calls.arena) })
    }
}
