package import NIOCore
import RTMModel

package struct Published: ServerFrameBody {
    package typealias Fields = Schema.Published
    package static var field: SchemaField<Fields> { Schema.ServerFrame.published }
    /// Bytes of the prefix, the request id, the body's key and length, and its two numbers with their keys.
    private static let frameBytesMax = FrameReader.prefixLength + 3 * 11 + 2
    let offset: UInt64
    let timestampMilliseconds: UInt64

    package init(offset: UInt64, timestampMilliseconds: UInt64) {
        self.offset = offset
        self.timestampMilliseconds = timestampMilliseconds
    }

    @inline(__always)
    init(_ response: PublishResponse, _ index: UInt64) {
        self.init(
            offset: response.offset + index,
            timestampMilliseconds: response.time.following(by: index).milliseconds)
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.offset, offset)
        sink.field(Fields.timestampMs, timestampMilliseconds)
    }

    /// Appends the answers to `count` publishes with consecutive request ids, which got consecutive offsets
    /// in the log.
    ///
    /// It is here and not at the caller because generic code of another module is not specialised,
    /// which costs five times as much.
    package static func encodeFrames(
        of response: PublishResponse, answering requestID: UInt64, count: Int, into buffer: inout ByteBuffer
    ) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count * frameBytesMax) { memory in
            guard var sink = MemorySink(memory) else { return 0 }
            var written = 0
            for index in 0..<UInt64(count) {
                let answer = ServerFrame(Published(response, index), answering: requestID &+ index)
                let length = answer.encodedLength
                sink.frame(answer, length: length)
                written += FrameReader.prefixLength + length
            }
            return written
        }
    }
}
