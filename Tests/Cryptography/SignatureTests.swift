import Foundation
import RTMCryptography
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@Suite("Signatures and their keys")
struct SignatureTests {
    private let text = Array("sample".utf8)

    // MARK: P-256

    /// RFC 6979, A.2.5.
    private let x = hex("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6")
    private let y = hex("7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299")
    private let r = hex("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716")
    private let s = hex("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")
    /// How many points the curve has.
    private let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    /// What its coordinates are counted by.
    private let prime = hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    private let zero = [UInt8](repeating: 0, count: 32)

    @Test("a signature of ECDSA of the standard is right, and no other two numbers are")
    func curveSignature() throws {
        let key = try #require(PublicKey(x: x, y: y))
        #expect(key.kind == .p256)
        #expect(key.isValid(r + s, over: text))
        #expect(!key.isValid(r + s, over: text + [0]))
        let one = Array(zero.dropLast() + [1])
        for (r, s) in [(zero, s), (r, zero), (zero, zero), (order, s), (r, order), (one, one), (s, r)] {
            #expect(!key.isValid(r + s, over: text))
        }
        for bit in 0..<512 {
            var changed = r + s
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.isValid(changed, over: text))
        }
    }

    @Test("a signature of another length or form is none: empty, cut off, longer, in DER")
    func curveSignatureForm() throws {
        let key = try #require(PublicKey(x: x, y: y))
        for count in [0, 1, 32, 63] { #expect(!key.isValid(Array((r + s).prefix(count)), over: text)) }
        #expect(!key.isValid(r + s + [0], over: text) && !key.isValid([0] + r + [0] + s, over: text))
        #expect(!key.isValid(r + [0] + s, over: text) && !key.isValid(r + s + s, over: text))
        let der = [0x30, 0x46, 0x02, 0x21, 0x00] + r + [0x02, 0x21, 0x00] + s
        #expect(!key.isValid(der, over: text))
    }

    @Test("a point that isn't on the curve, or isn't written in its 64 bytes, is no key")
    func curvePoint() {
        let off = Array(y.dropLast() + [y[31] ^ 1])
        #expect(PublicKey(x: x, y: off) == nil && PublicKey(x: y, y: x) == nil)
        #expect(PublicKey(x: zero, y: zero) == nil && PublicKey(x: prime, y: y) == nil)
        #expect(PublicKey(x: [], y: []) == nil && PublicKey(x: x + [0], y: Array(y.dropLast())) == nil)
        #expect(PublicKey(x: [0] + x, y: [0] + y) == nil)
        // The byte in front of a point says that both coordinates follow, and nothing else.
        var info = bytes(SampleJWT.curvePublicKey)
        #expect(info[26] == 4 && PublicKey(info: info) != nil)
        for form in [0, 2, 3, 5, 6, 7] as [UInt8] {
            info[26] = form
            #expect(PublicKey(info: info) == nil)
        }
    }

    // MARK: RSA

    private let modulus = numbers(of: SampleJWT.rsaPublicKey).modulus

    @Test("a signature of RSA is right, and nothing like it is")
    func rsaSignature() throws {
        let signing = try #require(PrivateKey(bytes(SampleJWT.rsaKey)))
        let key = try #require(PublicKey(modulus: modulus, exponent: [1, 0, 1]))
        #expect(signing.kind == .rsa(bits: 2048) && key.kind == .rsa(bits: 2048))
        let signature = try signing.signature(over: text)
        #expect(key.isValid(signature, over: text) && !key.isValid(signature, over: []))
        #expect(try signing.signature(over: text) == signature, "it has no randomness")
        for changed in [
            [], [0], Array(signature.dropLast()), signature + [0], [0] + signature,
            Array(signature.dropFirst()),
            [UInt8](repeating: 0, count: 256), [UInt8](repeating: 0xFF, count: 256), modulus,
            Array(modulus.dropLast() + [modulus[255] & 0xFE]),
        ] {
            #expect(!key.isValid(changed, over: text))
        }
        for bit in stride(from: 0, to: 2048, by: 5) {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.isValid(changed, over: text))
        }
        let other = try #require(PrivateKey(bytes(SampleJWT.otherRSAKey)))
        #expect(!key.isValid(try other.signature(over: text), over: text))
    }

    @Test("numbers that are no key of RSA, or make a check slow, are refused")
    func rsaNumbers() {
        func isKey(_ modulus: [UInt8], _ exponent: [UInt8]) -> Bool {
            PublicKey(modulus: modulus, exponent: exponent) != nil
        }
        let even = Array(modulus.dropLast() + [0])
        #expect(isKey(modulus, [3]) && isKey(modulus, [0, 0, 1, 0, 1]) && isKey([0] + modulus, [1, 0, 1]))
        #expect(!isKey(even, [1, 0, 1]) && !isKey([], [1, 0, 1]) && !isKey([0], [1, 0, 1]))
        for exponent in [[], [0], [1], [2], [1, 0, 0], [2, 0, 0, 0, 1], modulus] as [[UInt8]] {
            #expect(!isKey(modulus, exponent), "\(exponent.count)")
        }
        #expect(isKey(modulus, [1, 0, 0, 0, 1]), "33 bits")
        let long = [UInt8](repeating: 0xFF, count: 1_024)
        #expect(isKey(long, [1, 0, 1]) && !isKey([1] + long, [1, 0, 1]), "8192 bits, and one more")
    }

    // MARK: Forms

    @Test(
        "a key in DER has one spelling: cut off, with bytes behind or inside it, it is none",
        arguments: [SampleJWT.rsaPublicKey, SampleJWT.curvePublicKey, SampleJWT.rsaKey, SampleJWT.curveKey])
    func spelling(_ pem: String) throws {
        let der = bytes(pem)
        func isKey(_ bytes: [UInt8]) -> Bool {
            pem.contains("PUBLIC") ? PublicKey(info: bytes) != nil : PrivateKey(bytes) != nil
        }
        #expect(isKey(der) && !isKey(der + [0]) && !isKey(der + der) && !isKey([0] + der))
        for count in 0..<der.count { #expect(!isKey(Array(der.prefix(count))), "\(count) bytes") }
        // The length of the whole is counted with a leading zero, without an end, and as one more.
        let digits = Int(der[1] & 0x7F)
        if der[1] > 0x80 {
            #expect(!isKey([0x30, der[1] + 1, 0] + der[2...]))
            #expect(!isKey([0x30, 0x80] + der[(2 + digits)...] + [0, 0]))
        }
        var longer = der
        longer[der[1] > 0x80 ? 1 + digits : 1] += 1
        #expect(!isKey(longer) && !isKey(longer + [0]))
    }

    @Test("random bytes in a key never crash, and make no key of another kind")
    func garbage() {
        let keys = [SampleJWT.rsaPublicKey, SampleJWT.curvePublicKey, SampleJWT.rsaKey, SampleJWT.curveKey]
            .map(bytes)
        for seed in 0..<2_000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var key = keys[Int(seed % 4)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                key[Int.random(in: 0..<min(40, key.count), using: &random)] = .random(
                    in: .min ... .max, using: &random)
            }
            if let changed = PublicKey(info: key) { #expect(!changed.isValid([], over: [])) }
            _ = PublicKey(pkcs1: key)
            if let changed = PrivateKey(key) { _ = try? changed.signature(over: []) }
        }
    }

    @Test("one key is used on many threads at a time")
    func threads() async throws {
        let curve = try #require(PrivateKey(bytes(SampleJWT.curveKey)))
        let curvePublic = try #require(PublicKey(info: bytes(SampleJWT.curvePublicKey)))
        let rsa = try #require(PrivateKey(bytes(SampleJWT.rsaKey)))
        let rsaPublic = try #require(PublicKey(info: bytes(SampleJWT.rsaPublicKey)))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 as Range<UInt8> {
                group.addTask {
                    for round in 0..<20 as Range<UInt8> {
                        let text = [number, round]
                        let signatures = [try curve.signature(over: text), try rsa.signature(over: text)]
                        guard curvePublic.isValid(signatures[0], over: text),
                            rsaPublic.isValid(signatures[1], over: text),
                            !curvePublic.isValid(signatures[0], over: [number]),
                            !rsaPublic.isValid(signatures[0], over: text)
                        else { return false }
                    }
                    return true
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("a private key doesn't check, and a public one doesn't sign")
    func parts() {
        for pem in [SampleJWT.rsaPublicKey, SampleJWT.curvePublicKey] {
            #expect(PrivateKey(bytes(pem)) == nil)
            #expect(PublicKey(pkcs1: bytes(pem)) == nil)
        }
        for pem in [SampleJWT.rsaKey, SampleJWT.curveKey] {
            #expect(PublicKey(info: bytes(pem)) == nil && PublicKey(pkcs1: bytes(pem)) == nil)
        }
    }
}

/// What stands between the lines of a text in PEM.
private func bytes(_ pem: String) -> [UInt8] {
    Array(Data(base64Encoded: pem.split(separator: "\n").dropFirst().dropLast().joined()) ?? Data())
}

/// The modulus of a key of 2048 bits, behind 33 bytes of its form.
private func numbers(of pem: String) -> (modulus: [UInt8], exponent: [UInt8]) {
    let key = bytes(pem)
    return (Array(key[33..<33 + 256]), Array(key.suffix(3)))
}
