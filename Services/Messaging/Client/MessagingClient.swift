package import Logging
import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls messaging and hears from it. All calls come on the link's event loop.
package protocol MessagingCaller: AnyObject {
    /// What the caller remembers of a publish until its answer.
    associatedtype Publish
    /// What the caller remembers of a read until its answer.
    associatedtype Read

    /// Messaging can be called. All attachments of an earlier link are gone.
    func messagingIsUp()
    /// Messaging can't be called until the link comes back, which it does by itself.
    func messagingIsDown(_ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func messagingIsUnreachable(_ reason: ServiceLinkDownReason)
    /// Entries of an attached log. Between attachment and detachment each entry comes once, in order. The
    /// delivery is valid during the call.
    func messagingDelivered(_ delivery: DeliveryPush)
    /// Entries of an attached log are lost. Those that are left come next.
    func messagingSkipped(_ skip: SkipPush)
    /// An exclusive interest has lost its place to a newer one, and nothing more comes for it.
    ///
    /// - Parameter holder: the instance that holds it now; 0 if that isn't known.
    func messagingSuperseded(_ interest: UInt64, by holder: UInt64)
    func messagingAttached(_ interest: UInt64, _ outcome: Result<AttachResponse, ServiceLinkRequestFailure>)
    func messagingPublished(_ publish: Publish, _ outcome: Result<PublishResponse, ServiceLinkRequestFailure>)
    /// The response's frames are valid during the call.
    func messagingRead(_ read: Read, _ outcome: Result<ReadResponse, ServiceLinkRequestFailure>)
}

extension MessagingCaller {
    package func messagingIsUnreachable(_ reason: ServiceLinkDownReason) {}
}

/// Typed calls to messaging over one link. Every call has exactly one outcome.
package final class MessagingClient<Caller: MessagingCaller>: ServiceClient {
    package enum Call {
        case attach(interest: UInt64)
        case publish(Caller.Publish)
        case read(Caller.Read)
    }

    package let calls: ServiceCalls<Call, Caller>

    /// - Parameter timeout: how long every call may take.
    package init(
        to address: ServiceLinkAddress, _ link: ServiceLinkConfiguration, node: String, timeout: Duration,
        endOfTurn: EndOfTurn, logger: Logger
    ) {
        calls = ServiceCalls(
            of: "messaging", to: address, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    package func attach(_ request: AttachRequest) {
        let interest = request.interest
        if let failure = calls.refusal(
            sending: MessagingMethod.attach, request, .attach(interest: interest))
        {
            calls.caller?.messagingAttached(interest, .failure(failure))
        }
    }

    /// Has no answer. If the link is down, the attachment is gone with it.
    package func detach(_ push: DetachPush) { calls.link.push(MessagingMethod.detach, push) }

    package func publish(_ request: PublishRequest, context: Caller.Publish) {
        if let failure = calls.refusal(sending: MessagingMethod.publish, request, .publish(context)) {
            calls.caller?.messagingPublished(context, .failure(failure))
        }
    }

    package func read(_ request: ReadRequest, context: Caller.Read) {
        if let failure = calls.refusal(sending: MessagingMethod.read, request, .read(context)) {
            calls.caller?.messagingRead(context, .failure(failure))
        }
    }

    // MARK: - What comes back

    package func linkUp(_ link: ServiceLinkClient<Call>, peer: ServiceLinkPeer) {
        calls.caller?.messagingIsUp()
    }

    package func linkDown(_ link: ServiceLinkClient<Call>, _ reason: ServiceLinkDownReason) {
        calls.caller?.messagingIsDown(reason)
    }

    package func linkUnreachable(_ link: ServiceLinkClient<Call>, _ reason: ServiceLinkDownReason) {
        calls.caller?.messagingIsUnreachable(reason)
    }

    package func response(_ link: ServiceLinkClient<Call>, _ context: Call, _ outcome: ServiceLinkOutcome) {
        switch context {
        case .attach(let interest):
            calls.caller?.messagingAttached(
                interest, outcome.result { try AttachResponse($0, in: calls.arena) })
        case .publish(let publish):
            calls.caller?.messagingPublished(publish, outcome.result { try PublishResponse(scanning: $0) })
        case .read(let read):
            calls.caller?.messagingRead(read, outcome.result { try ReadResponse($0, in: calls.arena) })
        }
    }

    package func push(_ link: ServiceLinkClient<Call>, method: UInt32, body: UnsafeRawBufferPointer) {
        switch method {
        case MessagingMethod.delivery:
            guard let delivery = try? DeliveryPush(scanning: body) else { return }
            calls.caller?.messagingDelivered(delivery)
        case MessagingMethod.skip:
            guard let skip = try? SkipPush(body, in: calls.arena) else { return }
            calls.caller?.messagingSkipped(skip)
        case MessagingMethod.superseded:
            guard let superseded = try? SupersededPush(body, in: calls.arena) else { return }
            calls.caller?.messagingSuperseded(superseded.interest, by: superseded.holder)
        default:
            break
        }
    }
}
