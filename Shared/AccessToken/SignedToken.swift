import Foundation
package import RTMModel

/// A token as it travels: its content, the bytes of that content, and the signature over those bytes.
///
/// A signature that is there need not be right: `TokenVerifier` decides.
package struct SignedToken: Sendable, Hashable {
    package let token: AccessToken
    package let signature: [UInt8]
    /// The bytes as they were received. A signature is checked over these and never over bytes that were
    /// written anew, because the token may contain services that this version can't read.
    package let signedBytes: [UInt8]
    /// How many services at the end were not read, because the first of them is of an unknown kind.
    package let unreadServicesCount: Int

    /// Limit: bytes of signature and content after inflation. A token for one service needs about a hundred.
    package static let bytesMax = 16 * 1024
    /// Limit: bytes of a token's text. It is more than 16 KiB of incompressible bytes need.
    package static let textBytesMax = Limits.tokenBytesMax

    private static let version = "007"
}

// MARK: - Making one

extension AccessToken {
    /// - Parameter certificate: the app's certificate, 32 hexadecimal digits.
    ///
    /// - Throws: `.invalidAppId` (-10003) for an invalid app id. `.invalidParameter` (-10014) for an invalid
    ///   certificate, and for a token without a service or with more bytes than a server would read.
    package func signed(with certificate: String) throws(RTMError) -> SignedToken {
        guard Self.isIdentifier(appID) else {
            throw RTMError(.invalidAppId, "an app id that has tokens is 32 hexadecimal digits")
        }
        guard Self.isIdentifier(certificate) else {
            throw RTMError(.invalidParameter, "a certificate is 32 hexadecimal digits")
        }
        guard !services.isEmpty else {
            throw RTMError(.invalidParameter, "a token needs at least one service")
        }
        let bytes = signingBytes
        guard bytes.count <= SignedToken.signedBytesMax else {
            throw RTMError(
                .invalidParameter,
                "the token would have \(bytes.count) bytes, \(SignedToken.signedBytesMax) are allowed",
                limit: .init(name: "token bytes", value: UInt64(SignedToken.signedBytesMax)))
        }
        let signature = TokenSignature.make(
            over: bytes, issuedAt: issuedAt, salt: salt, certificate: certificate)
        return SignedToken(token: self, signature: signature, signedBytes: bytes, unreadServicesCount: 0)
    }

    /// Whether the text can be an app id or a certificate: 32 hexadecimal digits.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }
}

extension SignedToken {
    fileprivate static let signedBytesMax = bytesMax - 2 - TokenSignature.bytesCount

    /// The text that goes to the client. Other builders may write another text for the same token, because
    /// zlib leaves a choice; the bytes in it are the same.
    package var text: String {
        var bytes = ByteWriter()
        bytes.count(signature.count)
        bytes.bytes += signature + signedBytes
        return Self.version + Data(ZlibStream.deflate(bytes.bytes)).base64EncodedString()
    }
}

// MARK: - Reading one

extension SignedToken {
    /// Reads a token's text. This is safe for every input: it needs at most `textBytesMax` and `bytesMax` of
    /// memory, whatever the text claims.
    ///
    /// - Throws: `.invalidToken` (-10005) with what is wrong about the form.
    package init(_ text: String) throws(RTMError) {
        let inflated = try Self.inflated(Self.compressed(text))
        var bytes = ByteReader(inflated[...])
        signature = Array(try bytes.bytes("the signature"))
        signedBytes = Array(bytes.rest)
        (token, unreadServicesCount) = try AccessToken.read(bytes.rest)
    }

    private static func compressed(_ text: String) throws(RTMError) -> [UInt8] {
        guard !text.isEmpty else { throw RTMError(.invalidToken, "the token is empty") }
        guard text.utf8.count <= textBytesMax else {
            throw RTMError(
                .invalidToken, "the token has \(text.utf8.count) bytes, \(textBytesMax) are allowed",
                limit: .init(name: "token text bytes", value: UInt64(textBytesMax)))
        }
        guard text.utf8.starts(with: version.utf8) else {
            let reason =
                if text.utf8.starts(with: "00".utf8) {
                    "the token has another version than \(version), the only one that is accepted"
                } else if SignedJWT.isOne(text) {
                    "this is a JWT, and the app takes only tokens \(version)"
                } else {
                    "this is not a token: it doesn't begin with \(version)"
                }
            throw RTMError(.invalidToken, reason)
        }
        let encoded = String(Substring(text.utf8.dropFirst(version.utf8.count)))
        // Foundation overlooks padding that is too long, but a token has only one spelling.
        guard let compressed = Data(base64Encoded: encoded), compressed.base64EncodedString() == encoded
        else {
            throw RTMError(
                .invalidToken, "the token is not base64 behind \(version): it was cut off or changed")
        }
        return Array(compressed)
    }

    private static func inflated(_ compressed: [UInt8]) throws(RTMError) -> [UInt8] {
        switch ZlibStream.inflate(compressed, upTo: bytesMax) {
        case .bytes(let bytes): return bytes
        case .damaged:
            throw RTMError(.invalidToken, "the token can't be inflated: it was cut off or changed")
        case .followed(let count):
            throw RTMError(.invalidToken, "the token has \(count) bytes behind its compressed part")
        case .moreThan(let bytesMax):
            throw RTMError(
                .invalidToken, "the token inflates to more than the \(bytesMax) bytes that are allowed",
                limit: .init(name: "token bytes", value: UInt64(bytesMax)))
        }
    }
}
