/// HMAC: a code that only somebody who knows the key can make or check.
package enum MessageCode {
    package enum Hash {
        /// Only for what others have defined with it.
        case sha1
        case sha256

        fileprivate var bytesCount: Int { self == .sha1 ? 20 : MessageCode.bytesCount }
    }

    package static let bytesCount = 32

    package static func make(over bytes: [UInt8], key: [UInt8], _ hash: Hash = .sha256) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: hash.bytesCount)
        code.withUnsafeMutableBytes { code in
            bytes.withUnsafeBytes { bytes in
                key.withUnsafeBytes { Primitives.code(over: bytes, key: $0, hash, into: code) }
            }
        }
        return code
    }

    /// Compares in the same time wherever the two differ, so that nobody can find out a code byte by byte.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { areEqual(left, $0) } }
    }

    static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        left.count == right.count && Primitives.areEqual(left, right)
    }
}
