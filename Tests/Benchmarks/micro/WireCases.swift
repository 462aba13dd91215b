import NIOCore
import RTMModel
import RTMWire

/// The steps between clients and an edge: requests are decoded, frames are cut out of a read, answers and
/// entries are encoded.
let wireCases = [
    MicroCase(name: "client/read-32-frames", batch: 200, outcome: 32) { ReadFrames(framesInRead: 32) },
    MicroCase(name: "client/decode-publish", batch: 4_000, outcome: 128) { DecodePublish() },
    MicroCase(name: "client/encode-published", batch: 4_000, outcome: 21) { EncodePublished(together: 1) },
    MicroCase(name: "client/encode-32-published", batch: 200, outcome: 32 * 21) {
        EncodePublished(together: 32)
    },
    MicroCase(name: "client/encode-publication", batch: 4_000, outcome: Sample.publication.readableBytes) {
        EncodePublication()
    },
]

/// A read that brings several whole frames.
private struct ReadFrames: Step {
    private let chunk: ByteBuffer
    private var reader = FrameReader(frameBytesMax: 64 * 1024)

    init(framesInRead: Int) {
        var chunk = ByteBuffer()
        for _ in 0..<framesInRead {
            chunk.writeInteger(UInt32(Sample.publish.count))
            chunk.writeBytes(Sample.publish)
        }
        self.chunk = chunk
    }

    mutating func perform(_ count: Int) throws -> Int {
        var frames = 0
        for _ in 0..<count {
            try reader.read(chunk) { _ in
                frames += 1
                return .nextFrame
            }
        }
        return frames
    }
}

private struct DecodePublish: Step {
    private let memory = Memory()

    mutating func perform(_ count: Int) throws -> Int {
        var payloadBytes = 0
        try Sample.publish.withUnsafeBytes { frame in
            for _ in 0..<count {
                guard case .publish(let publish) = try ClientRequest(frame, in: memory.arena).body else {
                    continue
                }
                payloadBytes += publish.message.payload.bytes.count
            }
        }
        return payloadBytes
    }
}

/// Encodes what the publisher gets for every message. The answers to the messages of one read are encoded
/// in one go.
private struct EncodePublished: Step {
    let together: Int
    private var outbound = ByteBuffer()

    init(together: Int) { self.together = together }

    mutating func perform(_ count: Int) -> Int {
        var bytes = 0
        for _ in 0..<count {
            outbound.clear()
            let published = PublishResponse(offset: 70_000, timestampMilliseconds: Sample.timestamp)
            Published.encodeFrames(of: published, answering: 70_000, count: together, into: &outbound)
            bytes += outbound.readableBytes
        }
        return bytes
    }
}

/// Encodes a publication, which happens once for each entry of a log.
private struct EncodePublication: Step {
    private var frames = ByteBuffer()

    mutating func perform(_ count: Int) -> Int {
        Sample.withPublication(offset: 70_000) { publication in
            var bytes = 0
            for _ in 0..<count {
                frames.clear()
                publication.encodeFrame(into: &frames)
                bytes += frames.readableBytes
            }
            return bytes
        }
    }
}

/// An arena can't be copied, and a step is a value.
final class Memory {
    let arena = DecodeArena()
}
