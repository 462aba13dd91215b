import RTMModel

/// The keys that the JWTs of an app may be signed with.
package struct JWTKeySet: Sendable {
    private let keys: [JWTKey]

    /// Reads a file of keys: a JWKS document, a single JWK, or a public key in PEM.
    ///
    /// Keys of a JWKS that are for something else are passed over, because an issuer lists there all that it
    /// has. What is meant for signatures and can't be used is refused.
    package init(_ text: String) throws(JWTKeyProblem) {
        var keys: [JWTKey] = []
        switch KeyText(text) {
        case .json: for jwk in try JWK.all(in: text) { if let key = try JWTKey(jwk) { keys.append(key) } }
        case .pem(let label): keys.append(try JWTKey(pem: text, label))
        case nil: throw JWTKeyProblem("it is neither a JWKS document nor a public key in PEM")
        }
        self.keys = keys
        guard !keys.isEmpty else {
            throw JWTKeyProblem("it has no key for signatures of the algorithms HS256, RS256 and ES256")
        }
        guard keys.count > 1 else { return }
        guard keys.allSatisfy({ $0.id != nil }) else {
            throw JWTKeyProblem("it has \(keys.count) keys, so each needs a name (kid)")
        }
        guard Set(keys.map(\.id)).count == keys.count else {
            throw JWTKeyProblem("it has two keys with the same name (kid)")
        }
    }

    /// Checks that a token is signed with one of the keys.
    ///
    /// - Throws: `.invalidToken` (-10005) with the reason.
    func check(_ signed: SignedJWT) throws(RTMError) {
        guard try key(of: signed.header).isValid(signed.signature, over: signed.signedBytes) else {
            throw RTMError(
                .invalidToken,
                "the token's signature is wrong: it was made with another key, or the token was changed")
        }
    }

    /// The key that a token names. It decides on the algorithm, and the token has to say the same.
    func key(of header: JWTHeader) throws(RTMError) -> JWTKey {
        guard header.algorithm.lowercased() != "none" else {
            throw RTMError(.invalidToken, "the token is not signed: its algorithm is none")
        }
        let key = try key(named: header.keyID)
        guard header.algorithm == key.algorithm.rawValue else {
            throw RTMError(
                .invalidToken,
                "the token's algorithm is \(header.algorithm.quoted), and its key is for "
                    + key.algorithm.rawValue)
        }
        return key
    }

    private func key(named id: String?) throws(RTMError) -> JWTKey {
        guard let id else {
            guard keys.count == 1 else {
                throw RTMError(
                    .invalidToken,
                    "the token doesn't name its key (kid), and this app has \(keys.count) of them")
            }
            return keys[0]
        }
        // A key without a name is alone, and may have any name.
        guard let key = keys.first(where: { $0.id.map { $0.isSpelled(id) } ?? true }) else {
            throw RTMError(
                .invalidToken, "the token is signed with the key \(id.quoted), which is unknown here")
        }
        return key
    }
}

/// What keeps a key from being used, as a clause behind the name of its file.
package struct JWTKeyProblem: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// In which of the two forms a key is written.
enum KeyText {
    case json
    case pem(label: Substring)

    init?(_ text: String) {
        let begin = "-----BEGIN "
        if text.first(where: { !$0.isWhitespace }) == "{" {
            self = .json
        } else if let start = text.firstRange(of: begin)?.upperBound,
            let end = text[start...].firstRange(of: "-----")?.lowerBound
        {
            self = .pem(label: text[start..<end])
        } else {
            return nil
        }
    }
}
