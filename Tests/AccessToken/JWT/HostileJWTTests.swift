import Foundation
import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAccessToken

/// Texts and claims that no identity provider makes. None crashes the reader, none lets anybody in, and what
/// is wrong about claims is named.
@Suite("Hostile JWTs")
struct HostileJWTTests {
    private let end: UInt64 = 1_700_000_000
    private let now: UInt64 = 1_699_999_999_000
    private let keys = SampleJWT.keys(SampleJWT.secretJWK, SampleJWT.rsaJWK, SampleJWT.curveJWK)

    @Test("every beginning of a token is refused", arguments: JWTVector.all)
    func cut(_ vector: (algorithm: JWTAlgorithm, text: String)) throws {
        let verifier = try verifier()
        for count in 0..<vector.text.count {
            #expect(code(String(vector.text.prefix(count)), verifier) == .invalidToken, "\(count) characters")
        }
    }

    @Test("no changed bit of a token's text is accepted", arguments: JWTVector.all)
    func flipped(_ vector: (algorithm: JWTAlgorithm, text: String)) throws {
        let verifier = try verifier()
        let text = Array(vector.text.utf8)
        for bit in stride(from: 0, to: text.count * 8, by: vector.algorithm == .hs256 ? 1 : 7) {
            var changed = text
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(code(String(decoding: changed, as: UTF8.self), verifier) == .invalidToken, "bit \(bit)")
        }
    }

    @Test(
        "base64url has one spelling: no padding, no other alphabet, nothing around it",
        arguments: ["=", "==", "+", "/", " ", "\n", "\0", "é", "\u{301}"])
    func spelling(_ character: String) throws {
        let verifier = try verifier()
        let parts = JWTVector.hs256.split(separator: ".")
        for place in 0..<3 {
            var changed = parts.map(String.init)
            changed[place] += character
            #expect(code(changed.joined(separator: "."), verifier) == .invalidToken)
            changed[place] = character + parts[place]
            #expect(code(changed.joined(separator: "."), verifier) == .invalidToken)
        }
        // The last digit of 32 bytes has two bits that no byte needs.
        #expect(JWTVector.hs256.last == "Q")
        for digit in "RST" {
            #expect(code(JWTVector.hs256.dropLast() + String(digit), verifier) == .invalidToken)
        }
    }

