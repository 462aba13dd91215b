import NIOCore
import RTMModel
import RTMWire

/// The steps between an edge and messaging: publishes travel to the log, and entries travel back. Each is
/// measured with one message and with eight, because the messages of one read travel together.
let linkCases = [
    MicroCase(name: "link/encode-publish", batch: 4_000, outcome: 1) { EncodePublish(messages: 1) },
    MicroCase(name: "link/encode-publish-of-8", batch: 1_000, outcome: 1) { EncodePublish(messages: 8) },
    MicroCase(name: "link/decode-publish", batch: 4_000, outcome: 1) { DecodePublish(messages: 1) },
    MicroCase(name: "link/decode-publish-of-8", batch: 1_000, outcome: 8) { DecodePublish(messages: 8) },
    MicroCase(name: "link/encode-published", batch: 4_000, outcome: 1) { EncodePublished() },
    MicroCase(name: "link/decode-published", batch: 4_000, outcome: 70_000) { DecodePublished() },
    MicroCase(name: "link/encode-delivery", batch: 4_000, outcome: 1) { EncodeDelivery(entries: 1) },
    MicroCase(name: "link/encode-delivery-of-8", batch: 1_000, outcome: 1) { EncodeDelivery(entries: 8) },
    MicroCase(name: "link/decode-delivery", batch: 4_000, outcome: 1) { DecodeDelivery(entries: 1) },
    MicroCase(name: "link/decode-delivery-of-8", batch: 1_000, outcome: 8) { DecodeDelivery(entries: 8) },
]

private enum Link {
    static func write(_ request: PublishRequest, into buffer: inout ByteBuffer) {
        ServiceLinkFrame.writeRequest(
            id: 70_000, method: MessagingMethod.publish.number, timeoutMilliseconds: 10_000, body: request,
            bodyLength: request.encodedLength, into: &buffer)
    }

    static func write(_ response: PublishResponse, into buffer: inout ByteBuffer) {
        ServiceLinkFrame.writeResponse(
            id: 70_000, body: response, bodyLength: response.encodedLength, into: &buffer)
    }

    static func write(_ delivery: DeliveryPush, into buffer: inout ByteBuffer) {
        ServiceLinkFrame.writePush(
            method: MessagingMethod.delivery.number, body: delivery, bodyLength: delivery.encodedLength,
            into: &buffer)
    }

    static let published = PublishResponse(offset: 70_000, timestampMilliseconds: Sample.timestamp)

    /// Returns the frame without its length prefix.
    static func frame(_ write: (inout ByteBuffer) -> Void) -> [UInt8] {
        var buffer = ByteBuffer()
        write(&buffer)
        return Array(buffer.readableBytesView.dropFirst(FrameReader.prefixLength))
    }
}

/// What one turn sends: several frames, one behind the other.
private struct Turn {
    private static let framesMax = 64
    private var buffer = ByteBuffer()
    private var frames = 0

    mutating func append(_ write: (inout ByteBuffer) -> Void) -> Int {
        if frames == Self.framesMax {
            buffer.clear()
            frames = 0
        }
        frames += 1
        let before = buffer.writerIndex
        write(&buffer)
        return buffer.writerIndex > before ? 1 : 0
    }
}

// MARK: - Publish

/// Encodes a publish. The copy out of the read that brought the messages is included.
private struct EncodePublish: Step {
    let messages: Int
    private var turn = Turn()
    private var run = ByteBuffer()

    init(messages: Int) { self.messages = messages }

    mutating func perform(_ count: Int) -> Int {
        var frames = 0
        for _ in 0..<count {
            run.clear()
            Sample.withMessage { message in
                for _ in 0..<messages { MessageRun.append(message, to: &run) }
            }
            Sample.withPublishRequest(of: run, messages) { request in
                frames += turn.append { Link.write(request, into: &$0) }
            }
        }
        return frames
    }
}

private struct DecodePublish: Step {
    private let frame: [UInt8]

    init(messages: Int) {
        frame = Sample.withPublishRequest(of: Sample.messages(messages), messages) { request in
            Link.frame { Link.write(request, into: &$0) }
        }
    }

    mutating func perform(_ count: Int) throws -> Int {
        var messages = 0
        try frame.withUnsafeBytes { frame in
            for _ in 0..<count {
                guard case .request(_, _, _, let body) = try ServiceLinkEnvelope(decoding: frame) else {
                    continue
                }
                messages += try PublishRequest(scanning: body).messages.count
            }
        }
        return messages
    }
}

// MARK: - Published

private struct EncodePublished: Step {
    private var turn = Turn()

    mutating func perform(_ count: Int) -> Int {
        var frames = 0
        for _ in 0..<count { frames += turn.append { Link.write(Link.published, into: &$0) } }
        return frames
    }
}

private struct DecodePublished: Step {
    private let frame = Link.frame { Link.write(Link.published, into: &$0) }

    mutating func perform(_ count: Int) throws -> Int {
        var offsets = 0
        try frame.withUnsafeBytes { frame in
            for _ in 0..<count {
                guard case .response(_, let body) = try ServiceLinkEnvelope(decoding: frame) else { continue }
                offsets += Int(try PublishResponse(scanning: body).offset)
            }
        }
        return offsets
    }
}

// MARK: - Delivery

private struct EncodeDelivery: Step {
    let entries: Int
    private let frames: ByteBuffer
    private var turn = Turn()

    init(entries: Int) {
        self.entries = entries
        frames = Sample.publications(entries)
    }

    mutating func perform(_ count: Int) -> Int {
        Sample.withDelivery(of: frames, entries, interest: 1 << 32 | 7, offset: 70_000) { delivery in
            var frames = 0
            for _ in 0..<count { frames += turn.append { Link.write(delivery, into: &$0) } }
            return frames
        }
    }
}

private struct DecodeDelivery: Step {
    private let frame: [UInt8]

    init(entries: Int) {
        let frames = Sample.publications(entries)
        frame = Sample.withDelivery(of: frames, entries, interest: 1 << 32 | 7, offset: 70_000) { delivery in
            Link.frame { Link.write(delivery, into: &$0) }
        }
    }

    mutating func perform(_ count: Int) throws -> Int {
        var entries = 0
        try frame.withUnsafeBytes { frame in
            for _ in 0..<count {
                guard case .push(_, let body) = try ServiceLinkEnvelope(decoding: frame) else { continue }
                entries += try DeliveryPush(scanning: body).count
            }
        }
        return entries
    }
}
