/// Where a message writes its fields: once to learn its length, once for the bytes.
///
/// A message lists its fields in one place, `write(to:)`. protobuf wants the length of a nested message
/// before its bytes, so the list is run twice, the first time by a sink that only counts. proto3's rule
/// holds: a field with its default value is not written.
package protocol FieldSink {
    mutating func varint(_ value: UInt64)
    mutating func raw(_ bytes: UnsafeRawBufferPointer)
    /// Writes a message behind its key and its length, even when it is empty, because its presence has a
    /// meaning.
    mutating func nested(_ number: UInt32, _ message: some WireMessage)
}

// MARK: - Fields of the schema

extension FieldSink {
    @inline(__always)
    package mutating func field(_ field: SchemaField<UInt64>, _ value: UInt64) {
        number(field.number, value)
    }

    @inline(__always)
    package mutating func field(_ field: SchemaField<UInt32>, _ value: UInt32) {
        number(field.number, UInt64(value))
    }

    @inline(__always)
    package mutating func field(_ field: SchemaField<UInt32>, milliseconds duration: Duration) {
        number(field.number, UInt64(UInt32(clamping: duration.milliseconds)))
    }

    @inline(__always)
    package mutating func field(_ field: SchemaField<Int64>, _ value: Int64) {
        number(field.number, UInt64(bitPattern: value))
    }

    @inline(__always)
    package mutating func field(_ field: SchemaField<Bool>, _ flag: Bool) {
        number(field.number, flag ? 1 : 0)
    }

    /// Nil is written as the enum's default.
    @inline(__always)
    package mutating func field<Constant: RawRepresentable<Int>>(
        _ field: SchemaField<Schema.Enumeration>, _ constant: Constant?
    ) {
        number(field.number, UInt64(bitPattern: Int64(constant?.rawValue ?? 0)))
    }

    @inline(__always)
    package mutating func field(_ field: SchemaField<String>, _ text: String) {
        var text = text
        text.withUTF8 { bytes(field.number, UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    package mutating func field(_ field: SchemaField<String>, _ text: WireText) {
        bytes(field.number, text.bytes)
    }

    @inline(__always)
    package mutating func field(_ field: SchemaField<Schema.Bytes>, _ view: WireText) {
        bytes(field.number, view.bytes)
    }

    @inline(__always)
    package mutating func field<Message: WireMessage>(
        _ field: SchemaField<Message.Fields>, _ message: Message
    ) {
        nested(field.number, message)
    }

    @inline(__always)
    package mutating func field<Message: WireMessage>(
        _ field: SchemaField<[Message.Fields]>, _ messages: [Message]
    ) {
        for message in messages { nested(field.number, message) }
    }

    /// Writes one element of a repeated field.
    @inline(__always)
    mutating func element<Message: WireMessage>(
        of field: SchemaField<[Message.Fields]>, _ message: Message
    ) {
        nested(field.number, message)
    }

    /// Writes each text, also an empty one.
    package mutating func field(_ field: SchemaField<[String]>, _ texts: [String]) {
        for var text in texts {
            text.withUTF8 {
                header(field.number, length: $0.count)
                raw(UnsafeRawBufferPointer($0))
            }
        }
    }

    /// Writes the key and the length of a field whose bytes the caller writes behind this; nothing when it is
    /// empty.
    @inline(__always)
    mutating func head(_ field: SchemaField<Schema.Bytes>, length: Int) {
        guard length > 0 else { return }
        header(field.number, length: length)
    }
}

// MARK: - Wire types

extension FieldSink {
    /// protobuf's integers, flags and enums. A negative number takes ten bytes.
    @inline(__always)
    private mutating func number(_ number: UInt32, _ value: UInt64) {
        guard value != 0 else { return }
        varint(UInt64(number << 3))
        varint(value)
    }

    @inline(__always)
    private mutating func bytes(_ number: UInt32, _ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        header(number, length: bytes.count)
        raw(bytes)
    }

    /// The key of what has a length, and that length.
    @inline(__always)
    mutating func header(_ number: UInt32, length: Int) {
        varint(UInt64(number << 3 | 2))
        varint(UInt64(length))
    }
}

extension Duration {
    /// Rounded up, so that a time that is not zero stays so.
    package var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(0, seconds)) * 1000
            + UInt64(max(0, (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
