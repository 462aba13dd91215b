package import NIOCore
import RTMModel
package import RTMServiceLink
package import RTMWire

/// Lets a canary publish and listen in each shard of messaging, and reports the verdict on all of them. The
/// owner of the links passes on what messaging answers and delivers.
package final class Canaries {
    /// No other attachment has this number or a greater one: the canary of each shard has one of these.
    package static let firstInterest = UInt64.max - UInt64(Limits.shardsMax)
    /// No other publish has this context or a greater one: that of each shard's canary has one of these.
    package static let firstContext = Int.max - Limits.shardsMax

    private let messaging: MessagingClient
    private let eventLoop: any EventLoop
    private let name: String
    private let report: (Canary.Verdict) -> Void
    private let messages: ByteBuffer
    /// By shard.
    private var canaries: [Canary] = []
    private var timer: Scheduled<Void>?

    /// - Parameter name: is in the names of the canaries' channels, and nobody else has it.
    package init(
        over messaging: MessagingClient, name: String, on eventLoop: any EventLoop,
        report: @escaping (Canary.Verdict) -> Void
    ) {
        self.messaging = messaging
        self.eventLoop = eventLoop
        self.name = name
        self.report = report
        var messages = ByteBuffer()
        MessageRun.append(MessageView(type: .text, payload: .empty, customType: .empty), to: &messages)
        self.messages = messages
    }

    /// Continues once a second until `stop`.
    package func start() {
        timer = eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) {
            for shard in self.canaries.indices { self.advance(shard) }
            self.start()
        }
    }

    package func stop() { timer.take()?.cancel() }

    package func messagingIsUp(_ shard: Int) {
        while canaries.count < messaging.shards.all.count { canaries.append(Canary()) }
        canaries[shard].linkIsUp(now: now)
        advance(shard)
    }

    package func messagingIsDown(_ shard: Int) {
        guard shard < canaries.count else { return }
        canaries[shard].linkIsDown()
        reportVerdict()
    }

    package func attached(_ interest: UInt64, _ succeeded: Bool) {
        let shard = Int(interest - Self.firstInterest)
        canaries[shard].attached(succeeded)
        if succeeded { advance(shard) }
    }

    package func published(_ context: Int, _ outcome: ServiceLinkResult<PublishResponse>) {
        canaries[context - Self.firstContext].published(try? outcome.get().offset, now: now)
        reportVerdict()
    }

    package func received(_ delivery: DeliveryPush) {
        canaries[Int(delivery.interest - Self.firstInterest)].received(delivery.offset, now: now)
        reportVerdict()
    }

    private var now: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }

    private func reportVerdict() { report(Canary.Verdict(of: canaries.map { $0.verdict(now: now) })) }

    private func advance(_ shard: Int) {
        switch canaries[shard].next(now: now) {
        case .attach:
            messaging.attach(
                AttachRequest(
                    channel: channel(in: shard), interest: Self.firstInterest + UInt64(shard), after: nil,
                    ownership: 0))
        case .publish: publish(in: shard)
        case nil: break
        }
        reportVerdict()
    }

    /// No app has an empty name, so the channel is out of everybody's reach. It is an inbox, because an inbox
    /// is never refused for want of capacity: clients who fill all channels don't make an edge look cut off.
    private func channel(in shard: Int) -> ChannelKey {
        var channel = ChannelKey(appID: "", type: .user, name: "canary of \(name)")
        for number in 0... {
            channel.name = "canary \(number) of \(name)"
            if channel.shard(among: canaries.count) == shard { break }
        }
        return channel
    }

    private func publish(in shard: Int) {
        channel(in: shard).withView { channel in
            messages.withUnsafeReadableBytes { bytes in
                let request = PublishRequest(
                    appID: channel.appID, channelType: channel.type, channel: channel.name, publisher: .empty,
                    publisherSession: 0, needsReceiver: true, messages: MessageRun(bytes, count: 1))
                messaging.publish(request, context: Self.firstContext + shard)
            }
        }
    }
}

extension Canary.Verdict {
    /// The verdict on all shards together: one that is silent is enough.
    package init(of verdicts: [Self]) {
        let silences = verdicts.compactMap { if case .silent(let since) = $0 { since } else { nil } }
        if let since = silences.min() {
            self = .silent(since: since)
        } else {
            self = verdicts.isEmpty || verdicts.contains(.waiting) ? .waiting : .alive
        }
    }
}
