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
    /// Messaging can't be called until it is up again, which comes by itself. Open appends have been
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

/// Appends events to the channel logs of the messaging node that leads. Every append has exactly one outcome,
/// which never comes from within the call.
///
/// Presence and storage use it; edges publish and attach with `MessagingClient`.
package final class MessagingAppender<Caller: AppendCaller> {
    private let links: MessagingLinks<Caller.Append>
    private var caller: Caller?

    /// - Parameters:
    ///   - node: the name of this process, for messaging's log.
    ///   - timeout: how long every append may take.
    package init(
        to addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        links = MessagingLinks(
            to: addresses, link, node: node, timeout: timeout, endOfTurn: endOfTurn, logger: logger)
    }

    package var isUp: Bool { links.isUp }
    package var addresses: String { links.addresses }
    /// How many appends have no answer yet.
    package var openAppends: Int { links.all.reduce(0) { $0 + $1.openRequests } }

    package func start(caller: Caller) {
        self.caller = caller
        links.start(delegate: self)
    }

    package func shutdown() { links.shutdown() }

    /// Throws, without having sent anything, when no node leads or too many requests are open.
    package func append(_ request: AppendRequest, context: Caller.Append) throws(RTMError) {
        try links.request(MessagingMethod.append, request, context)
    }
}

// MARK: - What comes back

extension MessagingAppender: ServiceLinkClientDelegate {
    /// A node that is there may not lead.
    package func linkUp(_ link: ServiceLinkClient<Caller.Append>, peer: ServiceLinkPeer) {}

    package func linkDown(_ link: ServiceLinkClient<Caller.Append>, _ reason: ServiceLinkDownReason) {
        change(links.lost(link), reason)
    }

    private func change(_ change: MessagingLinks<Caller.Append>.Change, _ reason: ServiceLinkDownReason?) {
        if change == .down || change == .replaced { caller?.messagingIsDown(reason ?? .shutDown) }
        if change == .up || change == .replaced { caller?.messagingIsUp() }
    }

    package func linkUnreachable(
        _ link: ServiceLinkClient<Caller.Append>, _ reason: ServiceLinkDownReason
    ) {
        if links.leader == nil { caller?.messagingIsUnreachable(reason) }
    }

    package func linkRetired(_ link: ServiceLinkClient<Caller.Append>) {
        if links.all.allSatisfy({ $0.downReason == .shutDown }) { caller = nil }
    }

    package func response(
        _ link: ServiceLinkClient<Caller.Append>, _ context: Caller.Append, _ outcome: ServiceLinkOutcome
    ) {
        caller?.messagingAppended(
            context, outcome.result { try AppendResponse($0, in: links.arena) })
    }

    package func push(
        _ link: ServiceLinkClient<Caller.Append>, method: UInt32, body: UnsafeRawBufferPointer
    ) {
        guard method == MessagingMethod.lead, let lead = try? LeadPush(body, in: links.arena) else { return }
        change(links.heard(lead, from: link), nil)
    }
}
