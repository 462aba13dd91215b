package import Logging
package import RTMModel
package import RTMWire

/// A typed client of one service: it sends calls as requests, and hands what comes back to its caller. Here
/// stands what all such clients have in common; a client adds its calls and decodes their answers.
///
/// It is confined to its link's event loop.
package protocol ServiceClient: ServiceLinkClientDelegate {
    var calls: ServiceCalls { get }
}

extension ServiceClient {
    package var isUp: Bool { calls.link.isUp }

    package var address: ServiceLinkAddress { calls.link.address }

    package func shutdown() { calls.link.shutdown() }

    /// A service that isn't expected to push is not listened to.
    package func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {}
}

/// The calls of one client to its service: the link that carries them, and how long each may take.
package final class ServiceCalls {
    package let link: ServiceLinkClient
    package let timeout: Duration
    package let arena = DecodeArena()

    /// - Parameters:
    ///   - addresses: the addresses of the service's nodes, of which any will do.
    ///   - node: the name of this process, for the service's log.
    ///   - timeout: how long every call may take.
    package init(
        of service: String, toAnyOf addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration,
        node: String, timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        var configuration = ServiceLinkClientConfiguration(service: service, node: node)
        configuration.link = link
        self.link = ServiceLinkClient(
            configuration, toAnyOf: addresses, endOfTurn: endOfTurn, logger: logger)
        self.timeout = timeout
    }

    /// Calls the service. `done` is called exactly once: from within this call if nothing was sent, because
    /// the link is down or has too many open requests. Views in the response are valid during the call of
    /// `done`.
    package func call<Request, Response: ArenaDecodable>(
        _ method: ServiceMethod<Request, Response>, _ request: Request,
        _ done: @escaping (ServiceLinkResult<Response>) -> Void
    ) {
        do throws(RTMError) {
            try link.call(method.number, request, timeout: timeout) { [self] outcome in
                done(outcome.result { try Response($0, in: arena) })
            }
        } catch {
            done(.failure(.refused(error)))
        }
    }

    /// Sends a call. Throws, without having sent anything, when the link is down or has too many open
    /// requests.
    package func send<Request, Response>(
        _ method: ServiceMethod<Request, Response>, _ body: Request, context: Int = 0
    ) throws(RTMError) {
        try link.request(method.number, body, timeout: timeout, context: context)
    }

    /// Sends a call, and returns why it failed if it was not sent.
    package func refusal<Request, Response>(
        sending method: ServiceMethod<Request, Response>, _ body: Request, context: Int
    ) -> ServiceLinkRequestFailure? {
        do throws(RTMError) {
            try send(method, body, context: context)
            return nil
        } catch {
            return .refused(error)
        }
    }
}
