internal import RTMCryptography

/// A value that must not be seen: every printed form of it is a mask.
package struct Secret: Sendable, Hashable {
    /// The text that is printed instead. A configuration file that still holds it is refused (see
    /// `ConfigurationLoader`).
    package static let mask = "<masked>"

    /// Limit: bytes of a secret that protects a port which others reach.
    package static let bytesMin = 16

    /// What to do about a shorter one.
    package static let advice = "Set one as `openssl rand -hex 16` prints it"

    /// The value itself, for the one place that needs it.
    package let revealed: String

    package init(_ revealed: String) { self.revealed = revealed }

    /// Compares in the same time wherever the two differ, and however long they are.
    func isEqual(to text: String) -> Bool {
        let codes = [revealed, text].map { MessageCode.make(over: Array($0.utf8), key: [0]) }
        return MessageCode.areEqual(codes[0], codes[1])
    }
}

extension Secret {
    /// A text that is no secret as a whole, with the mask in place of each password of a URL in it.
    static func maskingPasswords(in text: String) -> String {
        text.replacing(#/([A-Za-z][\w+.\-]*:\/\/[^\/?#@\s:]*:)[^\/?#\s]*@/#) { "\($0.1)\(mask)@" }
            .replacing(#/([?&](?:ssl)?password=)[^&#\s]*/#) { "\($0.1)\(mask)" }
    }

    /// Whether a text is a URL as it is shown.
    static func isMasked(inURL text: String) -> Bool {
        text.contains(":\(mask)@") || text.contains("password=\(mask)")
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
