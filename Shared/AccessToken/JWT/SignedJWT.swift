// JWTs: tokens of an identity provider, as a second kind beside the tokens 007 (behaviour.md 11). The way
// through this folder:
//
//     JWTClaims ── signed(with: JWTSigningKey) ──▶ text ──▶ SignedJWT ── JWTVerifier ──▶ grant
//                                                       JWTKeySet ──────┘

import Foundation
package import RTMModel

/// A JWT as it travels: a header that names the key, the claims, and the signature over both.
///
/// A signature that is there need not be right: `JWTKeySet` decides. Until then nothing of the claims is
/// believed, nor read by a server.
package struct SignedJWT: Sendable, Hashable {
    package let header: JWTHeader
    let payload: [UInt8]
    let signature: [UInt8]
    /// The text that is signed: header and payload as they were received, with the dot between them.
    let signedBytes: [UInt8]

    /// Whether a text is a JWT rather than a token 007, which is base64 and has no dot.
    package static func isOne(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: ".")) }

    /// Reads the form and the header of a text.
    ///
    /// - Throws: `.invalidToken` (-10005) with what is wrong about the form.
    package init(_ text: String) throws(RTMError) {
        guard !text.isEmpty else { throw RTMError(.invalidToken, "the token is empty") }
        guard text.utf8.count <= SignedToken.textBytesMax else {
            throw RTMError(
                .invalidToken,
                "the token has \(text.utf8.count) bytes, \(SignedToken.textBytesMax) are allowed",
                limit: .init(name: "token text bytes", value: UInt64(SignedToken.textBytesMax)))
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw RTMError(
                .invalidToken,
                parts.count == 5
                    ? "the token is an encrypted JWT, and only signed ones are accepted"
                    : "this is not a JWT: it doesn't have three parts with a dot between them")
        }
        header = try JWTHeader(try Self.bytes(of: parts[0], "header"))
        payload = try Self.bytes(of: parts[1], "claims")
        signature = try Self.bytes(of: parts[2], "signature")
        signedBytes = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    private static func bytes(of part: Substring, _ name: String) throws(RTMError) -> [UInt8] {
        guard let bytes = Base64URL.bytes(of: part) else {
            throw RTMError(
                .invalidToken, "the token's \(name) is not base64url: the token was cut off or changed")
        }
        return bytes
    }

    /// What the token says. Whoever asks has checked the signature, or only shows it to a person.
    ///
    /// - Throws: `.invalidToken` (-10005) for claims that can't be read.
    package func claims() throws(RTMError) -> JWTClaims { try JWTClaims(json: payload) }
}

/// What the header of a JWT says about its signature.
package struct JWTHeader: Sendable, Hashable {
    /// The algorithm that the token claims. It never decides how the token is checked: the key does.
    package let algorithm: String
    /// The name of the key (`kid`).
    package let keyID: String?

    /// The types that a token for a login may have. Others, such as `logout+jwt`, mean something else.
    private static let types: Set<String> = ["jwt", "at+jwt"]

    fileprivate init(_ bytes: [UInt8]) throws(RTMError) {
        let fields: Fields
        do {
            fields = try StrictJSON.decode(Fields.self, from: bytes)
        } catch let refusal as RTMError {
            throw refusal
        } catch {
            throw RTMError(.invalidToken, "the token's header is not a JSON object of a JWT")
        }
        guard !fields.isCritical else {
            throw RTMError(
                .invalidToken, "the token's header has extensions that must be understood (crit), and aren't")
        }
        let type = fields.typ?.lowercased() ?? "jwt"
        guard Self.types.contains(type.replacing("application/", with: "", maxReplacements: 1)) else {
            throw RTMError(.invalidToken, "the token is a JWT of another type, \(type.quoted)")
        }
        guard let algorithm = fields.alg else {
            throw RTMError(.invalidToken, "the token's header names no algorithm (alg)")
        }
        self.algorithm = algorithm
        keyID = fields.kid
    }

    private struct Fields: Decodable {
        let alg: String?
        let kid: String?
        let typ: String?
        let isCritical: Bool

        private enum Key: String, CodingKey { case alg, kid, typ, crit }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            alg = try fields.decodeIfPresent(String.self, forKey: .alg)
            kid = try fields.decodeIfPresent(String.self, forKey: .kid)
            typ = try fields.decodeIfPresent(String.self, forKey: .typ)
            isCritical = fields.contains(.crit)
        }
    }
}

/// base64 with the alphabet of URLs and without padding (RFC 7515).
enum Base64URL {
    /// Nil for a text that no encoder writes: bytes have only one spelling.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var standard = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        standard += repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(standard)), self.text(of: data) == text else { return nil }
        return Array(data)
    }

    static func text(of bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
