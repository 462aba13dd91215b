import NIOCore
import RTMModel
import RTMProtocolC
import RTMWire

/// The messages between edge and messaging. What was read is written, read again and written again: the same
/// bytes, as many as were announced. Those that are scanned by hand are held against protobuf-c, too.
enum FuzzedMessage {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        try unpacked(AttachRequest.self, bytes)
        try unpacked(AttachResponse.self, bytes)
        try unpacked(DetachPush.self, bytes)
        try unpacked(SupersededPush.self, bytes)
        try unpacked(ReadRequest.self, bytes)
        try unpacked(ReadResponse.self, bytes)
        try scanned(PublishResponse.self, bytes)
        try scanned(DeliveryPush.self, bytes)
        try scanned(PublishRequest.self, bytes)
        try delivery(bytes)
        try publish(bytes)
    }

    private static func unpacked<Message: ArenaDecodable & WireEncodable & SendableMetatype>(
        _ type: Message.Type, _ bytes: UnsafeRawBufferPointer
    ) throws(Disagreement) {
        try roundTrip("\(type)", bytes) { bytes in
            let arena = DecodeArena(capacity: 512)
            return (try? Message(bytes, in: arena)).map(written)
        }
    }

    private static func scanned<Message: ScanDecodable & WireEncodable & SendableMetatype>(
        _ type: Message.Type, _ bytes: UnsafeRawBufferPointer
    ) throws(Disagreement) {
        try roundTrip("\(type)", bytes) { bytes in (try? Message(scanning: bytes)).map(written) }
    }

    private static func roundTrip(
        _ name: String, _ bytes: UnsafeRawBufferPointer,
        through: (UnsafeRawBufferPointer) -> (bytes: ByteBuffer, announced: Int)?
    ) throws(Disagreement) {
        guard let first = through(bytes) else { return }
        let length = first.bytes.readableBytes
        try Disagreement.unless(
            length == first.announced, "\(name): \(first.announced) bytes announced, \(length) written")
        let second = first.bytes.withUnsafeReadableBytes { through($0) }
        try Disagreement.unless(second?.bytes == first.bytes, "\(name): written and read, it is another")
    }

    private static func written(_ message: some WireEncodable) -> (bytes: ByteBuffer, announced: Int) {
        var buffer = ByteBuffer()
        let length = message.encodedLength
        message.encode(into: &buffer, length: length)
        return (buffer, length)
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

    private static func origin(_ request: Rtm__Service__PublishRequest) -> PublishOrigin {
        PublishOrigin(
            instance: request.instance, sequence: request.sequence,
            againAfter: request.again != 0 ? request.age_ms : nil,
            epoch: request.again != 0 ? request.epoch : 0)
    }

    private static func channelType(_ request: Rtm__Service__PublishRequest) -> Int {
        let number = Int(Int32(truncatingIfNeeded: request.channel.pointee.type.rawValue))
        return (0...3).contains(number) ? number : -1
    }
}
