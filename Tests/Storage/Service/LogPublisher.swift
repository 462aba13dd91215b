import Logging
import NIOCore
import RTMModel
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

/// Publishes to channels at messaging, as an edge does.
final class LogPublisher: Sendable {
    private let loop: any EventLoop
    private let end: NIOLoopBound<End>

    private init(loop: any EventLoop, end: NIOLoopBound<End>) {
        self.loop = loop
        self.end = end
    }

    static func connected(to address: ServiceLinkAddress, on loop: any EventLoop) async throws -> LogPublisher
    {
        let isUp = Shared(false)
        let end = try await loop.submit {
            let link = ServiceLinkClient(
                ServiceLinkClientConfiguration(service: "messaging", node: "test"), to: address,
                endOfTurn: EndOfTurn.shared(on: loop),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            let end = End(link, isUp)
            link.start(delegate: end)
            return NIOLoopBound(end, eventLoop: loop)
        }.get()
        try await eventually("the link to messaging is up") { isUp.present }
        return LogPublisher(loop: loop, end: end)
    }

    func close() async throws { try await loop.submit { self.end.value.link.shutdown() }.get() }

    /// Returns when the message is acknowledged.
    func publish(_ text: String, to channel: ChannelKey) async throws {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { self.end.value.publish(text, to: channel, continuation) }
        }
    }

    private final class End: ServiceLinkClientDelegate {
        let link: ServiceLinkClient
        private let isUp: Shared<Bool>
        private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        private var last = 0

        init(_ link: ServiceLinkClient, _ isUp: Shared<Bool>) {
            self.link = link
            self.isUp = isUp
        }

        func publish(
            _ text: String, to channel: ChannelKey, _ continuation: CheckedContinuation<Void, any Error>
        ) {
            last += 1
            waiting[last] = continuation
            var run = ByteBuffer()
            text.withWireText {
                MessageRun.append(MessageView(type: .text, payload: $0, customType: .empty), to: &run)
            }
            let context = last
            channel.withView { view in
                run.withUnsafeReadableBytes { bytes in
                    do {
                        try link.request(
                            MessagingMethod.publish.number,
                            PublishRequest(
                                appID: view.appID, channelType: view.type, channel: view.name,
                                publisher: .empty, publisherSession: 0, needsReceiver: false,
                                messages: MessageRun(bytes, count: 1)),
                            timeout: .seconds(10), context: context)
                    } catch {
                        waiting.removeValue(forKey: context)?.resume(throwing: error)
                    }
                }
            }
        }

        func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) { isUp.withLock { $0 = true } }
        func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {}
        func linkRetired(_ link: ServiceLinkClient) {}
        func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {}

        func response(
            _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
        ) {
            let continuation = waiting.removeValue(forKey: context)
            if case .success = outcome { return continuation?.resume() ?? () }
            continuation?.resume(throwing: ServiceLinkRequestFailure.disconnected)
        }
    }
}
