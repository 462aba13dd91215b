import RTMCryptography

/// The signature over a token's bytes.
enum TokenSignature {
    static let bytesCount = MessageCode.bytesCount

    /// Issue time and salt are the *keys* with which the certificate is hashed, as little-endian bytes; they
    /// are not the data.
    static func make(
        over signed: some Sequence<UInt8>, issuedAt: UInt32, salt: UInt32, certificate: String
    ) -> [UInt8] {
        let byTime = MessageCode.make(over: Array(certificate.utf8), key: littleEndian(issuedAt))
        let bySalt = MessageCode.make(over: byTime, key: littleEndian(salt))
        return MessageCode.make(over: Array(signed), key: bySalt)
    }

    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { MessageCode.areEqual(left, right) }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
