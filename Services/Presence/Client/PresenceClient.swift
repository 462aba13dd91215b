package import Logging
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls presence and receives from it. All calls come on the link's event loop.
package protocol PresenceCaller: AnyObject {
    /// What the caller remembers of a join until its answer.
    associatedtype Join
    /// What the caller remembers of a client's call until its answer.
    associatedtype Call

    func presenceIsUp()
    /// Presence can't be called until the link comes back, which it does by itself. The latest pushes may not
    /// have arrived.
    func presenceIsDown(_ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func presenceIsUnreachable(_ reason: ServiceLinkDownReason)
    /// The response's frames are valid during the call.
    func presenceJoined(_ join: Join, _ outcome: Result<JoinResponse, ServiceLinkRequestFailure>)
    /// The response is valid during the call.
    func presenceCalled(_ call: Call, _ outcome: Result<CallResponse, ServiceLinkRequestFailure>)
    /// A part of a channel's snapshot. The response's frames are valid during the call.
    func presenceRoster(_ channel: ChannelKey, _ outcome: Result<RosterResponse, ServiceLinkRequestFailure>)
    func presenceLeased(_ outcome: Result<LeaseResponse, ServiceLinkRequestFailure>)
    func presenceSynced(_ outcome: Result<SyncResponse, ServiceLinkRequestFailure>)
}

extension PresenceCaller {
    package func presenceIsUnreachable(_ reason: ServiceLinkDownReason) {}
}

/// Typed calls to presence over one link. Every call has exactly one outcome.
package final class PresenceClient<Caller: PresenceCaller>: ServiceClient {
    package enum Open {
        case join(Caller.Join)
        case call(Caller.Call)
        case roster(ChannelKey)
        case lease
        case sync
    }

    package let calls: ServiceCalls<Open, Caller>

    /// - Parameter timeout: how long every call may take.
    package init(
        to address: ServiceLinkAddress, _ link: ServiceLinkConfiguration, node: String, timeout: Duration,
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        calls = ServiceCalls(
            of: "presence", to: address, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    package func join(_ request: JoinRequest, context: Caller.Join) {
        if let failure = calls.refusal(sending: PresenceMethod.join, request, .join(context)) {
            calls.caller?.presenceJoined(context, .failure(failure))
        }
    }

    package func call(_ request: CallRequest, context: Caller.Call) {
        if let failure = calls.refusal(sending: PresenceMethod.call, request, .call(context)) {
            calls.caller?.presenceCalled(context, .failure(failure))
        }
    }

    package func roster(_ request: RosterRequest) {
        let channel = request.channel
        if let failure = calls.refusal(sending: PresenceMethod.roster, request, .roster(channel)) {
            calls.caller?.presenceRoster(channel, .failure(failure))
        }
    }

    /// Throws, without having sent anything, when the link is down or has too many open requests.
    package func lease(_ request: LeaseRequest) throws(RTMError) {
        try calls.send(PresenceMethod.lease, request, .lease)
    }

    /// Throws as `lease` does.
    package func sync(_ request: SyncRequest) throws(RTMError) {
        try calls.send(PresenceMethod.sync, request, .sync)
    }

    /// Has no answer. False if the link is down: then it was not sent.
    package func leave(_ push: LeavePush) -> Bool { calls.link.push(PresenceMethod.leave, push) }

    /// Has no answer. False if the link is down: then it was not sent.
    package func sessionEnded(_ push: SessionEndedPush) -> Bool {
        calls.link.push(PresenceMethod.sessionEnded, push)
    }

    // MARK: - What comes back

    package func linkUp(_ link: ServiceLinkClient<Open>, peer: ServiceLinkPeer) {
        calls.caller?.presenceIsUp()
    }

    package func linkDown(_ link: ServiceLinkClient<Open>, _ reason: ServiceLinkDownReason) {
        calls.caller?.presenceIsDown(reason)
    }

    package func linkUnreachable(_ link: ServiceLinkClient<Open>, _ reason: ServiceLinkDownReason) {
        calls.caller?.presenceIsUnreachable(reason)
    }

    package func response(_ link: ServiceLinkClient<Open>, _ context: Open, _ outcome: ServiceLinkOutcome) {
        let caller = calls.caller
        switch context {
        case .join(let join):
            caller?.presenceJoined(join, outcome.result { try JoinResponse($0, in: calls.arena) })
        case .call(let call):
            caller?.presenceCalled(call, outcome.result { try CallResponse($0, in: calls.arena) })
        case .roster(let channel):
            caller?.presenceRoster(channel, outcome.result { try RosterResponse($0, in: calls.arena) })
        case .lease:
            caller?.presenceLeased(outcome.result { try LeaseResponse($0, in: calls.arena) })
        case .sync:
            caller?.presenceSynced(outcome.result { try SyncResponse($0, in: calls.arena) })
        }
    }
}
