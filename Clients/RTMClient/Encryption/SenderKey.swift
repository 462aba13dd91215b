import Crypto
import Foundation

/// What one sender encrypts with in one channel.
struct SenderKey: Sendable {
    static let nonceBytes = 12

    let key: SymmetricKey
    let nonceSalt: Data

    /// The counter in the last four bytes, mixed with bytes that only those who have the key know.
    func nonce(_ counter: UInt32) throws -> AES.GCM.Nonce {
        var nonce = nonceSalt
        for byte in 0..<4 {
            nonce[Self.nonceBytes - 1 - byte] ^= UInt8(truncatingIfNeeded: counter >> UInt32(8 * byte))
        }
        return try AES.GCM.Nonce(data: nonce)
    }
}
