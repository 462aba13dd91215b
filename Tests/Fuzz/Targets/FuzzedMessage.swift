import NIOCore
import RTMModel
import RTMProtocolC
import RTMWire

/// The messages between edge and messaging, and of those who append to its logs. Those that are scanned by
/// hand are held against protobuf-c, too.
enum FuzzedMessage {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        try RoundTrip.unpacked(AttachRequest.self, bytes)
        try RoundTrip.unpacked(AttachResponse.self, bytes)
        try RoundTrip.unpacked(DetachPush.self, bytes)
        try RoundTrip.unpacked(SkipPush.self, bytes)
        try RoundTrip.unpacked(SupersededPush.self, bytes)
        try RoundTrip.unpacked(ReadRequest.self, bytes)
        try RoundTrip.unpacked(ReadResponse.self, bytes)
        try RoundTrip.unpacked(FeedRequest.self, bytes)
        try RoundTrip.unpacked(FeedResponse.self, bytes)
        try RoundTrip.unpacked(AppendResponse.self, bytes)
        try RoundTrip.scanned(PublishResponse.self, bytes)
        _ = try? PublishedEntry(scanning: bytes)
        try RoundTrip.scanned(DeliveryPush.self, bytes)
        try RoundTrip.scanned(PublishRequest.self, bytes)
        try RoundTrip.scanned(MessageView.self, bytes)
        try RoundTrip.scanned(AppendRequest.self, bytes)
        try RoundTrip.scanned(AppendedEvent.self, bytes)
        try RoundTrip.unpacked(LeaderPush.self, bytes)
        try RoundTrip.unpacked(NodesPush.self, bytes)
        try RoundTrip.scanned(JournaledEntries.self, bytes)
        try RoundTrip.scanned(JournaledChannel.self, bytes)
        try RoundTrip.scanned(JournaledOwnership.self, bytes)
        try RoundTrip.scanned(JournaledHeads.self, bytes)
        try RoundTrip.scanned(JournaledHead.self, bytes)
        try RoundTrip.scanned(JournaledVersion.self, bytes)
        try RoundTrip.scanned(BackendPublishRequest.self, bytes)
        try RoundTrip.scanned(PublishCondition.self, bytes)
        try RoundTrip.scanned(StreamPosition.self, bytes)
        try RoundTrip.unpacked(BackendPublishResponse.self, bytes)
        try RoundTrip.unpacked(ListRequest.self, bytes)
        try RoundTrip.unpacked(ListResponse.self, bytes)
        try RoundTrip.unpacked(ExplainRequest.self, bytes)
        try RoundTrip.unpacked(ExplainResponse.self, bytes)
        _ = try? ClientRequest.Publish(scanning: bytes)
        _ = EventPublication.kind(of: WireText(bytes))
        try delivery(bytes)
        try publish(bytes)
        try append(bytes)
    }
}

// MARK: - Beside protobuf-c

extension FuzzedMessage {
    private static func delivery(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let push = try? DeliveryPush(scanning: bytes),
            let unpacked = rtm__service__delivery_push__unpack(nil, bytes.count, start)
        else { return }
        defer { rtm__service__delivery_push__free_unpacked(unpacked, nil) }
        let other = unpacked.pointee
        let agreed =
            push.interest == other.interest && push.offset == other.offset && push.count == other.count
            && push.offsetsBetween == other.offsets_between
            && push.publisherSession == other.publisher_session && push.feature.rawValue == other.feature
            && push.frames.hex == WireText(other.frames.view).hex
        try Disagreement.unless(agreed, "scan: \(push); protobuf-c: \(other)")
    }

    private static func publish(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let request = try? PublishRequest(scanning: bytes) else { return }
        let messages = request.messages.map(\.facts)
        try Disagreement.unless(
            messages.count == request.messages.count,
            "\(request.messages.count) messages counted, \(messages.count) found")
        // protobuf-c merges a channel that comes twice, the scan takes the last. Nobody writes one twice.
        guard Fields.count(1, in: bytes) == 1,
            let unpacked = rtm__service__publish_request__unpack(nil, bytes.count, start)
        else { return }
        defer { rtm__service__publish_request__free_unpacked(unpacked, nil) }
        let other = unpacked.pointee
        try Disagreement.unless(
            request.publisherSession == other.publisher_session
                && request.needsReceiver == (other.needs_receiver != 0)
                && request.origin == origin(other)
                && request.channelType?.rawValue ?? -1 == channelType(other)
                && request.appID.isSame(other.channel.pointee.app_id)
                && request.channel.isSame(other.channel.pointee.name)
                && request.publisher.isSame(other.publisher) && messages.count == other.n_messages,
            "scan: \(request); protobuf-c: \(other)")
        for (place, message) in request.messages.enumerated() {
            guard let content = other.messages[place]?.pointee else { continue }
            try Disagreement.unless(
                message.payload.hex == WireText(content.payload.view).hex
                    && message.customType.isSame(content.custom_type),
                "message \(place): scan: \(message.facts); protobuf-c: \(content)")
        }
    }

    private static func append(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // protobuf-c merges a channel that comes twice, the scan takes the last. Nobody writes one twice.
        guard let request = try? AppendRequest(scanning: bytes), Fields.count(1, in: bytes) == 1,
            let unpacked = rtm__service__append_request__unpack(nil, bytes.count, start)
        else { return }
        defer { rtm__service__append_request__free_unpacked(unpacked, nil) }
        let other = unpacked.pointee
        let events = Array(request.events)
        try Disagreement.unless(
            request.source == other.source && request.channel.appID.isSame(other.channel.pointee.app_id)
                && request.channel.name.isSame(other.channel.pointee.name)
                && events.count == other.n_events,
            "scan: \(request), \(events.count) events; protobuf-c: \(other)")
        for (place, event) in events.enumerated() {
            guard let content = other.events[place]?.pointee else { continue }
            try Disagreement.unless(
                event.publisher.isSame(content.publisher)
                    && event.publisherSession == content.publisher_session
                    && event.feature.rawValue == content.feature
                    && event.event.hex == WireText(content.event.view).hex
                    && event.sequence == content.sequence,
                "event \(place): scan: \(event); protobuf-c: \(content)")
        }
    }

    private static func origin(_ request: Rtm__Service__PublishRequest) -> PublishOrigin {
        PublishOrigin(
            instance: request.instance, sequence: request.sequence,
            againAfter: request.again != 0 ? request.age_ms : nil,
            epoch: request.again != 0 ? request.epoch : 0)
    }

    private static func channelType(_ request: Rtm__Service__PublishRequest) -> Int {
        let number = Int(Int32(truncatingIfNeeded: request.channel.pointee.type.rawValue))
        return (0...5).contains(number) ? number : -1
    }
}
