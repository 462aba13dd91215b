/// What a client and the edge agree on about permessage-deflate (RFC 7692). Pure.
///
/// Each message is compressed by itself, in both directions. So nothing is kept for a connection between its
/// messages, and all connections of an event loop share the memory of zlib.
package struct CompressionAgreement: Equatable {
    /// How far back the edge's compression may refer: two to the power of so many bytes.
    package let windowBits: Int
    /// Whether the client has asked for a window, which the answer has to repeat.
    private let isWindowAsked: Bool

    /// The largest window of deflate, and the smallest that zlib can compress with.
    private static let windowBitsOffered = 9...15
    /// The values that the specification allows.
    private static let windowBitsKnown = 8...15

    /// The first of a client's offers that the edge can accept.
    ///
    /// - Parameter offers: the values of all headers `Sec-WebSocket-Extensions`.
    /// - Returns: nil if there is none. Then nothing is compressed.
    package init?(offers: [String]) {
        let accepted = offers.lazy.flatMap { Self.parts(of: $0, at: ",") }
            .compactMap { Self(offer: Self.parts(of: $0, at: ";")) }.first
        guard let accepted else { return nil }
        self = accepted
    }

    private init?(offer: [Substring]) {
        guard offer.first?.lowercased() == "permessage-deflate" else { return nil }
        var names: Set<String> = []
        var serverBits: Int?
        for parameter in offer.dropFirst() {
            let halves = Self.parts(of: parameter, at: "=")
            let name = halves[0].lowercased()
            guard halves.count <= 2, names.insert(name).inserted else { return nil }
            let value = halves.count == 2 ? Self.unquoted(halves[1]) : nil
            switch (name, value) {
            case ("server_no_context_takeover", nil), ("client_no_context_takeover", nil),
                ("client_max_window_bits", nil):
                break
            case ("client_max_window_bits", let value?):
                guard Self.bits(value) != nil else { return nil }
            case ("server_max_window_bits", let value?):
                serverBits = Self.bits(value)
                guard let serverBits, Self.windowBitsOffered.contains(serverBits) else { return nil }
            default:
                return nil
            }
        }
        windowBits = serverBits ?? Self.windowBitsOffered.upperBound
        isWindowAsked = serverBits != nil
    }

    /// The value of the header that accepts the offer.
    package var answer: String {
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
            + (isWindowAsked ? "; server_max_window_bits=\(windowBits)" : "")
    }

    // MARK: Reading

    /// The parts of a header's value, without the space around them. A separator within quotes is none.
    private static func parts(of text: some StringProtocol, at separator: Character) -> [Substring] {
        var isQuoted = false
        return Substring(text).split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == separator && !isQuoted
        }.map(Self.trimmed)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let begun = text.drop(while: isSpace)
        return begun.lastIndex { !isSpace($0) }.map { begun[...$0] } ?? ""
    }

    private static func unquoted(_ value: Substring) -> Substring {
        guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return value }
        return value.dropFirst().dropLast()
    }

    private static func bits(_ value: Substring) -> Int? {
        guard !value.hasPrefix("0"), value.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        return Int(value).flatMap { windowBitsKnown.contains($0) ? $0 : nil }
    }
}
