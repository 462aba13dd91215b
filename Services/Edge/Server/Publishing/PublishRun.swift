import NIOCore
import RTMModel
import RTMWire

/// The publishes of one session to one channel that arrived one behind the other in one read. They go to the
/// log as one request.
///
/// A fast publisher fills a read with many messages, and what a request costs (names, lookups, the way to
/// messaging and back) is then paid once. The order of a session's messages stays as it was, because a run
/// ends where anything else begins. The frames that the messages came in are gone after the read, so the
/// messages are copied here, into memory that every run of the loop uses again. That is why this is a class:
/// a value would be copied at each question.
final class PublishRun {
    /// A longer run is sent in pieces, so that one publisher's read doesn't become one large turn of the log.
    private static let countMax = 256
    private static let bytesMax = 64 * 1024

    private var publisher: Caller?
    private var firstRequestID: UInt64 = 0
    /// As the client named it; 0 = its instance.
    private var namedOrigin: UInt64 = 0
    /// The origin of the first publish.
    private var origin = PublishOrigin.none
    private(set) var type = ChannelType.none
    private var channel = ByteBuffer()
    private var messages = ByteBuffer()
    private var count = 0

    var isFull: Bool { count >= Self.countMax || messages.readableBytes >= Self.bytesMax }

    /// Whether the request follows the run's last one and goes to the same channel. A publish that is sent
    /// again never does, because the log may have it already.
    func continues(_ session: SessionID, _ request: ClientRequest.Publish, _ requestID: UInt64) -> Bool {
        guard count > 0, publisher?.session == session, requestID == firstRequestID &+ UInt64(count),
            request.channelType == type, !request.storeInHistory, request.againAfter == nil,
            origin.againAfter == nil, request.origin == namedOrigin,
            request.sequence == (origin.sequence == 0 ? 0 : origin.sequence &+ UInt64(count))
        else { return false }
        return channel.withUnsafeReadableBytes { name in
            name.count == request.channel.bytes.count && name.elementsEqual(request.channel.bytes)
        }
    }

    /// Begins a run. The run before it has been taken.
    func begin(
        _ publisher: Caller, _ requestID: UInt64, _ type: ChannelType, _ request: ClientRequest.Publish
    ) {
        self.publisher = publisher
        firstRequestID = requestID
        namedOrigin = request.origin
        origin = request.origin(of: publisher)
        self.type = type
        channel.writeBytes(request.channel.bytes)
    }

    func append(_ message: MessageView) {
        MessageRun.append(message, to: &messages)
        count += 1
    }

    /// Gives the run away and is empty then. Returns false if the run was empty already.
    @discardableResult
    func take(_ send: (_ firstRequestID: UInt64, PublishRequest) -> Void) -> Bool {
        guard count > 0, let publisher else { return false }
        // Only an inbox's owner sees his own message (M-33); elsewhere the publisher is left out (M-21).
        let except = type == .user ? 0 : publisher.session.rawValue
        publisher.appID.withWireText { appID in
            publisher.userID.withWireText { userID in
                channel.withUnsafeReadableBytes { channel in
                    messages.withUnsafeReadableBytes { messages in
                        let request = PublishRequest(
                            appID: appID, channelType: type, channel: WireText(channel), publisher: userID,
                            publisherSession: except, needsReceiver: type == .user,
                            origin: origin, messages: MessageRun(messages, count: count))
                        send(firstRequestID, request)
                    }
                }
            }
        }
        self.publisher = nil
        channel.clear()
        messages.clear()
        count = 0
        return true
    }
}

extension ClientRequest.Publish {
    /// Who counts the message's sequence: the client's instance, unless it names an origin of its own, such
    /// as an outbox that outlives it.
    func instance(of caller: Caller) -> UInt64 { origin == 0 ? caller.instance : origin }

    /// By what the log knows the message again.
    func origin(of caller: Caller) -> PublishOrigin {
        PublishOrigin(
            instance: instance(of: caller), sequence: sequence, againAfter: againAfter, epoch: epoch)
    }
}
