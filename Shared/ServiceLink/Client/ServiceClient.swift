package import Logging
package import RTMModel
package import RTMWire

/// A typed client of one service: it sends calls as requests, and hands what comes back to its caller. Here
/// stands what all such clients have in common; a client adds its calls and decodes their answers.
///
/// It is confined to its link's event loop.
package protocol ServiceClient: ServiceLinkClientDelegate {
    /// Who calls the service and receives from it.
    associatedtype Caller: AnyObject

    var calls: ServiceCalls<Context, Caller> { get }
}

extension ServiceClient {
    @inlinable package var isUp: Bool { calls.link.isUp }

    package var address: ServiceLinkAddress { calls.link.address }

    package func start(caller: Caller) {
        calls.caller = caller
        calls.link.start(delegate: self)
    }

    package func shutdown() { calls.link.shutdown() }

    package func linkRetired(_ link: ServiceLinkClient<Context>) { calls.caller = nil }

    /// A service that isn't expected to push is not listened to.
    package func push(_ link: ServiceLinkClient<Context>, method: UInt32, body: UnsafeRawBufferPointer) {}
}

/// The calls of one client to its service: the link that carries them, how long each may take, and who
/// receives of their answers.
///
/// What the message path needs is inlinable, because the compiler doesn't specialise generic code of another
/// module.
package final class ServiceCalls<Call, Caller: AnyObject> {
    package let link: ServiceLinkClient<Call>
    package let timeout: Duration
    package let arena = DecodeArena()
    /// The caller is held from the start to the end of the link. A weak reference would make each of its
    /// retains slow.
    package fileprivate(set) var caller: Caller?

    /// - Parameters:
    ///   - node: the name of this process, for the service's log.
    ///   - timeout: how long every call may take.
    package init(
        of service: String, to address: ServiceLinkAddress, _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        var configuration = ServiceLinkClientConfiguration(service: service, node: node)
        configuration.link = link
        self.link = ServiceLinkClient(configuration, to: address, endOfTurn: endOfTurn, logger: logger)
        self.timeout = timeout
    }

    /// Sends a call. Throws, without having sent anything, when the link is down or has too many open
    /// requests.
    @inlinable
    package func send(_ method: UInt32, _ body: some WireEncodable, _ call: Call) throws(RTMError) {
        try link.request(method, body, timeout: timeout, context: call)
    }

    /// Sends a call, and returns why it failed if it was not sent.
    @inlinable
    package func refusal(
        sending method: UInt32, _ body: some WireEncodable, _ call: Call
    ) -> ServiceLinkRequestFailure? {
        do throws(RTMError) {
            try link.request(method, body, timeout: timeout, context: call)
            return nil
        } catch {
            return .refused(error)
        }
    }
}
