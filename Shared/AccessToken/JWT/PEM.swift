import Foundation

/// One value in PEM (RFC 7468): base64 between a line that begins it and a line that ends it.
struct PEM {
    let label: String
    let bytes: [UInt8]

    /// `nil` for another form. A text in front of the first line is passed over, as that which OpenSSL writes
    /// there; behind the last line there may be nothing.
    init?(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        let value = lines.drop { !$0.hasPrefix(Self.begin) }.reversed().drop(while: \.isEmpty).reversed()
        guard let first = value.first, let last = value.last, first.hasSuffix(Self.dashes) else { return nil }
        let label = first.dropFirst(Self.begin.count).dropLast(Self.dashes.count)
        guard value.count > 2, last == "\(Self.end)\(label)\(Self.dashes)",
            let bytes = Data(base64Encoded: value.dropFirst().dropLast().joined())
        else { return nil }
        self.label = String(label)
        self.bytes = Array(bytes)
    }

    private static let begin = "-----BEGIN "
    private static let end = "-----END "
    private static let dashes = "-----"
}
