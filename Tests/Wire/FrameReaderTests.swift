import NIOCore
import RTMTestSupport
import Testing

@testable import RTMWire

@Suite("Cutting a stream into frames")
struct FrameReaderTests {
    private static let messages: [[UInt8]] = [[1], [], [2, 3, 4, 5, 6], Array(repeating: 7, count: 300)]
    private static let stream = messages.flatMap(frame)

    @Test("two chunks, cut at every byte")
    func everyCut() throws {
        for cut in 0...Self.stream.count {
            var reader = FrameReader(frameBytesMax: 300)
            var frames = try reader.frames(in: Array(Self.stream[..<cut]))
            frames += try reader.frames(in: Array(Self.stream[cut...]))
            #expect(frames == Self.messages, "cut at \(cut)")
            #expect(reader.kept == nil)
        }
    }

    @Test("one byte at a time, and all at once")
    func extremes() throws {
        var reader = FrameReader(frameBytesMax: 300)
        var frames: [[UInt8]] = []
        for byte in Self.stream { frames += try reader.frames(in: [byte]) }
        #expect(frames == Self.messages)
        #expect(try reader.frames(in: Self.stream) == Self.messages)
        #expect(try reader.frames(in: []) == [])
    }

    @Test("random frames in random chunks")
    func random() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<300 {
            let messages = (0..<Int.random(in: 1...20, using: &random)).map { _ in random.bytes(upTo: 200) }
            var rest = messages.flatMap(frame)[...]
            var reader = FrameReader(frameBytesMax: 200)
            var frames: [[UInt8]] = []
            while !rest.isEmpty {
                let length = Int.random(in: 0...min(rest.count, 500), using: &random)
                frames += try reader.frames(in: Array(rest.prefix(length)))
                rest = rest.dropFirst(length)
            }
            #expect(frames == messages)
            #expect(reader.kept == nil)
        }
    }

    @Test("a frame of exactly the limit is read, a longer one refused with both numbers")
    func limit() throws {
        var reader = FrameReader(frameBytesMax: 10)
        #expect(
            try reader.frames(in: frame(Array(repeating: 1, count: 10))) == [Array(repeating: 1, count: 10)])
        #expect(throws: WireError.frameTooLarge(bytes: 11, bytesMax: 10)) {
            try reader.frames(in: frame(Array(repeating: 1, count: 11)))
        }
    }

    @Test("an announcement of 4 GB is refused at its fourth byte, and nothing of it is kept")
    func hugeClaim() throws {
        var reader = FrameReader(frameBytesMax: 65_536)
        for byte in [0xFF, 0xFF, 0xFF] as [UInt8] { #expect(try reader.frames(in: [byte]) == []) }
        #expect(throws: WireError.frameTooLarge(bytes: 4_294_967_295, bytesMax: 65_536)) {
            try reader.frames(in: [0xFF])
        }
        #expect(reader.kept == nil)
    }

    @Test(
        "who speaks TLS or HTTP at a port that takes frames is named, and no length is made of it",
        arguments: [
            ([0x16, 0x03, 0x01, 0x02], WireError.foreign(.tls)), ([0x15, 0x03, 0x03, 0x00], .foreign(.tls)),
            (Array("GET ".utf8), .foreign(.http)), (Array("HTTP".utf8), .foreign(.http)),
            ([0x16, 0x04, 0x01, 0x02], .frameTooLarge(bytes: 0x16_04_01_02, bytesMax: 65_536)),
        ] as [([UInt8], WireError)])
    func foreign(bytes: [UInt8], error: WireError) {
        var reader = FrameReader(frameBytesMax: 65_536)
        #expect(throws: error) { try reader.frames(in: bytes) }
    }

    @Test("frames before a refused one are read")
    func framesBeforeRefusal() {
        var reader = FrameReader(frameBytesMax: 10)
        var frames: [[UInt8]] = []
        #expect(throws: WireError.frameTooLarge(bytes: 256, bytesMax: 10)) {
            try reader.read(ByteBuffer(bytes: frame([1]) + frame([2]) + [0, 0, 1, 0])) {
                frames.append(Array($0))
                return .nextFrame
            }
        }
        #expect(frames == [[1], [2]])
    }

    @Test("stops when asked, without reading or keeping what follows")
    func stop() throws {
        var reader = FrameReader(frameBytesMax: 300)
        var frames: [[UInt8]] = []
        try reader.read(ByteBuffer(bytes: Self.stream + [0xFF, 0xFF, 0xFF, 0xFF])) {
            frames.append(Array($0))
            return frames.count < 2 ? .nextFrame : .end
        }
        #expect(frames == Array(Self.messages.prefix(2)))
        #expect(reader.kept == nil)
    }

    @Test("pauses when asked, and continues where it stopped, with what came meanwhile")
    func pause() throws {
        var reader = FrameReader(frameBytesMax: 300)
        var frames: [[UInt8]] = []
        try reader.read(ByteBuffer(bytes: Self.stream + [0, 0])) {
            frames.append(Array($0))
            return .pause
        }
        reader.append(ByteBuffer(bytes: [0, 2, 8]))
        while frames.count < Self.messages.count {
            let before = frames.count
            try reader.read(ByteBuffer()) {
                frames.append(Array($0))
                return .pause
            }
            #expect(frames.count == before + 1)
        }
        #expect(frames == Self.messages)
        #expect(try reader.frames(in: [9]) == [[8, 9]])
        #expect(reader.kept == nil)
        reader.append(ByteBuffer(bytes: frame([1])))
        #expect(try reader.frames(in: []) == [[1]])
    }

    @Test("an idle reader holds nothing, one in the middle of a frame no more than what came of it")
    func memory() throws {
        var reader = FrameReader(frameBytesMax: 300)
        #expect(reader.kept == nil)
        _ = try reader.frames(in: Self.stream + [0, 0, 0])
        #expect(reader.kept?.readableBytes == 3)
        _ = try reader.frames(in: [2, 8])
        #expect(reader.kept?.readableBytes == 5)
        #expect(try reader.frames(in: [9]) == [[8, 9]])
        #expect(reader.kept == nil)
    }

    @Test("a long frame in many small chunks is not copied again for each of them")
    func longFrame() throws {
        var reader = FrameReader(frameBytesMax: 1 << 20)
        _ = try reader.frames(in: [0, 16, 0, 0])
        var capacities: Set<Int> = []
        for _ in 0..<(1 << 20) / 256 - 1 {
            _ = try reader.frames(in: Array(repeating: 1, count: 256))
            capacities.insert(reader.kept?.capacity ?? 0)
        }
        #expect(capacities.count < 20, "a buffer that doubles grows rarely")
        #expect(try reader.frames(in: Array(repeating: 1, count: 256)).map(\.count) == [1 << 20])
    }
}

extension FrameReader {
    fileprivate mutating func frames(in bytes: [UInt8]) throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        try read(ByteBuffer(bytes: bytes)) {
            frames.append(Array($0))
            return .nextFrame
        }
        return frames
    }

    /// What the reader holds between two reads, which no other test needs.
    fileprivate var kept: ByteBuffer? {
        Mirror(reflecting: self).children.first { $0.label == "rest" }?.value as? ByteBuffer
    }
}
