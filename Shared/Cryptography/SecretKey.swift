/// The bytes of a key that both sides have. They are overwritten when nobody has the key any more, are
/// compared in constant time, and no description shows them.
package struct SecretKey: Sendable {
    private let storage: Storage

    /// Safety: the bytes are written before anybody else has the object, and not again while anybody has it.
    private final class Storage: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer

        init(byteCount: Int) { bytes = .allocate(byteCount: byteCount, alignment: 16) }

        deinit {
            Primitives.wipe(bytes)
            bytes.deallocate()
        }
    }

    /// A key that `fill` writes whole.
    init(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        storage = Storage(byteCount: byteCount)
        try fill(storage.bytes)
    }

    package init(_ bytes: some Collection<UInt8>) {
        self.init(byteCount: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// A key that nobody can guess, of the system's randomness.
    package static func random(byteCount: Int) -> SecretKey {
        var random = SystemRandomNumberGenerator()
        return SecretKey(byteCount: byteCount) { bytes in
            for index in bytes.indices { bytes[index] = random.next() }
        }
    }

    package var byteCount: Int { storage.bytes.count }

    package func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withExtendedLifetime(storage) { try body(UnsafeRawBufferPointer(storage.bytes)) }
    }
}

extension SecretKey: Equatable {
    package static func == (left: SecretKey, right: SecretKey) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { MessageCode.areEqual(left, $0) } }
    }
}

extension SecretKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "SecretKey" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
