import Foundation
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMAccessToken

/// Texts that no builder makes. Each is refused with `.invalidToken` (-10005), none crashes the reader, and
/// none lets anybody in.
@Suite("Hostile tokens")
struct HostileTokenTests {
    @Test("generated tokens come back as they were, from text and from bytes")
    func roundTrip() throws {
        for seed in 0..<500 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let signed = try generator.token().signed(with: TokenVector.certificate)
            let parsed = try SignedToken(signed.text)
            #expect(parsed == signed, "seed \(seed)")
            #expect(isSignatureRight(parsed, TokenVector.certificate), "seed \(seed)")
        }
    }

    @Test("every beginning of a token's text is refused", arguments: TokenVector.all)
    func cutText(_ vector: TokenVector) {
        for count in 0..<vector.text.count {
            #expect(refusal(String(vector.text.prefix(count))) == .invalidToken, "\(count) characters")
        }
    }

    @Test("every beginning of a token's bytes is refused", arguments: TokenVector.all)
    func cutBytes(_ vector: TokenVector) throws {
        let bytes = try SignedToken(vector.text).inflated
        for count in 0..<bytes.count {
            #expect(
                refusal(tokenText(inflated: Array(bytes.prefix(count)))) == .invalidToken, "\(count) bytes")
        }
    }

    @Test("no changed bit of signature or signed bytes verifies", arguments: TokenVector.all)
    func flippedBits(_ vector: TokenVector) throws {
        let bytes = try SignedToken(vector.text).inflated
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!verifies(tokenText(inflated: changed)), "bit \(bit)")
        }
    }

    @Test("a changed bit of the text is refused, or changes no byte that counts", arguments: TokenVector.all)
    func flippedText(_ vector: TokenVector) throws {
        let original = try SignedToken(vector.text)
        let text = Array(vector.text.utf8)
        for bit in 0..<text.count * 8 {
            var changed = text
            changed[bit / 8] ^= 1 << (bit % 8)
            let token = try? SignedToken(String(decoding: changed, as: UTF8.self))
            #expect(token == nil || token == original, "bit \(bit)")
        }
    }

    @Test("a signature has 32 bytes: no fewer, of which some could be guessed, and no more")
    func signatureLength() throws {
        let signed = try SignedToken(TokenVector.rtmLogin.text)
        for count in [0, 1, 31, 33] {
            let signature = Array((signed.signature + [0]).prefix(count))
            let text = tokenText(inflated: [UInt8(count), 0] + signature + signed.signedBytes)
            #expect(try SignedToken(text).token == signed.token)
            #expect(!verifies(text), "\(count) bytes")
        }
    }

    @Test("A-8: a bomb is refused after 16 KiB, whatever it would come to")
    func bomb() {
        let bomb = ZlibStream.deflate([UInt8](repeating: 0, count: 16 << 20))
        #expect(tokenText(compressed: bomb).utf8.count < SignedToken.textBytesMax)
        let error = #expect(throws: RTMError.self) { try SignedToken(tokenText(compressed: bomb)) }
        #expect(error?.code == .invalidToken)
        #expect(error?.limit == RTMError.Limit(name: "token bytes", value: 16_384))
        #expect(ZlibStream.inflate(bomb, upTo: 10) == .moreThan(10))
    }

    @Test("A-8: inflation goes to 16 KiB and not a byte further")
    func inflationLimit() {
        func inflated(_ count: Int) -> ZlibStream.Inflated {
            ZlibStream.inflate(ZlibStream.deflate([UInt8](repeating: 7, count: count)), upTo: 16_384)
        }
        #expect(inflated(16_384) == .bytes([UInt8](repeating: 7, count: 16_384)))
        #expect(inflated(16_385) == .moreThan(16_384))
        #expect(inflated(0) == .bytes([]))
    }

    @Test("a text beyond its limit is not even decoded")
    func longText() {
        let error = #expect(throws: RTMError.self) {
            try SignedToken("007" + String(repeating: "A", count: SignedToken.textBytesMax))
        }
        #expect(error?.code == .invalidToken)
        #expect(error?.limit?.value == UInt64(SignedToken.textBytesMax))
    }

    @Test(
        "what is not base64, in the standard alphabet and with its padding, is refused",
        arguments: [" ", "\n", "-", "_", "é", "\u{301}", "\0", "="])
    func base64(_ character: String) {
        let text = TokenVector.rtmLogin.text
        #expect(refusal(text + character) == .invalidToken)
        #expect(refusal("007" + character + text.dropFirst(3)) == .invalidToken)
        #expect(refusal(text.prefix(20) + character + text.dropFirst(21)) == .invalidToken)
    }

    @Test("bytes behind the compressed part, and behind the last service, are refused")
    func trailing() throws {
        let inflated = try SignedToken(TokenVector.rtmLogin.text).inflated
        let compressed = ZlibStream.deflate(inflated)
        #expect(refusal(tokenText(compressed: compressed)) == nil)
        #expect(refusal(tokenText(compressed: compressed + [0])) == .invalidToken)
        #expect(refusal(tokenText(compressed: compressed + compressed)) == .invalidToken)
        #expect(refusal(tokenText(inflated: inflated + [0])) == .invalidToken)
    }

    @Test("a privilege that is there twice is refused, because readers would disagree on it")
    func ambiguous() {
        var bytes = ByteWriter()
        bytes.text(TokenVector.appID)
        for number in [1, 600, 1] as [UInt32] { bytes.number(number) }
        for number in [1, 2, 2] as [UInt16] { bytes.number(number) }
        for seconds in [60, 600] as [UInt32] {
            bytes.number(1 as UInt16)
            bytes.number(seconds)
        }
        bytes.text("alice")
        #expect(refusal(tokenText(signing: bytes.bytes, issuedAt: 1, salt: 1)) == .invalidToken)
    }

    @Test("counts that claim more than there is cost no more than there is")
    func falseCounts() {
        let head = [32, 0] + [UInt8](repeating: 0, count: 32) + [0, 0] + [UInt8](repeating: 0, count: 12)
        let everything = [UInt8](repeating: 0xFF, count: 200)
        #expect(refusal(tokenText(inflated: head + everything)) == nil, "65535 services of an unknown type")
        #expect(refusal(tokenText(inflated: head + [255, 255, 2, 0] + everything)) == .invalidToken)
        #expect(
            refusal(tokenText(inflated: head + [255, 255, 8, 0, 0, 0, 0, 0] + everything)) == .invalidToken)
        #expect(refusal(tokenText(inflated: everything)) == .invalidToken)
    }

    @Test("random bytes, and damaged tokens of all kinds, never get in")
    func garbage() throws {
        for seed in 0..<3000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var bytes = generator.bytes(upTo: 300)
            #expect(!verifies(tokenText(compressed: bytes)), "seed \(seed)")
            #expect(!verifies(tokenText(inflated: bytes)), "seed \(seed)")
            bytes = try generator.token().signed(with: TokenVector.certificate).inflated
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] ^= UInt8.random(
                    in: 1...255, using: &generator)
            }
            let original = try? SignedToken(tokenText(inflated: bytes))
            #expect(original.map { isSignatureRight($0, TokenVector.certificate) } != true, "seed \(seed)")
        }
    }

    // MARK: -

    private func refusal(_ text: String) -> ErrorCode? {
        do throws(RTMError) {
            _ = try SignedToken(text)
            return nil
        } catch {
            return error.code
        }
    }

    /// Whether any of the tokens has a right signature, whatever it is for.
    private func verifies(_ text: String) -> Bool {
        (try? SignedToken(text)).map { isSignatureRight($0, TokenVector.certificate) } ?? false
    }
}
