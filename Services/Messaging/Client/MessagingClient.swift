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
    /// Messaging can't be called; the link comes back by itself.
    func messagingIsDown(_ reason: ServiceLinkDownReason)
    /// An entry of an attached log. Between attachment and detachment each comes once, in order. Valid during
    /// the call.
    func messagingDelivered(_ delivery: DeliveryPush)
    /// An exclusive interest has lost its place to a newer one; nothing more comes for it.
    ///
    /// - Parameter holder: who has it now; 0 when that isn't known.
    func messagingSuperseded(_ interest: UInt64, by holder: UInt64)
    func messagingAttached(_ interest: UInt64, _ outcome: Result<AttachResponse, ServiceLinkRequestFailure>)
    func messagingPublished(_ publish: Publish, _ outcome: Result<PublishResponse, ServiceLinkRequestFailure>)
    /// The response's frames are valid during the call.
    func messagingRead(_ read: Read, _ outcome: Result<ReadResponse, ServiceLinkRequestFailure>)
}

/// Typed calls to messaging over one link: every call has exactly one outcome. Confined to the link's event
/// loop.
package final class MessagingClient<Caller: MessagingCaller> {
    package enum Call {
        case attach(interest: UInt64)
        case publish(Caller.Publish)
        case read(Caller.Read)
    }

    private let link: ServiceLinkClient<Call>
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
        var configuration = ServiceLinkClientConfiguration(service: "messaging", node: node)
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

    package func attach(_ request: AttachRequest) {
        do throws(RTMError) {
            try link.request(
                MessagingMethod.attach, request, timeout: timeout,
                context: .attach(interest: request.interest))
        } catch {
            caller?.messagingAttached(request.interest, .failure(.refused(error)))
        }
    }

    /// Needs no answer: when the link is down, the attachment is gone with it.
    package func detach(_ push: DetachPush) { link.push(MessagingMethod.detach, push) }

    package func publish(_ request: PublishRequest, context: Caller.Publish) {
        do throws(RTMError) {
            try link.request(MessagingMethod.publish, request, timeout: timeout, context: .publish(context))
        } catch {
            caller?.messagingPublished(context, .failure(.refused(error)))
        }
    }

    package func read(_ request: ReadRequest, context: Caller.Read) {
        do throws(RTMError) {
            try link.request(MessagingMethod.read, request, timeout: timeout, context: .read(context))
        } catch {
            caller?.messagingRead(context, .failure(.refused(error)))
        }
    }
}

extension MessagingClient: ServiceLinkClientDelegate {
    package func linkUp(_ link: ServiceLinkClient<Call>, peer: ServiceLinkPeer) { caller?.messagingIsUp() }

    package func linkDown(_ link: ServiceLinkClient<Call>, _ reason: ServiceLinkDownReason) {
        caller?.messagingIsDown(reason)
    }

    package func response(_ link: ServiceLinkClient<Call>, _ context: Call, _ outcome: ServiceLinkOutcome) {
        switch context {
        case .attach(let interest):
            caller?.messagingAttached(interest, outcome.result { try AttachResponse($0, in: arena) })
        case .publish(let publish):
            caller?.messagingPublished(publish, outcome.result { try PublishResponse(scanning: $0) })
        case .read(let read):
            caller?.messagingRead(read, outcome.result { try ReadResponse($0, in: arena) })
        }
    }

    package func linkRetired(_ link: ServiceLinkClient<Call>) { caller = nil }

    package func push(_ link: ServiceLinkClient<Call>, method: UInt32, body: UnsafeRawBufferPointer) {
        switch method {
        case MessagingMethod.delivery:
            guard let delivery = try? DeliveryPush(scanning: body) else { return }
            caller?.messagingDelivered(delivery)
        case MessagingMethod.superseded:
            guard let superseded = try? SupersededPush(body, in: arena) else { return }
            caller?.messagingSuperseded(superseded.interest, by: superseded.holder)
        default:
            break
        }
    }
}
