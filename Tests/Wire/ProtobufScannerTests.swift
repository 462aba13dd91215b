import RTMTestSupport
import Testing

@testable import RTMWire

@Suite("Scanning a message field by field")
struct ProtobufScannerTests {
    @Test("numbers of every width, in the writer's encoding and scanned again")
    func numbers() throws {
        var random = SeededGenerator(seed: 5)
        let edges = (0..<64).flatMap { [1 << $0, (1 << $0) &- 1] as [UInt64] } + [.max]
        for value in edges + (0..<500).map({ _ in random.number() }) {
            let number = UInt32.random(in: 1..<1 << 29, using: &random)
            let field = try Self.only(FieldWriter.with { $0.field(number, value) }.bytes)
            #expect(field.number == number)
            #expect(field.varint == value)
            let message = NumberMessage(number: number, value: value)
            #expect(message.encoded == (value == 0 ? [] : FieldWriter.with { $0.field(number, value) }.bytes))
            #expect(message.encodedLength == message.encoded.count)
        }
    }

    @Test("fixed numbers are read, little-endian; bytes are a view of what follows the length")
    func otherTypes() throws {
        #expect(try Self.only([0x09, 1, 2, 3, 4, 5, 6, 7, 8]).fixed == 0x0807_0605_0403_0201)
        #expect(try Self.only([0x0D, 1, 2, 3, 4]).fixed == 0x0403_0201)
        #expect(try Self.only([0x0A, 3, 7, 8, 9]).bytes == [7, 8, 9])
        #expect(try Self.only([0x0A, 0]).bytes == [])
    }

    @Test("a number in more bytes than it needs is read; one of eleven bytes is not")
    func longNumbers() throws {
        #expect(try Self.only([0x08, 0x81, 0x80, 0x00]).varint == 1)
        let ten: [UInt8] = [0x08] + Array(repeating: 0xFF, count: 9)
        #expect(try Self.only(ten + [0x01]).varint == .max)
        #expect(throws: WireError.undecodable) { try Self.only(ten + [0x81, 0x00]) }
    }

    @Test(
        "what is no field is refused",
        arguments: [
            [0x00, 0x00],  // number 0
            [0x07], [0x0B, 0x0C], [0x0C], [0x0E], [0x0F],  // groups, and wire types that don't exist
            [0x08], [0x08, 0x80], [0x80],  // cut numbers
            [0x09, 1, 2, 3, 4, 5, 6, 7], [0x0D, 1, 2, 3],  // cut fixed numbers
            [0x0A], [0x0A, 1], [0x0A, 2, 1], [0x0A, 0x80],  // cut bytes
            [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],  // a length of 2^64-1
            [0xF8, 0xFF, 0xFF, 0xFF, 0x7F, 0x00],  // a number beyond 29 bits
        ] as [[UInt8]])
    func refused(_ bytes: [UInt8]) {
        #expect(throws: WireError.undecodable) { try Self.only(bytes) }
    }

    @Test("a field of another type than the schema's is refused")
    func wrongType() throws {
        _ = try Array([0x08, 1] as [UInt8]).withUnsafeBytes { memory in
            var scanner = ProtobufScanner(memory)
            let field = try #require(try scanner.next())
            #expect(try field.uint64 == 1)
            #expect(throws: WireError.undecodable) { try field.bytes }
            #expect(throws: WireError.undecodable) { try field.view }
        }
        _ = try Array([0x0A, 1, 0xFF] as [UInt8]).withUnsafeBytes { memory in
            var scanner = ProtobufScanner(memory)
            let field = try #require(try scanner.next())
            #expect(throws: WireError.undecodable) { try field.uint64 }
            #expect(throws: WireError.undecodable) { try field.enumeration }
            #expect(throws: WireError.undecodable, "malformed UTF-8") { try field.view.copiedIfValid() }
            #expect(try Array(field.bytes) == [0xFF])
        }
    }

    @Test("32-bit numbers lose their upper bits, negative ones keep their sign")
    func narrowNumbers() throws {
        let bytes = FieldWriter.with {
            $0.field(1, 1 << 40 | 5)
            $0.field(2, UInt64(bitPattern: -10_001))
        }.bytes
        try bytes.withUnsafeBytes { memory throws in
            var scanner = ProtobufScanner(memory)
            #expect(try scanner.next()?.uint32 == 5)
            #expect(try scanner.next()?.enumeration == -10_001)
            #expect(try scanner.next() == nil)
        }
    }

    // MARK: -

    private struct Copied {
        var number: UInt32
        var varint: UInt64?
        var fixed: UInt64?
        var bytes: [UInt8]?
    }

    /// The only field of a message.
    @discardableResult
    private static func only(_ bytes: [UInt8]) throws -> Copied {
        try bytes.withUnsafeBytes {
            var scanner = ProtobufScanner($0)
            let field = try #require(try scanner.next())
            var copied = Copied(number: field.number)
            switch field.value {
            case .varint(let value): copied.varint = value
            case .fixed64(let value): copied.fixed = value
            case .fixed32(let value): copied.fixed = UInt64(value)
            case .bytes(let view): copied.bytes = Array(view)
            }
            #expect(try scanner.next() == nil)
            return copied
        }
    }
}

private struct NumberMessage: WireMessage {
    let number: UInt32
    let value: UInt64

    func write(to sink: inout some FieldSink) { sink.field(SchemaField(number), value) }
}

extension FieldWriter {
    static func with(_ fill: (inout FieldWriter) -> Void) -> FieldWriter {
        var writer = FieldWriter()
        fill(&writer)
        return writer
    }
}
