import CProtobufC
import RTMWire

enum Fields {
    /// How often a field occurs in a message; what can't be read has none.
    static func count(_ number: UInt32, in bytes: UnsafeRawBufferPointer) -> Int {
        var scanner = ProtobufScanner(bytes)
        var count = 0
        while let field = try? scanner.next() { count += field.number == number ? 1 : 0 }
        return count
    }
}

extension ProtobufCBinaryData {
    var view: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: len) }
}

extension WireText {
    /// protobuf-c's texts end at their first NUL.
    func isSame(_ text: UnsafePointer<CChar>) -> Bool {
        bytes.prefix { $0 != 0 }.elementsEqual(String.bytes(of: text))
    }
}

extension String {
    /// protobuf-c's texts may be no UTF-8, which was mended in a copy, and they end at their first NUL.
    func isSame(_ text: UnsafePointer<CChar>) -> Bool {
        Array(utf8.prefix { $0 != 0 }) == Array(String(decoding: Self.bytes(of: text), as: UTF8.self).utf8)
    }

    fileprivate static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
        var length = 0
        while text[length] != 0 { length += 1 }
        return UnsafeBufferPointer(start: text, count: length).map { UInt8(bitPattern: $0) }
    }
}
