import RTMMessagingServer
import RTMWire

@testable import RTMServiceLink

/// A real messaging node that can be made deaf to some requests, or lose its links, while it keeps its logs.
final class MessagingBehindGlass: ServiceLinkHandler {
    private let node: MessagingShard
    private var links: [UInt64: AcceptedServiceLink] = [:]
    /// What stays without an answer.
    var ignored: Set<UInt32> = []
    /// Is called before a request is received, with its method.
    var willReceive: (UInt32) -> Void = { _ in }

    init(_ node: MessagingShard) { self.node = node }

    func cutLinks() { for link in links.values { link.close() } }

    func linkOpened(_ link: AcceptedServiceLink) {
        links[link.id] = link
        node.linkOpened(link)
    }

    func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason) {
        links[link.id] = nil
        node.linkClosed(link, reason)
    }

    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink
    ) {
        guard !ignored.contains(method) else { return }
        willReceive(method)
        node.request(id, method: method, timeout: timeout, body: body, from: link)
    }

    func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink) {
        node.push(method: method, body: body, from: link)
    }
}
