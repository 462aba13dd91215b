import Foundation
import RTMAccessToken
import RTMModel

/// The first byte chooses: a text as a client may send it, or what is in a token, in the form that a token
/// has. Otherwise nothing would get past base64 and zlib's checksum.
enum FuzzedToken {
    private static let appID = "970CA35de60c44645bbae8a215061b33"
    private static let verifier = TokenVerifier(
        appID: appID, certificate: "5CFd2fd1755d40ecb72977518be15d3b")

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        guard let choice = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        let text = choice & 1 == 0 ? String(decoding: rest, as: UTF8.self) : text(containing: rest)
        if let grant = try? verifier.verify(text, userID: "test_user", nowMilliseconds: 1_111_112_000) {
            _ = grant.allows(.write, to: .messageChannels, named: "news".utf8)
        }
        guard let token = try? SignedToken(text) else { return }
        let again = try? SignedToken(token.text)
        try Disagreement.unless(token == again, "written and read, the token is another")
    }

    /// zlib's form without compression: header, stored blocks, Adler-32.
    private static func text(containing bytes: [UInt8]) -> String {
        var stored: [UInt8] = [0x78, 0x01]
        let block = bytes.prefix(Int(UInt16.max))
        let length = UInt16(block.count)
        stored.append(1)
        for number in [length, ~length] { stored += [UInt8(number & 0xFF), UInt8(number >> 8)] }
        stored += block
        let sum = block.reduce((1, 0) as (UInt32, UInt32)) { sums, byte in
            let first = (sums.0 + UInt32(byte)) % 65_521
            return (first, (sums.1 + first) % 65_521)
        }
        withUnsafeBytes(of: (sum.1 << 16 | sum.0).bigEndian) { stored += $0 }
        return "007" + Data(stored).base64EncodedString()
    }
}
