import NIOCore
import RTMWire

/// The same frames and the same refusal, however the stream was cut. The first byte says how many lengths of
/// chunks follow it; they are used in turn.
enum FuzzedStream {
    private static let frameBytesMax = 300

    private struct Outcome: Equatable {
        var frames: [[UInt8]] = []
        var refusal: String?
    }

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        let count = Int((bytes.first ?? 0) & 7)
        let lengths = bytes.dropFirst().prefix(count).map { max(1, Int($0)) }
        let stream = Array(bytes.dropFirst(1 + count))
        let whole = read([stream[...]])
        var chunks: [ArraySlice<UInt8>] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let length = lengths.isEmpty ? 1 : lengths[chunks.count % lengths.count]
            chunks.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        let cut = read(chunks)
        try Disagreement.unless(whole == cut, "whole: \(whole); in \(chunks.count) chunks: \(cut)")
        try dropFirst(of: stream, whole.frames)
    }

    private static func read(_ chunks: [ArraySlice<UInt8>]) -> Outcome {
        var reader = FrameReader(frameBytesMax: frameBytesMax)
        var outcome = Outcome()
        do throws(WireError) {
            for chunk in chunks {
                try reader.read(ByteBuffer(bytes: chunk)) { frame in
                    outcome.frames.append(Array(frame))
                    return .nextFrame
                }
            }
        } catch {
            outcome.refusal = "\(error)"
        }
        return outcome
    }

    private static func dropFirst(of stream: [UInt8], _ frames: [[UInt8]]) throws(Disagreement) {
        var place = 0
        for count in 0...frames.count {
            let rest = stream.withUnsafeBytes { FrameReader.dropFirst(count, of: $0).count }
            try Disagreement.unless(
                rest == stream.count - place, "\(rest) bytes are left after \(count) frames")
            if count < frames.count { place += FrameReader.prefixLength + frames[count].count }
        }
        // More than there are: nothing may be read behind the end.
        _ = stream.withUnsafeBytes { FrameReader.dropFirst(frames.count + 3, of: $0).count }
    }
}
