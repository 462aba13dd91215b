package import RTMModel

/// The keys that the JWTs of an app may be signed with.
package struct JWTKeySet: JWTKeySource {
    private let keys: [JWTKey]
    /// Why keys of a document aren't used, a clause for each.
    package let passedOver: [String]

    /// Reads a file of keys: a JWKS document, a single JWK, or a public key in PEM.
    ///
    /// Of a document the keys that can't be used are passed over, whatever the reason (RFC 7517, 5): an
    /// issuer lists there all that it has, and adds to it what this server doesn't know. A key that stands
    /// alone is refused.
    ///
    /// - Parameter isPublished: whether others can read the text, as at a URL. A shared secret is none there,
    ///   and is passed over.
    package init(_ text: String, isPublished: Bool = false) throws(JWTKeyProblem) {
        switch KeyText(text) {
        case .json:
            let entries: [Result<JWK, JWTKeyProblem>]
            switch try JWK.Content(text) {
            case .key(let jwk) where !isPublished:
                (keys, passedOver) = ([try JWTKey(jwk)], [])
                return
            case .key(let jwk): entries = [.success(jwk)]
            case .document(let all): entries = all
            }
            (keys, passedOver) = try Self.usable(entries, isPublished: isPublished)
        case .pem(let label): (keys, passedOver) = ([try JWTKey(pem: text, label)], [])
        case nil: throw JWTKeyProblem("it is neither a JWKS document nor a public key in PEM")
        }
    }

    private static func usable(
        _ entries: [Result<JWK, JWTKeyProblem>], isPublished: Bool
    ) throws(JWTKeyProblem) -> ([JWTKey], passedOver: [String]) {
        var keys: [JWTKey] = []
        var passedOver: [String] = []
        for entry in entries {
            do throws(JWTKeyProblem) {
                let jwk = try entry.get()
                let key = try JWTKey(jwk)
                if isPublished, key.algorithm == .hs256 {
                    throw JWTKeyProblem("\(jwk.title) is a shared secret, and everybody can read it there")
                }
                if let name = key.id,
                    keys.contains(where: { $0.id == name && $0.algorithm == key.algorithm })
                {
                    throw JWTKeyProblem("\(jwk.title) has the name of another one (kid)")
                }
                keys.append(key)
            } catch {
                passedOver.append(error.description)
            }
        }
        guard !keys.isEmpty else {
            let reasons = passedOver.prefix(reasonsMax).map { "; \($0)" }.joined()
            throw JWTKeyProblem("it has no key that can be used\(reasons)")
        }
        let named = keys.filter { $0.id != nil }
        guard keys.count > 1, named.count < keys.count else { return (keys, passedOver) }
        guard !named.isEmpty else {
            throw JWTKeyProblem("it has \(keys.count) keys, so each needs a name (kid)")
        }
        let nameless = keys.count - named.count
        passedOver += Array(
            repeating: "a key without a name (kid) can't be distinguished from the others", count: nameless)
        return (named, passedOver)
    }

    /// Limit: reasons in one sentence.
    private static let reasonsMax = 5

    /// Checks that a token is signed with one of the keys.
    ///
    /// - Throws: `.invalidToken` (-10005) with the reason.
    package func check(_ signed: SignedJWT) throws(RTMError) {
        guard try key(of: signed.header).isValid(signed.signature, over: signed.signedBytes) else {
            throw RTMError(
                .invalidToken,
                "the token's signature is wrong: it was made with another key, or the token was changed")
        }
    }

    /// A key without a name is alone, and may have any name.
    package func hasKey(named name: String) -> Bool {
        keys.contains { $0.id.map { $0.isSpelled(name) } ?? true }
    }

    /// The key that a token names. It decides on the algorithm, and the token has to say the same.
    func key(of header: JWTHeader) throws(RTMError) -> JWTKey {
        guard header.algorithm.lowercased() != "none" else {
            throw RTMError(.invalidToken, "the token is not signed: its algorithm is none")
        }
        let key = try key(named: header.keyID, header.algorithm)
        guard header.algorithm == key.algorithm.rawValue else {
            throw RTMError(
                .invalidToken,
                "the token's algorithm is \(header.algorithm.quoted), and its key is for "
                    + key.algorithm.rawValue)
        }
        return key
    }

    private func key(named id: String?, _ algorithm: String) throws(RTMError) -> JWTKey {
        guard let id else {
            guard keys.count == 1 else {
                throw RTMError(
                    .invalidToken,
                    "the token doesn't name its key (kid), and this app has \(keys.count) of them")
            }
            return keys[0]
        }
        // A key without a name is alone, and may have any name.
        let named = keys.filter { $0.id.map { $0.isSpelled(id) } ?? true }
        guard let key = named.first(where: { $0.algorithm.rawValue == algorithm }) ?? named.first else {
            throw .unknownKey(id)
        }
        return key
    }
}

extension RTMError {
    static func unknownKey(_ name: String) -> RTMError {
        RTMError(.invalidToken, "the token is signed with the key \(name.quoted), which is unknown here")
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
