import CProtobufC
import RTMTestSupport

/// Makes the bytes of any message of the schema, along the C codec's description of it. So a new field takes
/// covered by the tests as soon as it is generated.
struct SchemaSample {
    enum Filling {
        /// Every field has a value that is not its default. Of a `oneof`, the member with this number is set,
        /// modulo their count.
        case full(choice: Int)
        /// Any field may be missing, have its default or any other value.
        case random
    }

    var generator: SeededGenerator
    let filling: Filling

    mutating func bytes(_ descriptor: SchemaMessage.Descriptor) -> [UInt8] {
        let fields = UnsafeBufferPointer(
            start: descriptor.pointee.fields, count: Int(descriptor.pointee.n_fields))
        let choices = fields.filter(\.isInOneof).map(\.id)
        let chosen = choices.isEmpty ? nil : choices[choice(of: choices.count)]
        var writer = FieldWriter()
        for field in fields where field.isInOneof ? field.id == chosen : isPresent() {
            write(field, to: &writer)
        }
        return writer.bytes
    }

    private mutating func write(_ field: ProtobufCFieldDescriptor, to writer: inout FieldWriter) {
        switch field.type {
        case PROTOBUF_C_TYPE_UINT32: writer.field(field.id, number(.max >> 32))
        case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_INT64: writer.field(field.id, number(.max))
        case PROTOBUF_C_TYPE_BOOL: writer.field(field.id, number(1))
        case PROTOBUF_C_TYPE_ENUM: writer.field(field.id, constant(of: field))
        case PROTOBUF_C_TYPE_STRING: writer.field(field.id, text())
        case PROTOBUF_C_TYPE_BYTES: writer.field(field.id, payload())
        case PROTOBUF_C_TYPE_MESSAGE: writer.field(field.id, nested(field))
        default: preconditionFailure("the schema has a type of field that these samples don't know")
        }
    }

    private mutating func isPresent() -> Bool {
        if case .full = filling { true } else { generator.chance(3, in: 4) }
    }

    private mutating func choice(of count: Int) -> Int {
        if case .full(let choice) = filling {
            choice % count
        } else {
            .random(in: 0..<count, using: &generator)
        }
    }

    private var isFull: Bool {
        if case .full = filling { true } else { false }
    }

    private mutating func number(_ max: UInt64) -> UInt64 {
        isFull ? Swift.max(1, generator.number() & max) : generator.number() & max
    }

    /// The number is mostly one of the schema's constants, and otherwise one of a newer schema.
    private mutating func constant(of field: ProtobufCFieldDescriptor) -> UInt64 {
        guard
            let descriptor = field.descriptor?.assumingMemoryBound(to: ProtobufCEnumDescriptor.self).pointee,
            isFull || generator.chance(3, in: 4)
        else { return UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: generator.number()))) }
        let values = UnsafeBufferPointer(start: descriptor.values, count: Int(descriptor.n_values))
            .map(\.value).filter { !isFull || $0 != 0 }
        return UInt64(bitPattern: Int64(values.randomElement(using: &generator) ?? 1))
    }

    private mutating func text() -> [UInt8] {
        let text = generator.text(upTo: 40)
        return Array((isFull && text.isEmpty ? "x" : text).utf8)
    }

    private mutating func payload() -> [UInt8] {
        let bytes = generator.bytes(upTo: generator.chance(1, in: 20) ? 3000 : 40)
        return isFull && bytes.isEmpty ? [0] : bytes
    }

    private mutating func nested(_ field: ProtobufCFieldDescriptor) -> [UInt8] {
        guard let descriptor = field.nested else { return [] }
        return bytes(descriptor)
    }
}

extension ProtobufCFieldDescriptor {
    var isInOneof: Bool { flags & UInt32(PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue) != 0 }

    var nested: SchemaMessage.Descriptor? {
        type == PROTOBUF_C_TYPE_MESSAGE
            ? descriptor?.assumingMemoryBound(to: ProtobufCMessageDescriptor.self) : nil
    }
}

/// This writer of fields is independent of the code under test.
struct FieldWriter {
    var bytes: [UInt8] = []

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest > 127 {
            bytes.append(UInt8(rest & 127) + 128)
            rest /= 128
        }
        bytes.append(UInt8(rest))
    }

    mutating func key(_ number: UInt32, _ wireType: UInt64) { varint(UInt64(number) * 8 + wireType) }

    mutating func field(_ number: UInt32, _ value: UInt64) {
        key(number, 0)
        varint(value)
    }

    mutating func field(_ number: UInt32, _ value: [UInt8]) {
        key(number, 2)
        varint(UInt64(value.count))
        bytes += value
    }
}

extension [UInt8] {
    /// The message's bytes with fields that no schema of ours knows, of every wire type, in it and in every
    /// message inside it.
    func addingUnknownFields(_ descriptor: SchemaMessage.Descriptor) -> [UInt8] {
        var writer = FieldWriter()
        withUnsafeBytes { memory in
            var reader = FieldWalk(memory)
            while let (number, whole, content) = reader.next() {
                let known = protobuf_c_message_descriptor_get_field(descriptor, number)
                if let content, let nested = known?.pointee.nested {
                    writer.field(number, content.addingUnknownFields(nested))
                } else {
                    writer.bytes += whole
                }
            }
        }
        writer.field(1000, 7)
        writer.field(1001, Array("unknown\0".utf8))
        writer.key(1002, 1)
        writer.bytes += [1, 2, 3, 4, 5, 6, 7, 8]
        writer.key(1003, 5)
        writer.bytes += [1, 2, 3, 4]
        writer.field(536_870_911, .max)
        return writer.bytes
    }
}

/// Walks the fields of bytes that are known to be sound.
private struct FieldWalk {
    private let memory: UnsafeRawBufferPointer
    private var offset = 0

    init(_ memory: UnsafeRawBufferPointer) { self.memory = memory }

    mutating func next() -> (number: UInt32, whole: [UInt8], content: [UInt8]?)? {
        guard offset < memory.count else { return nil }
        let start = offset
        let key = varint()
        var content: [UInt8]?
        if key & 7 == 2 {
            let length = Int(varint())
            content = Array(memory[offset..<offset + length])
            offset += length
        } else {
            _ = varint()
        }
        return (UInt32(key >> 3), Array(memory[start..<offset]), content)
    }

    private mutating func varint() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = memory[offset]
            offset += 1
            value |= UInt64(byte & 127) << shift
            if byte < 128 { return value }
            shift += 7
        }
    }
}
