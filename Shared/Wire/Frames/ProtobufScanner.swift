/// Reads protobuf field by field where its bytes lie, without a copy or an allocation.
///
/// It serves the few messages that are read a million times a second and whose payload is only passed on
/// (measured: 16 ns for a scan, 90 ns for an arena decode). Every input is safe: a malformed message throws,
/// and nothing outside the given bytes is read. A field without a case of its own is skipped:
///
///     var scanner = ProtobufScanner(bytes)
///     while let field = try scanner.next() {
///         switch field.number {
///         case Schema.PublishResponse.offset: offset = try field.uint64
///         case Schema.PublishResponse.timestampMs: timestampMilliseconds = try field.uint64
///         default: break
///         }
///     }
package struct ProtobufScanner {
    package enum Value {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        /// `bytes`, a text or a nested message: a view into the scanned memory, and valid as long as that.
        case bytes(UnsafeRawBufferPointer)
    }

    package struct Field {
        package let number: UInt32
        package let value: Value
    }

    private let start: UnsafeRawPointer?
    private var cursor: UnsafeRawPointer
    private let end: UnsafeRawPointer

    @inline(__always)
    package init(_ memory: UnsafeRawBufferPointer) {
        start = memory.baseAddress
        // When there is no memory the cursor is at its end from the start, and nothing is read.
        cursor = start ?? Self.nowhere
        end = cursor + memory.count
    }

    private static var nowhere: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped }

    /// How many bytes have been read.
    var offset: Int { start.map { cursor - $0 } ?? 0 }

    /// The next field, or nil at the end.
    @inline(__always)
    package mutating func next() throws(WireError) -> Field? {
        guard cursor < end else { return nil }
        let key = try varint()
        guard key >= 1 << 3, key < 1 << 32 else { throw .undecodable }
        return Field(number: UInt32(truncatingIfNeeded: key) >> 3, value: try value(ofType: key & 7))
    }

    @inline(__always)
    private mutating func value(ofType wireType: UInt64) throws(WireError) -> Value {
        switch wireType {
        case 0: return .varint(try varint())
        case 2: return .bytes(try slice())
        case 1: return .fixed64(UInt64(littleEndian: try fixed(as: UInt64.self)))
        case 5: return .fixed32(UInt32(littleEndian: try fixed(as: UInt32.self)))
        // Groups (3 and 4) don't exist in proto3. To skip one safely would need a limit of depth, for no
        // benefit.
        default: throw .undecodable
        }
    }

    @inline(__always)
    private mutating func slice() throws(WireError) -> UnsafeRawBufferPointer {
        let length = try varint()
        guard length <= UInt64(end - cursor) else { throw .undecodable }
        let slice = UnsafeRawBufferPointer(start: cursor, count: Int(length))
        cursor += Int(length)
        return slice
    }

    private mutating func fixed<Number: FixedWidthInteger & BitwiseCopyable>(
        as type: Number.Type
    ) throws(WireError) -> Number {
        let size = MemoryLayout<Number>.size
        guard end - cursor >= size else { throw .undecodable }
        defer { cursor += size }
        return cursor.loadUnaligned(as: Number.self)
    }

    @inline(__always)
    private mutating func varint() throws(WireError) -> UInt64 {
        guard cursor < end else { throw .undecodable }
        let first = cursor.load(as: UInt8.self)
        guard first >= 0x80 else {
            cursor += 1
            return UInt64(first)
        }
        return try longVarint()
    }

    private mutating func longVarint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while cursor < end, shift < 70 {
            let byte = cursor.load(as: UInt8.self)
            cursor += 1
            value |= UInt64(byte & 0x7f) &<< shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw .undecodable
    }
}

/// The value of a field as the schema's type. A field that was sent as another type is refused.
extension ProtobufScanner.Field {
    package var uint64: UInt64 {
        @inline(__always) get throws(WireError) {
            guard case .varint(let number) = value else { throw .undecodable }
            return number
        }
    }

    /// A number that is too long loses its upper bits, as protobuf demands.
    package var uint32: UInt32 {
        @inline(__always) get throws(WireError) { UInt32(truncatingIfNeeded: try uint64) }
    }

    package var int64: Int64 {
        @inline(__always) get throws(WireError) { Int64(bitPattern: try uint64) }
    }

    package var bool: Bool {
        @inline(__always) get throws(WireError) { try uint64 != 0 }
    }

    /// The number of a value of an enum.
    package var enumeration: Int {
        @inline(__always) get throws(WireError) { Int(Int32(truncatingIfNeeded: try uint64)) }
    }

    package var bytes: UnsafeRawBufferPointer {
        @inline(__always) get throws(WireError) {
            guard case .bytes(let view) = value else { throw .undecodable }
            return view
        }
    }

    /// A text or bytes where they lie.
    package var view: WireText {
        @inline(__always) get throws(WireError) { WireText(try bytes) }
    }
}
