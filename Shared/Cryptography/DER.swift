/// The encoding of keys and signatures (X.690, DER). A value has one spelling: what has another one is
/// refused, as is anything behind it. Pure.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = ArraySlice(bytes) }

    var isAtEnd: Bool { rest.isEmpty }

    /// The content of the next element. `nil` if it has another tag, or isn't DER.
    mutating func next(_ tag: DER.Tag) -> ArraySlice<UInt8>? {
        guard rest.popFirst() == tag.rawValue, let count = count(), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// The next element, which has to be the last one.
    mutating func last(_ tag: DER.Tag) -> ArraySlice<UInt8>? {
        guard let content = next(tag), isAtEnd else { return nil }
        return content
    }

    /// The next number without leading zeros. `nil` if it is negative, too.
    mutating func natural() -> ArraySlice<UInt8>? {
        guard let content = next(.integer), let first = content.first, first < 0x80 else { return nil }
        guard first == 0, content.count > 1 else { return content.drop { $0 == 0 } }
        let number = content.dropFirst()
        return number.first.map { $0 >= 0x80 } == true ? number : nil
    }

    private mutating func count() -> Int? {
        guard let first = rest.popFirst() else { return nil }
        guard first >= 0x80 else { return Int(first) }
        let digits = Int(first & 0x7F)
        // Three bytes of length are more than a key has.
        guard 1...3 ~= digits, digits <= rest.count else { return nil }
        let count = rest.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(digits)
        let isShortest = count >= 0x80 && count >> (8 * (digits - 1)) > 0
        return isShortest ? count : nil
    }
}

/// Writes elements of DER. Pure.
enum DER {
    enum Tag: UInt8 {
        case integer = 0x02
        case bitString = 0x03
        case octetString = 0x04
        case sequence = 0x30
        /// What PKCS #8 may have behind a key.
        case attributes = 0xA0
    }

    static func element(_ tag: Tag, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag.rawValue, UInt8(content.count)] + content }
        let digits = stride(from: 24, through: 0, by: -8)
            .map { UInt8(truncatingIfNeeded: content.count >> $0) }.drop { $0 == 0 }
        return [tag.rawValue, 0x80 | UInt8(digits.count)] + digits + content
    }

    static func natural(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return element(.integer, digits.first.map { $0 < 0x80 } == true ? digits : [0] + digits)
    }

    /// `rsaEncryption` without parameters (RFC 3279).
    static let rsa: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    /// `id-ecPublicKey` on the curve P-256 (RFC 5480).
    static let p256: [UInt8] = [
        0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]

    /// A public key behind its algorithm (`SubjectPublicKeyInfo`).
    static func publicKey(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        element(.sequence, element(.sequence, algorithm) + element(.bitString, [0] + key))
    }
}
