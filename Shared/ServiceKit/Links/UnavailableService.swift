package import RTMModel
internal import RTMServiceLink

/// A service that is there, but can't do anything yet: it starts, is healthy, accepts links, and answers
/// every request with one refusal.
package enum UnavailableService {
    package static func definition(
        name: String, summary: String, keys: [KeyDeclaration],
        place: @escaping @Sendable (Configuration) -> LinkPlace, refusal: RTMError
    ) -> ServiceDefinition {
        ServiceDefinition(name: name, summary: summary, keys: keys + [LinkKeys.secret.declaration]) {
            context in
            var configuration = ServiceLinkServerConfiguration(service: name)
            configuration.link = LinkConfiguration(context.configuration)
            let server = ServiceLinkServer(
                configuration, links: context.eventLoopGroup, logger: context.logger
            ) { _ in RefusingHandler(refusal: refusal) }
            return Assembly([LinkListener(server, at: place(context.configuration))])
        }
    }
}

private final class RefusingHandler: ServiceLinkHandler {
    private let refusal: RTMError

    init(refusal: RTMError) { self.refusal = refusal }

    func linkOpened(_ link: ServerLink) {}

    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer, from link: ServerLink
    ) {
        link.fail(id, refusal)
    }

    func push(method: UInt32, body: UnsafeRawBufferPointer, from link: ServerLink) {}

    func linkClosed(_ link: ServerLink, _ reason: LinkDownReason) {}
}
