package import Logging
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls presence. All calls come on the link's event loop.
package protocol PresenceCaller: AnyObject {
    func presenceIsUp()
    /// Presence can't be called until the link comes back, which it does by itself. The latest pushes may not
    /// have arrived.
    func presenceIsDown(_ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func presenceIsUnreachable(_ reason: ServiceLinkDownReason)
}

/// A caller that has sessions. What its clients ask has a context, the number that the caller gave it,
/// instead of a closure.
package protocol PresenceEdge: PresenceCaller {
    /// The response's frames are valid during the call.
    func presenceJoined(_ context: Int, _ outcome: ServiceLinkResult<JoinResponse>)
    /// The response is valid during the call.
    func presenceCalled(_ context: Int, _ outcome: ServiceLinkResult<CallResponse>)
    /// A part of a channel's snapshot. The response's frames are valid during the call.
    func presenceRoster(_ channel: ChannelKey, _ outcome: ServiceLinkResult<RosterResponse>)
    func presenceLeased(_ outcome: ServiceLinkResult<LeaseResponse>)
    func presenceSynced(_ outcome: ServiceLinkResult<SyncResponse>)
}

/// Typed calls to presence over one link. Every call has exactly one outcome.
package final class PresenceClient: ServiceClient {
    package let calls: ServiceCalls
    /// The caller is held from the start to the end of the link. A weak reference would make each of its
    /// retains slow.
    private var caller: (any PresenceCaller)?
    /// The caller, if it has sessions.
    private var edge: (any PresenceEdge)?
    private var rosters = RequestContexts<ChannelKey>()

    /// - Parameters:
    ///   - addresses: of nodes that share their rosters; the link is to one of them.
    ///   - timeout: how long every call may take.
    package init(
        toAnyOf addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        calls = ServiceCalls(
            of: "presence", toAnyOf: addresses, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    package func start(caller: any PresenceCaller) {
        self.caller = caller
        edge = caller as? any PresenceEdge
        calls.link.start(delegate: self)
    }

    package func join(_ request: JoinRequest, context: Int) {
        if let failure = calls.refusal(sending: PresenceMethod.join, request, context: context) {
            edge?.presenceJoined(context, .failure(failure))
        }
    }

    package func call(_ request: CallRequest, context: Int) {
        if let failure = calls.refusal(sending: PresenceMethod.call, request, context: context) {
            edge?.presenceCalled(context, .failure(failure))
        }
    }

    package func roster(_ request: RosterRequest) {
        let context = rosters.insert(request.channel)
        if let failure = calls.refusal(sending: PresenceMethod.roster, request, context: context) {
            edge?.presenceRoster(rosters.remove(context), .failure(failure))
        }
    }

    /// Throws, without having sent anything, when the link is down or has too many open requests.
    package func lease(_ request: LeaseRequest) throws(RTMError) {
        try calls.send(PresenceMethod.lease, request)
    }

    /// Throws as `lease` does.
    package func sync(_ request: SyncRequest) throws(RTMError) {
        try calls.send(PresenceMethod.sync, request)
    }

    /// Has no answer. False if the link is down: then it was not sent.
    package func leave(_ push: LeavePush) -> Bool { calls.link.push(PresenceMethod.leave, push) }

    /// Has no answer. False if the link is down: then it was not sent.
    package func sessionEnded(_ push: SessionEndedPush) -> Bool {
        calls.link.push(PresenceMethod.sessionEnded, push)
    }

    // MARK: - What comes back

    package func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) {
        caller?.presenceIsUp()
    }

    package func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        caller?.presenceIsDown(reason)
    }

    package func linkUnreachable(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        caller?.presenceIsUnreachable(reason)
    }

    package func linkRetired(_ link: ServiceLinkClient) { (caller, edge) = (nil, nil) }

    package func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        switch method {
        case PresenceMethod.join:
            edge?.presenceJoined(context, outcome.result { try JoinResponse($0, in: calls.arena) })
        case PresenceMethod.call:
            edge?.presenceCalled(context, outcome.result { try CallResponse($0, in: calls.arena) })
        case PresenceMethod.roster:
            let channel = rosters.remove(context)
            edge?.presenceRoster(channel, outcome.result { try RosterResponse($0, in: calls.arena) })
        case PresenceMethod.lease:
            edge?.presenceLeased(outcome.result { try LeaseResponse($0, in: calls.arena) })
        case PresenceMethod.sync:
            edge?.presenceSynced(outcome.result { try SyncResponse($0, in: calls.arena) })
        default: break
        }
    }
}
