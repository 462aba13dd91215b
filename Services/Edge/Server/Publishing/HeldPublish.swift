import NIOCore
import RTMModel
import RTMPublishHook
import RTMWire

/// A message that is on hold until the hook of its app has answered. It is a copy, because the frame that the
/// message came in is gone then.
final class HeldPublish {
    let session: Session
    let requestID: UInt64
    let type: ChannelType
    private let channel: String
    private let messageType: MessageType
    private let payload: ByteBuffer
    private let customType: String
    private let priority: TopicPriority
    private let storeInHistory: Bool
    private let origin: PublishOrigin
    private let namedOrigin: UInt64
    private let arrivedAt: NIODeadline

    init(
        _ request: ClientRequest.Publish, _ requestID: UInt64, _ type: ChannelType, of session: Session,
        now: NIODeadline
    ) {
        (self.session, self.requestID, self.type) = (session, requestID, type)
        channel = request.channel.string
        messageType = request.message.type ?? .binary
        payload = ByteBuffer(bytes: request.message.payload.bytes)
        customType = request.message.customType.string
        priority = request.message.priority
        storeInHistory = request.storeInHistory
        origin = request.origin(of: session.caller)
        namedOrigin = request.origin
        arrivedAt = now
    }

    var isAgain: Bool { origin.againAfter != nil }

    var key: ChannelKey { ChannelKey(appID: session.appID, type: type, name: channel) }

    var question: PublishHookQuestion {
        PublishHookQuestion(
            channel: key, publisher: session.userID,
            message: PublishHookMessage(
                isText: messageType == .text, payload: Array(payload.readableBytesView),
                customType: customType),
            isStored: storeInHistory, origin: origin.instance, sequence: origin.sequence)
    }

    /// The request, as if it had arrived now.
    ///
    /// - Parameter changed: the content instead of its own.
    func withRequest<Result>(
        _ changed: PublishHookMessage?, now: NIODeadline, _ body: (ClientRequest.Publish) -> Result
    ) -> Result {
        let type = changed.map { $0.isText ? MessageType.text : .binary } ?? messageType
        let payload = changed.map { ByteBuffer(bytes: $0.payload) } ?? payload
        let waited = UInt32(clamping: (now - arrivedAt).nanoseconds / 1_000_000)
        return channel.withWireText { channel in
            (changed?.customType ?? customType).withWireText { customType in
                payload.withUnsafeReadableBytes { payload in
                    body(
                        ClientRequest.Publish(
                            channelType: self.type, channel: channel,
                            message: MessageView(
                                type: type, payload: WireText(payload), customType: customType,
                                priority: priority),
                            storeInHistory: storeInHistory, origin: namedOrigin,
                            sequence: origin.sequence,
                            againAfter: origin.againAfter.map { $0 &+ waited }, epoch: origin.epoch))
                }
            }
        }
    }
}

/// The hooks of the apps on one event loop.
final class HeldPublishes {
    typealias Gate = PublishHookGate<HeldPublish>

    private let make: (PublishHook) -> Gate
    private var gates: [String: Gate] = [:]

    init(_ hooks: [String: PublishHook], _ make: @escaping (PublishHook) -> Gate) {
        self.make = make
        gates = hooks.mapValues(make)
    }

    /// What asks about the messages of an app's sessions; nil if nobody is asked.
    subscript(app: String) -> Gate? { gates[app] }

    /// Takes over the hooks of a new configuration. A gate whose hook is gone stays, so that what is on hold
    /// keeps its order, also if the hook comes back.
    func take(_ hooks: [String: PublishHook]) {
        for (app, gate) in gates { gate.take(hooks[app]) }
        for (app, hook) in hooks where gates[app] == nil { gates[app] = make(hook) }
    }
}
