/// SHA-256: a short name of bytes that everybody computes alike.
package enum MessageDigest {
    package static let bytesCount = 32

    package static func make(of bytes: some Collection<UInt8>) -> [UInt8] {
        bytes.withBytes(Primitives.digest)
    }
}

extension Collection<UInt8> {
    /// Lends the bytes as they lie in memory, or else a copy of them.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try withContiguousStorageIfAvailable(body) { return result }
        return try Array(self).withUnsafeBufferPointer(body)
    }
}
