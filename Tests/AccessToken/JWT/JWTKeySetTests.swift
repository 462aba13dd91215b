import Foundation
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAccessToken

@Suite("Files of keys of JWTs")
struct JWTKeySetTests {
    @Test(
        "A-18: a key is never taken that can be guessed, is for something else, or that the server may not have",
        arguments: [
            ("", "neither a JWKS document nor a public key in PEM"),
            ("secret", "neither a JWKS document nor a public key in PEM"),
            ("{", "it is no JWKS document, because it is not JSON"),
            (#"{"keys":7}"#, #"it is no JWKS document, because its "keys" are no list"#),
            (#"{"keys":[]}"#, "it has no key that can be used"),
            (#"{"kty":"RSA","kid":7}"#, #"the key has a "kid" of another type than RFC 7517 gives it"#),
            (#"{"kty":"RSA","use":"enc"}"#, "the key without a name is not for signatures"),
            (
                #"{"keys":[{"kty":"oct","kid":"s","k":"c2hvcnQ"},7,{"use":"enc","kid":"e"}]}"#,
                #"it has no key that can be used; the key "s" is a secret of 5 bytes, and 32 are needed at least; "#
                    + #"the key number 2 is no object; the key "e" is not for signatures with HS256, RS256 or ES256"#
            ),
            (SampleJWT.weakJWK, #"the key "weak" is RSA with 1024 bits, and 2048 are needed at least"#),
            (weakPEM, "the key is RSA with 1024 bits, and 2048 are needed at least"),
            (#"{"kty":"oct","kid":"s","k":"c2hvcnQ="}"#, #"the key "s" has no "k" in base64url"#),
            (#"{"kty":"RSA","kid":"s"}"#, #"the key "s" has no "n" in base64url"#),
            (
                #"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
                "has a point (x, y) that is not on its curve"
            ),
            (offCurve, "has a point (x, y) that is not on its curve"),
            (
                SampleJWT.rsaJWK.dropLast() + #","d":"AQAB"}"#,
                #"the key "r" is a private key (d); give the server the public part alone"#
            ),
            (SampleJWT.rsaKey, "it holds a PRIVATE KEY in PEM, and a PUBLIC KEY is needed"),
            ("-----BEGIN CERTIFICATE-----\nAAAA", "it holds a CERTIFICATE in PEM"),
            (SampleJWT.rsaPublicKey + "\n" + SampleJWT.curvePublicKey, "it holds several keys in PEM"),
            (otherCurve, "it holds a key that is neither RSA nor on the curve P-256"),
            (
                "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
                "neither RSA nor on the curve P-256"
            ),
            (compressed, "neither RSA nor on the curve P-256"),
            (explicitCurve, "neither RSA nor on the curve P-256"),
            (
                SampleJWT.rsaJWK.replacing(#""e":"AQAB""#, with: #""e":"AQAA""#),
                #"the key "r" is no key of RSA"#
            ),
            (
                #"{"kty":"EC","crv":"P-256","x":"Fj8dbKzJS99q6heStu1NKkSd446PrTKs3qQZj9F0uwE2","#
                    + #""y":"H-KDKEOErKb9qUClC4r40h9IbdHexUrThTdZxgQRcg"}"#,
                "has a point (x, y) that is not on its curve"
            ),
            (
                SampleJWT.keys(
                    SampleJWT.rsaJWK.replacing(#","kid":"r""#, with: ""),
                    SampleJWT.secretJWK.replacing(#","kid":"h""#, with: "")),
                "it has 2 keys, so each needs a name (kid)"
            ),
        ] as [(String, String)])
    func refused(_ text: String, _ problem: String) {
        do throws(JWTKeyProblem) {
            _ = try JWTKeySet(text)
            Issue.record("accepted")
        } catch {
            #expect(error.description.contains(problem), "\(error)")
        }
    }

    @Test(
        "what an issuer lists for other purposes is passed over",
        arguments: [
            #"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#, #"{"kty":"EC","crv":"P-384","x":"A","y":"A"}"#,
            #"{"kty":"EC","crv":"secp256k1","alg":"ES256K"}"#, #"{"kty":"oct","alg":"A256KW","k":"AAAA"}"#,
            #"{"kty":"RSA","alg":"RSA-OAEP-256","use":"enc"}"#, #"{"kty":"RSA","use":"enc"}"#,
            #"{"kty":"RSA","alg":"RS512"}"#, #"{"kty":"RSA","alg":"PS256"}"#, #"{"kty":"new"}"#, "{}",
            #"{"kty":"RSA","key_ops":["encrypt"]}"#, #"{"kty":"EC","crv":"P-256","alg":"HS256"}"#,
            #"{"kty":"oct","alg":"RS256","k":"AAAA"}"#,
        ])
    func passedOver(_ other: String) throws {
        let keys = try JWTKeySet(SampleJWT.keys(other, SampleJWT.curveJWK))
        try keys.check(SignedJWT(JWTVector.es256))
        #expect(throws: JWTKeyProblem.self) { try JWTKeySet(SampleJWT.keys(other)) }
    }

    @Test(
        "A-18: of a document each key that can't be used is passed over with its reason, and the others are used",
        arguments: [
            (#"{"kty":"oct","kid":"s","k":"c2hvcnQ"}"#, #"the key "s" is a secret of 5 bytes"#),
            (SampleJWT.weakJWK, #"the key "weak" is RSA with 1024 bits"#),
            (
                SampleJWT.rsaJWK.dropLast() + #","d":"AQAB"}"#,
                #"the key "r" is a private key (d); give the server the public part alone"#
            ),
            (offCurve.replacing(#""kid":"e""#, with: #""kid":"f""#), "that is not on its curve"),
            (
                #"{"kty":"RSA","kid":7,"n":"AQAB","e":"AQAB"}"#,
                #"the key number 1 has a "kid" of another type"#
            ),
            (#"{"kty":"RSA","kid":"k","key_ops":"verify"}"#, #"has a "key_ops" of another type"#),
            (#"{"kty":"RSA","kid":"k","e":65537}"#, #"has a "e" of another type"#),
            (#"{"kty":["RSA"],"kid":"k"}"#, #"has a "kty" of another type"#),
            ("null", "the key number 1 is no object"), ("[]", "the key number 1 is no object"),
            (#"{"kty":"RSA","kid":"enc","use":"enc"}"#, #"the key "enc" is not for signatures"#),
            (SampleJWT.secretJWK.replacing(#","kid":"h""#, with: ""), "a key without a name (kid)"),
        ] as [(String, String)])
    func oddKey(_ odd: String, _ reason: String) throws {
        let keys = try JWTKeySet(SampleJWT.keys(odd, SampleJWT.curveJWK))
        #expect(keys.passedOver.count == 1 && keys.passedOver[0].contains(reason), "\(keys.passedOver)")
        try keys.check(SignedJWT(JWTVector.es256))
    }

    @Test("of two keys with one name the first is used; with different algorithms both are")
    func sameName() throws {
        let twice = try JWTKeySet(SampleJWT.keys(SampleJWT.curveJWK, SampleJWT.curveJWK))
        #expect(twice.passedOver == [#"the key "e" has the name of another one (kid)"#])
        let renamed = SampleJWT.rsaJWK.replacing(#""kid":"r""#, with: #""kid":"e""#)
        let different = try JWTKeySet(SampleJWT.keys(renamed, SampleJWT.curveJWK))
        #expect(different.passedOver.isEmpty)
        try different.check(SignedJWT(JWTVector.es256))
    }

    @Test("a key that doesn't say what it is for is for the one algorithm of its kind")
    func withoutAlgorithm() throws {
        for (jwk, text) in [
            (SampleJWT.secretJWK, JWTVector.hs256), (SampleJWT.rsaJWK, JWTVector.rs256),
            (SampleJWT.curveJWK, JWTVector.es256),
        ] {
            let bare = try jwk.replacing(Regex(#""(alg|use)":"\w+","#), with: "")
            #expect(bare.count < jwk.count)
            try JWTKeySet(bare).check(SignedJWT(text))
        }
    }

    @Test("a public key in PEM is read in both of its forms, with a text in front of it and other lines")
    func pem() throws {
        for (pem, text) in [
            (SampleJWT.rsaPublicKey, JWTVector.rs256), (Self.rsaInItsForm, JWTVector.rs256),
            (SampleJWT.curvePublicKey, JWTVector.es256),
        ] {
            let lines = pem.split(separator: "\n").map(String.init)
            let long = [lines[0], lines.dropFirst().dropLast().joined(), lines[lines.count - 1]]
            for one in [
                pem, "\n\n" + pem + "\n \n", pem.replacing("\n", with: "\r\n"), "subject=issuer\n" + pem,
                long.joined(separator: "\n"),
            ] {
                try JWTKeySet(one).check(SignedJWT(text))
            }
        }
    }

    @Test(
        "A-18: of PEM nothing is passed over behind a key, and nothing is guessed that is cut off",
        arguments: [SampleJWT.rsaPublicKey, SampleJWT.curvePublicKey, rsaInItsForm])
    func pemForm(_ pem: String) {
        let lines = pem.split(separator: "\n").map(String.init)
        let base64 = lines.dropFirst().dropLast().joined()
        func text(_ content: String, begin: String? = nil, end: String? = nil) -> String {
            [begin ?? lines[0], content, end ?? lines[lines.count - 1]].joined(separator: "\n")
        }
        #expect(throws: Never.self) { try JWTKeySet(text(base64)) }
        let bytes = Data(base64Encoded: base64) ?? Data()
        for changed in [
            pem + "\nAAAA", pem + "\n" + pem, lines.dropLast().joined(separator: "\n"),
            text((bytes + [0]).base64EncodedString()), text(bytes.dropLast().base64EncodedString()),
            text(base64 + "AAAA"), text("Proc-Type: 4,ENCRYPTED\n" + base64), text("*" + base64), text(""),
            text(base64, end: "-----END PRIVATE KEY-----"), text(base64, end: "-----END"),
            text(base64, begin: "-----BEGIN EC PUBLIC KEY-----", end: "-----END PUBLIC KEY-----"),
            text(base64, begin: "-----BEGIN EC PUBLIC KEY-----", end: "-----END EC PUBLIC KEY-----"),
        ] {
            #expect(throws: JWTKeyProblem.self) { try JWTKeySet(changed) }
        }
    }

    @Test("a private key in PEM is read in PKCS #8 and in the form of its kind, and not with a password")
    func privatePEM() throws {
        let rsa = Data(base64Encoded: content(SampleJWT.rsaKey))?.dropFirst(26) ?? Data()
        let own = """
            -----BEGIN RSA PRIVATE KEY-----
            \(rsa.base64EncodedString())
            -----END RSA PRIVATE KEY-----
            """
        for (pem, algorithm, publicKey) in [
            (own, JWTAlgorithm.rs256, SampleJWT.rsaPublicKey),
            (SampleJWT.rsaKey, .rs256, SampleJWT.rsaPublicKey),
            (Self.curveInItsForm, .es256, SampleJWT.curvePublicKey),
            (SampleJWT.curveKey, .es256, SampleJWT.curvePublicKey),
        ] {
            let key = try JWTSigningKey(pem, id: nil)
            #expect(key.algorithm == algorithm)
            let token = try SampleJWT.claims(for: "anna", endsAt: 1_700_000_000).signed(with: key)
            try JWTKeySet(publicKey).check(SignedJWT(token))
            let encrypted = pem.replacing(
                try Regex("(RSA |EC )?PRIVATE KEY"), with: "ENCRYPTED PRIVATE KEY")
            #expect(throws: JWTKeyProblem.self) { try JWTSigningKey(encrypted, id: nil) }
            #expect(throws: JWTKeyProblem.self) { try JWTSigningKey(pem + "\nAAAA", id: nil) }
        }
    }

    private func content(_ pem: String) -> String {
        pem.split(separator: "\n").dropFirst().dropLast().joined()
    }

    @Test("a key to sign with is a private one, or a secret of enough bytes")
    func signing() {
        for (text, id, problem) in [
            (SampleJWT.rsaPublicKey, nil, "it holds no private key"),
            ("secret", nil, "neither a private key"),
            (SampleJWT.rsaJWK, nil, "it has 0 secrets"), (SampleJWT.secretJWK, "x", "it has 0 secrets"),
            (#"{"kty":"oct","k":"AAAA"}"#, nil, "is a secret of 3 bytes"),
        ] as [(String, String?, String)] {
            do throws(JWTKeyProblem) {
                _ = try JWTSigningKey(text, id: id)
                Issue.record("accepted")
            } catch {
                #expect(error.description.contains(problem), "\(error)")
            }
        }
    }

    private static let offCurve = SampleJWT.curveJWK.replacing(#""x":"Fj8d"#, with: #""x":"Fj8e"#)
    private static let weakPEM = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDJWp57bg1Ab+XjmyCIwszSNw1w
        yaKwkHN6eikF99aujZDpr2DkABjmY2y1fwFpX9X/ORCbTp9jf53I2HWaTiI8zjB1
        CcKXrs6JOWd82zccp0kYfclJebo+SFLOQY9GaJkdXUxr8Ufoa1cSdj2sGhrCTJu/
        N2LQhg3GoL3d8yuNdQIDAQAB
        -----END PUBLIC KEY-----
        """
    /// On the curve P-384.
    private static let otherCurve = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEDMDyuZgb7HN6gb3k97k2UL5b8+iZ4/qr
        2qOJpHwTpx7xEcITPw7sjuYPsSVM5GPxIamGHVYukT3DURr7qajubcEIqJBxE7lk
        f4yb9ZYgpwgXeml2Son7Q/mRzwPB3ks+
        -----END PUBLIC KEY-----
        """
    /// `SampleJWT.rsaPublicKey` as RFC 8017 writes it.
    private static let rsaInItsForm = """
        -----BEGIN RSA PUBLIC KEY-----
        MIIBCgKCAQEA3alEBkf9K5hlBy3fQupzc+bjkP0PT/NpZH9U2fW7TQyg39NEjB3o
        q0z1k2ovyWJt5PksraRA5mI8QOcAImmVXXLRKirKFjZFnNHJW1ClTPPdiCVP5rvF
        Al4lggkCJh7CwGmnrRsyKiOY1SGOF+NBCR2VfnU4alcm9fhtkx9wkPsl0dsDtUs2
        yGvbgrEMmy+6qLhMUJONYlkrW93riCyV2JhuQHHV3v7DfnXKksd9fdwzYTr3dsET
        Km8HdJGhowVFbWWvHgSXDoQFUdP7B5Cc+znqaTLmxu5xTP1tTMvlGsPKoQDTdCi0
        9Jt+/32IVX/1YO0VTE8uTdnsFRCZoma9YQIDAQAB
        -----END RSA PUBLIC KEY-----
        """
    /// `SampleJWT.curveKey` as RFC 5915 writes it.
    private static let curveInItsForm = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIPQw1SRvrqJ7Yv5jW1UJzN101YVX/jjKPJQSJOHK3vdpoAoGCCqGSM49
        AwEHoUQDQgAEFj8dbKzJS99q6heStu1NKkSd446PrTKs3qQZj9F0uwE2H+KDKEOE
        rKb9qUClC4r40h9IbdHexUrThTdZxgQRcg==
        -----END EC PRIVATE KEY-----
        """
    /// `SampleJWT.curvePublicKey` with one coordinate.
    private static let compressed = """
        -----BEGIN PUBLIC KEY-----
        MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgACFj8dbKzJS99q6heStu1NKkSd446P
        rTKs3qQZj9F0uwE=
        -----END PUBLIC KEY-----
        """
    /// `SampleJWT.curvePublicKey` with all numbers of its curve in place of the name.
    private static let explicitCurve = """
        -----BEGIN PUBLIC KEY-----
        MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA
        AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////
        ///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd
        NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5
        RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA
        //////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABBY/HWysyUvfauoXkrbtTSpE
        neOOj60yrN6kGY/RdLsBNh/igyhDhKym/alApQuK+NIfSG3R3sVK04U3WcYEEXI=
        -----END PUBLIC KEY-----
        """
}
