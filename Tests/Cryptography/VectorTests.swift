import RTMCryptography
import Testing

/// What standards say that comes out.
@Suite("Known answers of hashes, codes, keys and ciphers")
struct VectorTests {
    @Test("SHA-256 (FIPS 180-4), of an array and of what isn't one")
    func digest() {
        let answer = hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(MessageDigest.make(of: Array("abc".utf8)) == answer)
        #expect(MessageDigest.make(of: "abc".utf8.reversed().reversed()) == answer)
        #expect(
            MessageDigest.make(of: [])
                == hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    @Test("HMAC (RFC 2202, RFC 4231), with every length of a key")
    func code() {
        let (jefe, text) = (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(
            MessageCode.make(over: text, key: jefe)
                == hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(
            MessageCode.make(over: text, key: jefe, .sha1) == hex("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"))
        #expect(
            MessageCode.make(
                over: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                key: [UInt8](repeating: 0xAA, count: 131))
                == hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"))
        #expect(
            MessageCode.make(over: [], key: [])
                == hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
    }

    @Test("codes are equal if all their bytes are")
    func equality() {
        #expect(MessageCode.areEqual([], []) && MessageCode.areEqual([1, 2], [1, 2]))
        #expect(!MessageCode.areEqual([1, 2], [1, 3]) && !MessageCode.areEqual([1, 2], [0, 2]))
        #expect(!MessageCode.areEqual([1], [1, 2]) && !MessageCode.areEqual([1], []))
    }

    @Test("HKDF (RFC 5869, A.1 to A.3), and as much as it gives with a long info")
    func derivation() {
        func derive(_ secret: [UInt8], _ salt: [UInt8], _ info: [UInt8], _ count: Int) -> [UInt8] {
            KeyDerivation.derive(from: SecretKey(secret), salt: salt, info: info, byteCount: count)
                .withUnsafeBytes { Array($0) }
        }
        let short = [UInt8](repeating: 0x0B, count: 22)
        #expect(
            derive(short, Array(0..<13), Array(0xF0..<0xFA), 42)
                == hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        )
        #expect(
            derive(Array(0..<0x50), Array(0x60..<0xB0), Array(0xB0...0xFF), 82)
                == hex(
                    "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e59"
                        + "0e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"))
        #expect(
            derive(short, [], [], 42)
                == hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
        )
        let most = derive(
            [UInt8](repeating: UInt8(ascii: "k"), count: 3_000), [UInt8(ascii: "s")],
            [UInt8](repeating: 0, count: 5_000), KeyDerivation.bytesMax)
        #expect(
            MessageDigest.make(of: most)
                == hex("162ed324db1db7f47c1e8fa57a1448b7602854f9e9a6e04fbce653541b0277b5"))
    }

    private static let plain = hex(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
            + "b16aedf5aa0de657ba637b39")
    private static let half = hex("feffe9928665731c6d6a8f9467308308")

    @Test(
        "AES-GCM (McGrew and Viega, cases 1, 4, 13 and 16)",
        arguments: [
            ([UInt8](repeating: 0, count: 16), [], "58e2fccefa7e3061367f1d57a4e7455a"),
            ([UInt8](repeating: 0, count: 32), [], "530f8afbc74536b9a963b4f1c4cb738b"),
            (
                half, plain,
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84"
                    + "aa051ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47"
            ),
            (
                half + half, plain,
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b105682"
                    + "8838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
            ),
        ] as [([UInt8], [UInt8], String)])
    func cipher(_ key: [UInt8], _ plain: [UInt8], _ answer: String) throws {
        let isEmpty = plain.isEmpty
        let nonce = isEmpty ? [UInt8](repeating: 0, count: 12) : hex("cafebabefacedbaddecaf888")
        let context = isEmpty ? [] : hex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let sealed = AESGCM.seal(plain, with: SecretKey(key), nonce: nonce, context: context)
        #expect(sealed == hex(answer))
        #expect(AESGCM.open(sealed, with: SecretKey(key), nonce: nonce, context: context) == plain)
        // No bit may change, neither of the ciphertext nor of the tag, nor of what is only authenticated.
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(AESGCM.open(changed, with: SecretKey(key), nonce: nonce, context: context) == nil)
        }
        #expect(AESGCM.open(sealed, with: SecretKey(key), nonce: nonce, context: context + [0]) == nil)
        #expect(AESGCM.open(sealed + [0], with: SecretKey(key), nonce: nonce, context: context) == nil)
        for count in 0..<sealed.count {
            #expect(
                AESGCM.open(sealed.prefix(count), with: SecretKey(key), nonce: nonce, context: context) == nil
            )
        }
        for other in [[], Array(nonce.dropLast()), nonce + [0]] {
            #expect(AESGCM.open(sealed, with: SecretKey(key), nonce: other, context: context) == nil)
        }
    }

    @Test("a key is equal to one of the same bytes, and nothing that is printed shows it")
    func secretKey() {
        let key = SecretKey([1, 2, 3])
        #expect(key == SecretKey([1, 2, 3]) && key != SecretKey([1, 2, 4]) && key != SecretKey([1, 2]))
        #expect(SecretKey([]) == SecretKey([]) && key.byteCount == 3)
        #expect(SecretKey.random(byteCount: 32) != .random(byteCount: 32))
        var printed = "\(key) \(String(reflecting: key)) \([key])"
        dump(key, to: &printed)
        #expect(!printed.contains("1") && !printed.contains("storage"))
    }
}

func hex(_ digits: String) -> [UInt8] {
    let values = digits.compactMap(\.hexDigitValue).map(UInt8.init)
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}
