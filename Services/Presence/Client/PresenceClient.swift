package import Logging
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls presence and hears from it. All calls come on the link's event loop.
package protocol PresenceCaller: AnyObject {
    /// What the caller remembers of a join until its answer.
    associatedtype Join
    /// What the caller remembers of a client's call until its answer.
    associatedtype Call

    func presenceIsUp()
    /// The link comes back by itself. What was pushed lately may not have arrived.
    func presenceIsDown(_ reason: ServiceLinkDownReason)
    /// The response's frames are valid during the call.
    func presenceJoined(_ join: Join, _ outcome: Result<JoinResponse, ServiceLinkRequestFailure>)
    /// The response is valid during the call.
    func presenceCalled(_ call: Call, _ outcome: Result<CallResponse, ServiceLinkRequestFailure>)
    /// A part of a channel's snapshot. The response's frames are valid during the call.
    func presenceRoster(_ channel: ChannelKey, _ outcome: Result<RosterResponse, ServiceLinkRequestFailure>)
    func presenceLeased(_ outcome: Result<LeaseResponse, ServiceLinkRequestFailure>)
    func presenceSynced(_ outcome: Result<SyncResponse, ServiceLinkRequestFailure>)
}

/// Typed calls to presence over one link: every call has exactly one outcome. Confined to the link's event
/// loop.
package final class PresenceClient<Caller: PresenceCaller> {
    package enum Open {
        case join(Caller.Join)
        case call(Caller.Call)
        case roster(ChannelKey)
        case lease
        case sync
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
        var configuration = ServiceLinkClientConfiguration(service: "presence", node: node)
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

    package func join(_ request: JoinRequest, context: Caller.Join) {
        do throws(RTMError) {
            try link.request(PresenceMethod.join, request, timeout: timeout, context: .join(context))
        } catch {
            caller?.presenceJoined(context, .failure(.refused(error)))
        }
    }

    package func call(_ request: CallRequest, context: Caller.Call) {
        do throws(RTMError) {
            try link.request(PresenceMethod.call, request, timeout: timeout, context: .call(context))
        } catch {
            caller?.presenceCalled(context, .failure(.refused(error)))
        }
    }

    package func roster(_ request: RosterRequest) {
        do throws(RTMError) {
            try link.request(
                PresenceMethod.roster, request, timeout: timeout, context: .roster(request.channel))
        } catch {
            caller?.presenceRoster(request.channel, .failure(.refused(error)))
        }
    }

    /// Throws, without having sent anything, when the link is down or has too many open requests.
    package func lease(_ request: LeaseRequest) throws(RTMError) {
        try link.request(PresenceMethod.lease, request, timeout: timeout, context: .lease)
    }

    /// As `lease`.
    package func sync(_ request: SyncRequest) throws(RTMError) {
        try link.request(PresenceMethod.sync, request, timeout: timeout, context: .sync)
    }

    /// Without an answer. False: the link is down, it was not sent.
    package func leave(_ push: LeavePush) -> Bool { link.push(PresenceMethod.leave, push) }

    /// As `leave`.
    package func sessionEnded(_ push: SessionEndedPush) -> Bool {
        link.push(PresenceMethod.sessionEnded, push)
    }
}

extension PresenceClient: ServiceLinkClientDelegate {
    package func linkUp(_ link: ServiceLinkClient<Open>, peer: ServiceLinkPeer) { caller?.presenceIsUp() }

    package func linkDown(_ link: ServiceLinkClient<Open>, _ reason: ServiceLinkDownReason) {
        caller?.presenceIsDown(reason)
    }

    package func response(_ link: ServiceLinkClient<Open>, _ context: Open, _ outcome: ServiceLinkOutcome) {
        switch context {
        case .join(let join):
            caller?.presenceJoined(join, outcome.result { try JoinResponse($0, in: arena) })
        case .call(let call):
            caller?.presenceCalled(call, outcome.result { try CallResponse($0, in: arena) })
        case .roster(let channel):
            caller?.presenceRoster(channel, outcome.result { try RosterResponse($0, in: arena) })
        case .lease:
            caller?.presenceLeased(outcome.result { try LeaseResponse($0, in: arena) })
        case .sync:
            caller?.presenceSynced(outcome.result { _ in SyncResponse() })
        }
    }

    package func linkRetired(_ link: ServiceLinkClient<Open>) { caller = nil }

    package func push(_ link: ServiceLinkClient<Open>, method: UInt32, body: UnsafeRawBufferPointer) {}
}
