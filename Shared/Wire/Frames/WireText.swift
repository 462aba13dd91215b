import CProtobufC

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Text or bytes of a decoded message where they lie: in the arena or in the frame. A view is valid until the
/// decoder's next message; code that keeps it longer copies it.
package struct WireText {
    package let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package static var empty: WireText { WireText(UnsafeRawBufferPointer(start: nil, count: 0)) }

    /// A C string, or the empty text for nil.
    init(_ text: UnsafeMutablePointer<CChar>?) {
        guard let text else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        var length = 0
        while text[length] != 0 { length += 1 }
        bytes = UnsafeRawBufferPointer(start: text, count: length)
    }

    package var isEmpty: Bool { bytes.isEmpty }

    /// A copy. Malformed UTF-8 becomes replacement characters, so names are checked before they are copied.
    package var string: String { String(decoding: bytes, as: UTF8.self) }

    package func hasSameBytes(as other: WireText) -> Bool {
        guard bytes.count == other.bytes.count else { return false }
        guard let mine = bytes.baseAddress, let theirs = other.bytes.baseAddress else { return true }
        return memcmp(mine, theirs, bytes.count) == 0
    }

    package var isValidUTF8: Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// The same view. A text with a NUL in it is refused, as everywhere (TextWithNul).
    package func refusingNul() throws(WireError) -> WireText {
        guard !TextWithNul.hasZero(bytes) else { throw .textWithNul }
        return self
    }

    /// A copy. Malformed UTF-8 is refused.
    package func copiedIfValid() throws(WireError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .undecodable }
        return text
    }
}

extension String {
    /// The string's bytes as a view, for the duration of the call.
    package func withWireText<Result>(_ body: (WireText) -> Result) -> Result {
        var copy = self
        return copy.withUTF8 { body(WireText(UnsafeRawBufferPointer($0))) }
    }
}

extension WireText {
    init(_ bytes: ProtobufCBinaryData) {
        self.init(UnsafeRawBufferPointer(start: bytes.data, count: bytes.len))
    }
}
