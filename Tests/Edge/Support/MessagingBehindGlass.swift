import NIOCore
import RTMMessagingServer
import RTMModel
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

    /// How many events of presence were appended.
    private var appended: UInt64 = 0

    /// Appends what presence announces to a channel's log. Nobody waits for the answer.
    func append(_ event: PresenceEvent, to channel: ChannelKey) {
        guard let link = links.values.first else { return }
        appended += 1
        var run = ByteBuffer()
        event.eventField.withUnsafeReadableBytes { bytes in
            EventRun.append(
                AppendedEvent(
                    publisher: .empty, publisherSession: 0, feature: .presence, event: WireText(bytes),
                    sequence: appended), to: &run)
        }
        run.withUnsafeReadableBytes { run in
            let request = AppendRequest(channel: channel, source: 1, events: EventRun(run))
            var body = ByteBuffer()
            request.encode(into: &body, length: request.encodedLength)
            body.withUnsafeReadableBytes {
                node.request(
                    .max, method: MessagingMethod.append.number, timeout: .seconds(1), body: $0, from: link)
            }
        }
    }

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
