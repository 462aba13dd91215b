import RTMCryptography
import RTMWire

/// What both ends of a link prove to each other before it opens: that they know the secret of the
/// installation, which itself never travels. The type is pure.
///
/// A proof covers the hello and a nonce of each end, so it is of no use on any other connection. Without a
/// configured secret the key is empty, and the proofs only show that nobody expects one.
struct ServiceLinkHandshake: Hashable {
    static let nonceBytesCount = 32

    let hello: ServiceLinkHello
    let challenge: ServiceLinkChallenge

    func callerProof(_ secret: String) -> ServiceLinkProof {
        ServiceLinkProof(proof: code("caller", [], secret))
    }

    func serviceProof(_ secret: String, incarnation: UInt64, shards: UInt32) -> [UInt8] {
        code("service", [Self.bytes(of: incarnation), Self.bytes(of: UInt64(shards))], secret)
    }

    func isRight(_ proof: ServiceLinkProof, _ secret: String) -> Bool {
        MessageCode.areEqual(proof.proof, callerProof(secret).proof)
    }

    func isRight(_ welcome: ServiceLinkWelcome, _ secret: String) -> Bool {
        MessageCode.areEqual(
            welcome.proof, serviceProof(secret, incarnation: welcome.incarnation, shards: welcome.shards))
    }

    /// Each part stands behind its length, so that no two lists of parts give the same bytes.
    private func code(_ role: String, _ more: [[UInt8]], _ secret: String) -> [UInt8] {
        let parts =
            [
                Array(role.utf8), Self.bytes(of: UInt64(hello.version)), Array(hello.service.utf8),
                Array(hello.node.utf8), hello.nonce, Self.bytes(of: UInt64(hello.shard)), challenge.nonce,
            ] + (hello.relayTo.isEmpty ? [] : [Array(hello.relayTo.utf8)]) + more
        let bytes = parts.flatMap { Self.bytes(of: UInt64($0.count)) + $0 }
        return MessageCode.make(over: bytes, key: Array(secret.utf8))
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Random bytes for one connection.
    static func nonce() -> [UInt8] {
        (0..<nonceBytesCount / 8).flatMap { _ in bytes(of: .random(in: .min ... .max)) }
    }
}
