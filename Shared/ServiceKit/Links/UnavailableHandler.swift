package import RTMModel
package import RTMServiceLink

/// Answers every request of a link with one refusal: a service that is there, but can't do anything (yet,
/// or at present).
package final class UnavailableHandler: ServiceLinkHandler {
    private let error: RTMError

    package init(error: RTMError) { self.error = error }

    package func linkOpened(_ link: ServerLink) {}

    package func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer, from link: ServerLink
    ) {
        link.fail(id, error)
    }

    package func push(method: UInt32, body: UnsafeRawBufferPointer, from link: ServerLink) {}

    package func linkClosed(_ link: ServerLink, _ reason: LinkDownReason) {}
}