    @Test("a signature of another length is no signature", arguments: [JWTAlgorithm.hs256, .rs256, .es256])
    func signatureLength(_ algorithm: JWTAlgorithm) throws {
        let verifier = try verifier()
        let header = Base64URL.text(
            of: Array(#"{"alg":"\#(algorithm.rawValue)","kid":"\#(kid(algorithm))"}"#.utf8))
        let content = header + "." + Base64URL.text(of: Array(claims().utf8))
        let signature = try SampleJWT.signing(algorithm).signature(over: Array(content.utf8))
        #expect(code(content + "." + Base64URL.text(of: signature), verifier) == nil)
        for count in [0, 1, 31, 33, 63, 65, 72, 255, 257, 1024] where count != signature.count {
            let other = Array((signature + [UInt8](repeating: 0, count: 1024)).prefix(count))
            #expect(code(content + "." + Base64URL.text(of: other), verifier) == .invalidToken, "\(count)")
        }
    }

    @Test(
        "claims of a wrong form are refused by name",
        arguments: [
            ("", "claims are not JSON"), ("[]", "claims are no JSON object"),
            ("7", "claims are no JSON object"),
            ("null", "claims are no JSON object"), (#"{"sub":7}"#, #"claim "sub" has the wrong form"#),
            (#"{"iss":[]}"#, #"claim "iss" has the wrong form"#),
            (#"{"aud":{}}"#, #"claim "aud" has the wrong"#),
            (#"{"aud":[7]}"#, #"claim "aud.Index 0" has the wrong form"#),
            (#"{"exp":"1700000000"}"#, #"claim "exp" has the wrong form"#),
            (#"{"exp":true}"#, #"claim "exp" has the wrong form"#),
            (#"{"exp":-1}"#, "claim exp is no time in seconds"),
            (#"{"exp":1700000000000}"#, "claim exp is no time in seconds"),
            (#"{"exp":1e308}"#, "claim exp is no time in seconds"),
            (#"{"nbf":1e12}"#, "claim nbf is no time in seconds"), (#"{"iat":-0.5}"#, "claim iat is no time"),
            (#"{"exp":1e999}"#, "claims are not JSON"), (#"{"exp":NaN}"#, "claims are not JSON"),
            (#"{"rtm":[]}"#, #"claim "rtm" has the wrong form"#),
            (#"{"rtm":{"permission":{}}}"#, #"claim rtm has the unknown field "permission""#),
            (#"{"rtm":{"permissions":[]}}"#, #"claim "rtm.permissions" has the wrong form"#),
            (#"{"rtm":{"permissions":{"channels":{}}}}"#, #"permits "channels", which is nothing here"#),
            (#"{"rtm":{"permissions":{"users":{"delete":[]}}}}"#, #"permits to "delete", and there is only"#),
            (#"{"rtm":{"permissions":{"users":{"read":"*"}}}}"#, "wrong form"),
            (#"{"rtm":{"permissions":{"users":{"read":[7]}}}}"#, "wrong form"),
            (#"{"rtm":{"join":"stage"}}"#, #"claim "rtm.join" has the wrong form"#),
        ] as [(String, String)])
    func wrongForm(_ claims: String, _ reason: String) throws {
        let token = try forge(#"{"alg":"HS256","kid":"h"}"#, claims, SampleJWT.signing(.hs256))
        let error = refusal { try verifier().verify(token, userID: "anna", nowMilliseconds: now) }
        #expect(error?.code == .invalidToken)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "accepted")")
    }

    @Test("a name that an object has twice is refused, however it is spelled, and only within one object")
    func twice() throws {
        let header = #"{"alg":"HS256","kid":"h"}"#
        let key = try SampleJWT.signing(.hs256)
        let rest = claims().dropFirst()
        for claims in [
            #"{"sub":"bert","# + rest, #"{"s\u0075b":"bert","# + rest, #"{"sub" : "bert", "# + rest,
            "{" + rest.dropLast() + #","x":{"a":[{"b":1,"b":2}]}}"#,
        ] {
            let error = refusal {
                try verifier().verify(forge(header, claims, key), userID: "anna", nowMilliseconds: now)
            }
            #expect(error?.reason.hasPrefix("the token is ambiguous") == true, "\(claims)")
        }
        let doubled = try forge(#"{"alg":"none","alg":"HS256","kid":"h"}"#, claims(), key)
        #expect(refusal { try SignedJWT(doubled) }?.reason.hasPrefix("the token is ambiguous") == true)
        // Values are no names, and another object is another one.
        for other in [#""x":"sub""#, #""x":["sub","sub"],"y":{"sub":1}"#, #""x":"\"sub\":","y":"}\\""#] {
            let token = try forge(header, "{" + other + "," + rest, key)
            #expect(code(token, try verifier()) == nil, "\(other)")
        }
    }

    @Test("JSON that readers read in different ways says why; what every reader reads is none")
    func ambiguity() {
        for (json, problem) in [
            (#"{"a":1,"a":2}"#, "has the name \"a\" twice"),
            (#"{"a":1,"\u0061":2}"#, "has the name \"a\" twice"),
            (#"{"a":1 , }"#, "has a comma behind its last element"),
            ("[1,\n]", "has a comma behind its last element"),
            ("\u{FEFF}{}", "is not UTF-8 without a byte order mark"),
            ("{\u{0}}", "is not UTF-8 without a byte order mark"),
        ] {
            #expect(StrictJSON.ambiguity(in: Array(json.utf8)) == problem, "\(json)")
        }
        for json in [
            "", "}", "\"", #"{"a":"b,","b":["a",",]"],"c":{"a":1}}"#, #"{"a":"\"","b":"\\"}"#, "[[],{}]",
            "]]", "\"\\",
        ] {
            #expect(StrictJSON.ambiguity(in: Array(json.utf8)) == nil, "\(json)")
        }
    }

    @Test("claims in another encoding than UTF-8 are refused")
    func encoding() throws {
        let key = try SampleJWT.signing(.hs256)
        let header = Base64URL.text(of: Array(#"{"alg":"HS256","kid":"h"}"#.utf8))
        for encoding in [String.Encoding.utf16LittleEndian, .utf16, .utf32BigEndian] {
            let bytes = try #require(claims().data(using: encoding))
            let content = header + "." + Base64URL.text(of: bytes)
            let token = try content + "." + Base64URL.text(of: key.signature(over: Array(content.utf8)))
            #expect(code(token, try verifier()) == .invalidToken)
        }
    }

    @Test("deep, wide and long claims are refused or read, in little time")
    func large() throws {
        let verifier = try verifier()
        func verify(_ claims: String) throws -> ErrorCode? {
            code(try forge(#"{"alg":"HS256","kid":"h"}"#, claims, SampleJWT.signing(.hs256)), verifier)
        }
        let depth = 8_000
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(try verify(claims().dropLast() + #","x":"# + deep + "}") == .invalidToken)
        let wide = (0..<1_500).map { #""\#($0)":0"# }.joined(separator: ",")
        #expect(try verify(claims().dropLast() + "," + wide + "}") == nil)
        let names = String(repeating: #""a","#, count: 4_000) + #""a""#
        #expect(try verify(claims().dropLast() + #","rtm":{"join":["# + names + "]}}") == nil)
        #expect(
            try verify(claims().dropLast() + #","x":""# + String(repeating: "x", count: 20_000) + #""}"#)
                == .invalidToken, "more than 24 KiB")
    }

    @Test("what a refusal quotes is short and stays on its line")
    func quotes() throws {
        let long = String(repeating: "x", count: 5_000) + #"\n\u001b[2J"#
        for (header, claims) in [
            (#"{"alg":"HS256","kid":"\#(long)"}"#, claims()), (#"{"alg":"\#(long)","kid":"h"}"#, claims()),
            (#"{"alg":"HS256","kid":"h","typ":"\n\u001b\#(long)"}"#, claims()),
            (#"{"alg":"HS256","kid":"h"}"#, claims().replacing("anna", with: #"\n\u001b"# + long)),
            (#"{"alg":"HS256","kid":"h"}"#, #"{"rtm":{"\n\u001b\#(long)":1}}"#),
        ] {
            let token = try forge(header, claims, SampleJWT.signing(.hs256))
            let error = refusal { try verifier().verify(token, userID: "anna", nowMilliseconds: now) }
            #expect((error?.reason.count ?? .max) < 260)
            #expect(error?.reason.contains { $0.isNewline || $0 == "\u{1b}" } == false)
        }
    }

    @Test("random claims under a right signature never crash, and never let in who isn't named")
    func garbage() throws {
        let verifier = try verifier()
        let key = try SampleJWT.signing(.hs256)
        for seed in 0..<3000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let members = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                let name = ["sub", "iss", "aud", "exp", "nbf", "iat", "rtm", "x"].randomElement(
                    using: &generator)
                return "\"\(name ?? "")\":\(generator.json(depth: 3))"
            }
            var claims = Array(("{" + members.joined(separator: ",") + "}").utf8)
            if generator.chance(1, in: 4), !claims.isEmpty {
                claims[Int.random(in: 0..<claims.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            let content =
                Base64URL.text(of: Array(#"{"alg":"HS256","kid":"h"}"#.utf8)) + "."
                + Base64URL.text(of: claims)
            let token = try content + "." + Base64URL.text(of: key.signature(over: Array(content.utf8)))
            #expect(code(token, verifier, user: "nobody") != nil, "seed \(seed)")
        }
    }

    // MARK: -

    private func verifier() throws -> JWTVerifier {
        JWTVerifier(keys: try JWTKeySet(keys), audience: SampleApp.id)
    }

    private func claims() -> String { #"{"sub":"anna","aud":"\#(SampleApp.id)","exp":\#(end)}"# }

    private func kid(_ algorithm: JWTAlgorithm) -> String {
        switch algorithm {
        case .hs256: "h"
        case .rs256: "r"
        case .es256: "e"
        }
    }

    private func code(_ text: String, _ verifier: JWTVerifier, user: String = "anna") -> ErrorCode? {
        refusal { try verifier.verify(text, userID: user, nowMilliseconds: now) }?.code
    }
}

extension SeededGenerator {
    fileprivate mutating func json(depth: Int) -> String {
        switch Int.random(in: 0...(depth > 0 ? 7 : 5), using: &self) {
        case 0:
            ["null", "true", "-1", "1e400", "1700000000", "0.5", "9223372036854775808"].randomElement(
                using: &self) ?? ""
        case 1: "\(UInt64.random(in: 0...UInt64.max, using: &self))"
        case 2: "\"\(SampleApp.id)\""
        case 3: "\"anna\""
        case 4: #""\ud800""#
        case 5: "\"\""
        case 6: "[" + (0..<3).map { _ in json(depth: depth - 1) }.joined(separator: ",") + "]"
        default:
            "{"
                + ["permissions", "join", "users", "read"].map { "\"\($0)\":\(json(depth: depth - 1))" }
                .joined(separator: ",") + "}"
        }
    }
}
