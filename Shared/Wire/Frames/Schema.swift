/// The messages of protocol/schema with their fields.
///
/// The files in the folder Schema extend it; protocol/generate_wire.py writes them from the schema. Each
/// message has a constant for each of its fields: its number, and by its type what may be written to it.
/// So a message that is written by hand is written only to fields that the schema has and with values that
/// they can hold. protocol/wire_messages.py names these messages, with the reasons
/// (docs/decisions/0002-one-schema-two-codecs.md).
package enum Schema {
    /// Stands for the type of a field that holds `bytes`.
    package enum Bytes {}

    /// Stands for the type of a field that holds a value of an enum of the schema.
    package enum Enumeration {}
}

/// A field of a message of the schema.
///
/// `Value` is a number, a text, `Schema.Bytes`, `Schema.Enumeration`, a message of the schema, or an array of
/// one of these for a repeated field.
package struct SchemaField<Value>: Sendable {
    package let number: UInt32

    /// Only generated code and tests choose a number.
    @inline(__always)
    package init(_ number: UInt32) { self.number = number }

    @inline(__always)
    package static func ~= (field: SchemaField, number: UInt32) -> Bool { field.number == number }
}
