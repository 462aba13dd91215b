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

    /// Messaging can be called. All attachments from before are gone.
    func messagingIsUp()
    /// Messaging can't be called until it is up again, which comes by itself.
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

/// Typed calls to the messaging node that leads. Every call has exactly one outcome.
package final class MessagingClient<Caller: MessagingCaller> {
    package enum Call {
        case attach(interest: UInt64)
        case publish(Caller.Publish)
        case read(Caller.Read)
    }

    package let links: MessagingLinks<Call>
    /// The caller is held from the start to the end of the links. A weak reference would make each of its
    /// retains slow.
    private var caller: Caller?

    /// - Parameter timeout: how long every call may take.
    package init(
        to addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        links = MessagingLinks(
            to: addresses, link, node: node, timeout: timeout, endOfTurn: endOfTurn, logger: logger)
    }

    @inlinable package var isUp: Bool { links.isUp }
    package var addresses: String { links.addresses }

    package func start(caller: Caller) {
        self.caller = caller
        links.start(delegate: self)
    }

    package func shutdown() { links.shutdown() }

    package func attach(_ request: AttachRequest) {
        let interest = request.interest
        do throws(RTMError) {
            try links.request(MessagingMethod.attach, request, .attach(interest: interest))
        } catch {
            caller?.messagingAttached(interest, .failure(.refused(error)))
        }
    }

    /// Has no answer. If the link is down, the attachment is gone with it.
    package func detach(_ push: DetachPush) { links.leader?.push(MessagingMethod.detach, push) }

    package func publish(_ request: PublishRequest, context: Caller.Publish) {
        do throws(RTMError) {
            try links.request(MessagingMethod.publish, request, .publish(context))
        } catch {
            caller?.messagingPublished(context, .failure(.refused(error)))
        }
    }

    package func read(_ request: ReadRequest, context: Caller.Read) {
        do throws(RTMError) {
            try links.request(MessagingMethod.read, request, .read(context))
        } catch {
            caller?.messagingRead(context, .failure(.refused(error)))
        }
    }
}

// MARK: - What comes back

extension MessagingClient: ServiceLinkClientDelegate {
    /// A node that is there may not lead.
    package func linkUp(_ link: ServiceLinkClient<Call>, peer: ServiceLinkPeer) {}

    package func linkDown(_ link: ServiceLinkClient<Call>, _ reason: ServiceLinkDownReason) {
        change(links.lost(link), reason)
    }

    private func change(_ change: MessagingLinks<Call>.Change, _ reason: ServiceLinkDownReason?) {
        if change == .down || change == .replaced { caller?.messagingIsDown(reason ?? .shutDown) }
        if change == .up || change == .replaced { caller?.messagingIsUp() }
    }

    package func linkUnreachable(_ link: ServiceLinkClient<Call>, _ reason: ServiceLinkDownReason) {
        if links.leader == nil { caller?.messagingIsUnreachable(reason) }
    }

    package func linkRetired(_ link: ServiceLinkClient<Call>) {
        if links.all.allSatisfy({ $0.downReason == .shutDown }) { caller = nil }
    }

    package func response(_ link: ServiceLinkClient<Call>, _ context: Call, _ outcome: ServiceLinkOutcome) {
        switch context {
        case .attach(let interest):
            caller?.messagingAttached(
                interest, outcome.result { try AttachResponse($0, in: links.arena) })
        case .publish(let publish):
            caller?.messagingPublished(publish, outcome.result { try PublishResponse(scanning: $0) })
        case .read(let read):
            caller?.messagingRead(read, outcome.result { try ReadResponse($0, in: links.arena) })
        }
    }

    package func push(_ link: ServiceLinkClient<Call>, method: UInt32, body: UnsafeRawBufferPointer) {
        switch method {
        case MessagingMethod.delivery:
            guard link === links.leader, let delivery = try? DeliveryPush(scanning: body) else { return }
            caller?.messagingDelivered(delivery)
        case MessagingMethod.skip:
            guard link === links.leader, let skip = try? SkipPush(body, in: links.arena) else { return }
            caller?.messagingSkipped(skip)
        case MessagingMethod.superseded:
            guard link === links.leader, let superseded = try? SupersededPush(body, in: links.arena) else {
                return
            }
            caller?.messagingSuperseded(superseded.interest, by: superseded.holder)
        case MessagingMethod.lead:
            guard let lead = try? LeadPush(body, in: links.arena) else { return }
            change(links.heard(lead, from: link), nil)
        default:
            break
        }
    }
}
