import Logging
import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceLink
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Synchronization
import Testing

/// A subscriber of channels at messaging, which writes down what arrives.
final class LogReader: Sendable {
    private let loop: any EventLoop
    private let end: NIOLoopBound<End>
    private let received = Mutex<[Rtm_Client_Publication]>([])
    private let answered = Mutex(0)

    private init(loop: any EventLoop, end: NIOLoopBound<End>) {
        self.loop = loop
        self.end = end
    }

    static func attached(
        to channels: [ChannelKey], at address: ServiceLinkAddress, on loop: any EventLoop
    ) async throws -> LogReader {
        let end = try await loop.submit {
            let configuration = ServiceLinkClientConfiguration(service: "messaging", node: "test")
            let link = ServiceLinkClient(
                configuration, to: address, endOfTurn: EndOfTurn.shared(on: loop),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            return NIOLoopBound(End(link, channels), eventLoop: loop)
        }.get()
        let reader = LogReader(loop: loop, end: end)
        try await loop.submit {
            end.value.reader = reader
            end.value.link.start(delegate: end.value)
        }.get()
        try await eventually("attached") { reader.answered.withLock { $0 } >= channels.count }
        return reader
    }

    func close() async throws { try await loop.submit { self.end.value.link.shutdown() }.get() }

    var publications: [Rtm_Client_Publication] { received.withLock { $0 } }
    var storageEvents: [Rtm_Client_StorageEvent] {
        publications.compactMap { if case .storage(let event)? = $0.event { event } else { nil } }
    }
    /// The payloads of messages.
    var messages: [String] {
        publications.compactMap {
            if case .message(let message)? = $0.event {
                String(decoding: message.payload, as: UTF8.self)
            } else {
                nil
            }
        }
    }
    var lockEvents: [Rtm_Client_LockEvent] {
        publications.compactMap { if case .lock(let event)? = $0.event { event } else { nil } }
    }

    private final class End: ServiceLinkClientDelegate {
        let link: ServiceLinkClient
        let channels: [ChannelKey]
        var reader: LogReader?

        init(_ link: ServiceLinkClient, _ channels: [ChannelKey]) {
            self.link = link
            self.channels = channels
        }

        func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) {
            for (number, channel) in channels.enumerated() {
                try? link.request(
                    MessagingMethod.attach.number,
                    AttachRequest(channel: channel, interest: UInt64(number + 1), after: nil),
                    timeout: .seconds(10), context: number)
            }
        }

        func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {}

        func response(
            _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
        ) {
            reader?.answered.withLock { $0 += 1 }
        }

        func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
            guard let delivery = try? DeliveryPush(scanning: body),
                let found = try? frames(Array(delivery.frames.bytes))
            else { return }
            reader?.received.withLock { $0 += found.map(\.publication) }
        }

        func linkRetired(_ link: ServiceLinkClient) { reader = nil }
    }
}
