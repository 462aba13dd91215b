package import NIOCore
import RTMModel
package import RTMServiceLink
package import RTMWire

/// Lets a canary publish and listen over a link to messaging, and tells what becomes of it. The owner of the
/// link passes on what messaging says.
package final class CanaryRounds<Caller: MessagingCaller> {
    /// No other attachment of a link has this number.
    package static var interest: UInt64 { .max }

    private let messaging: MessagingClient<Caller>
    private let context: Caller.Publish
    private let eventLoop: any EventLoop
    private let channel: ChannelKey
    private let report: (Canary.Verdict) -> Void
    private let messages: ByteBuffer
    private var canary = Canary()
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - context: tells the answer to the canary's publish from those of others.
    ///   - name: of the channel, which nobody else has.
    package init(
        over messaging: MessagingClient<Caller>, context: Caller.Publish, name: String,
        on eventLoop: any EventLoop, report: @escaping (Canary.Verdict) -> Void
    ) {
        self.messaging = messaging
        self.context = context
        self.eventLoop = eventLoop
        self.report = report
        // No app has an empty name, so the channel is out of everybody's reach. It is an inbox, because an
        // inbox is never refused for want of room: clients who fill all channels don't make an edge look
        // deaf.
        channel = ChannelKey(appID: "", type: .user, name: "canary of \(name)")
        var messages = ByteBuffer()
        MessageRun.append(MessageView(type: .text, payload: .empty, customType: .empty), to: &messages)
        self.messages = messages
    }

    /// Goes on once a second until `stop`.
    package func start() {
        timer = eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) {
            self.goOn()
            self.start()
        }
    }

    package func stop() { timer.take()?.cancel() }

    package func messagingIsUp() {
        canary.linkIsUp(now: now)
        goOn()
    }

    package func messagingIsDown() {
        canary.linkIsDown()
        tell()
    }

    package func attached(_ succeeded: Bool) {
        canary.attached(succeeded)
        if succeeded { goOn() }
    }

    package func published(_ outcome: Result<PublishResponse, ServiceLinkRequestFailure>) {
        canary.published(try? outcome.get().offset, now: now)
        tell()
    }

    package func received(_ delivery: DeliveryPush) {
        canary.received(delivery.offset, now: now)
        tell()
    }

    private var now: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }

    private func tell() { report(canary.verdict(now: now)) }

    private func goOn() {
        switch canary.next(now: now) {
        case .attach:
            messaging.attach(
                AttachRequest(channel: channel, interest: Self.interest, after: nil, claim: 0))
        case .publish: publish()
        case nil: break
        }
        tell()
    }

    private func publish() {
        channel.appID.withWireText { appID in
            channel.name.withWireText { name in
                messages.withUnsafeReadableBytes { bytes in
                    let request = PublishRequest(
                        appID: appID, channelType: channel.type, channel: name, publisher: .empty,
                        publisherSession: 0, needsReceiver: true, messages: MessageRun(bytes, count: 1))
                    messaging.publish(request, context: context)
                }
            }
        }
    }
}
