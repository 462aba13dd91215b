import Foundation

/// A sealed metadata value together with who wrote it: the length of the user id, the id, and the value.
/// Pure.
struct AuthoredContent: Sendable, Hashable {
    var author: String
    var sealed: Data

    init(author: String, sealed: Data) {
        self.author = author
        self.sealed = sealed
    }

    var text: String {
        var bytes = Data([UInt8(truncatingIfNeeded: author.utf8.count)])
        bytes.append(contentsOf: author.utf8)
        bytes.append(sealed)
        return bytes.base64EncodedString()
    }

    /// `nil` for a text that no client has made.
    init?(_ text: String) {
        guard let bytes = Data(base64Encoded: text), let length = bytes.first,
            bytes.count > Int(length)
        else { return nil }
        author = String(decoding: bytes.dropFirst().prefix(Int(length)), as: UTF8.self)
        sealed = bytes.dropFirst(1 + Int(length))
    }
}
