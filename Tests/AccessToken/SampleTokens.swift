import Foundation
import RTMModel
import RTMTestSupport

@testable import RTMAccessToken

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func isSignatureRight(_ signed: SignedToken, _ certificate: String) -> Bool {
    let expected = TokenSignature.make(
        over: signed.signedBytes, issuedAt: signed.token.issuedAt, salt: signed.token.salt,
        certificate: certificate)
    return TokenSignature.areEqual(expected, signed.signature)
}

/// A token's text around bytes that no builder would write.
func tokenText(inflated bytes: [UInt8]) -> String { tokenText(compressed: ZlibStream.deflate(bytes)) }

func tokenText(compressed bytes: [UInt8]) -> String { "007" + Data(bytes).base64EncodedString() }

/// A token with a right signature, whatever the bytes behind the salt are.
func tokenText(signing bytes: [UInt8], issuedAt: UInt32, salt: UInt32) -> String {
    let signature = TokenSignature.make(
        over: bytes, issuedAt: issuedAt, salt: salt, certificate: TokenVector.certificate)
    return tokenText(inflated: [32, 0] + signature + bytes)
}

extension SignedToken {
    /// The bytes that are compressed in the text.
    var inflated: [UInt8] { [32, 0] + signature + signedBytes }
}

extension SeededGenerator {
    /// A token with services of all kinds, in the order in which a builder sorts them.
    mutating func token() -> AccessToken {
        let count = Int.random(in: 1...5, using: &self)
        let services = (0..<count).map { _ in service() }.enumerated().sorted {
            ($0.element.kind.rawValue, $0.offset) < ($1.element.kind.rawValue, $1.offset)
        }
        return AccessToken(
            appID: TokenVector.appID, issuedAt: UInt32(truncatingIfNeeded: number()),
            lifetimeSeconds: UInt32(truncatingIfNeeded: number()), salt: UInt32(truncatingIfNeeded: number()),
            services: services.map(\.element))
    }

    private mutating func service() -> TokenService {
        let content: TokenService.Content =
            switch TokenService.Kind.allCases.randomElement(using: &self) ?? .rtm {
            case .rtc: .rtc(channel: text(upTo: 20), user: text(upTo: 20))
            case .rtm: .rtm(user: text(upTo: 20))
            case .rtm2: .rtm2(user: text(upTo: 20), permissions: permissions())
            case .fpa: .other(.fpa, payload: [])
            case .chat: .other(.chat, payload: textBytes())
            case .streaming: .other(.streaming, payload: textBytes() + textBytes())
            case .fcdn: .other(.fcdn, payload: textBytes() + textBytes())
            case .apaas: .other(.apaas, payload: textBytes() + textBytes() + [255, 255])
            }
        return TokenService(content, privileges: map { UInt32(truncatingIfNeeded: $0.number()) })
    }

    private mutating func permissions() -> TokenPermissions {
        TokenPermissions(
            map { generator in
                generator.map { generator in
                    (0..<Int.random(in: 0...3, using: &generator)).map { _ in generator.text(upTo: 10) }
                }
            })
    }

    private mutating func textBytes() -> [UInt8] {
        var writer = ByteWriter()
        writer.text(text(upTo: 20))
        return writer.bytes
    }

    private mutating func map<Value>(_ value: (inout SeededGenerator) -> Value) -> [UInt16: Value] {
        var values: [UInt16: Value] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &self) {
            values[UInt16(truncatingIfNeeded: number())] = value(&self)
        }
        return values
    }
}
