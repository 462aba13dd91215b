import ArgumentParser
import RTMClient
import RTMCredentials
import Testing

@testable import rtm

@Suite("rtm webhook verify: why a signature isn't accepted")
struct WebhookVerifyTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let body = #"{"app":"dev","events":[{"id":"a-1"}]}"#
    private static let seconds: UInt64 = 1_764_080_000

    private func verification(
        of signed: String = body, arrived: String = body, secrets: [String] = [secret],
        signedWith: String = secret, changing change: [String: String?] = [:]
    ) throws -> WebhookVerification {
        let made = WebhookSignature(secrets: [try #require(WebhookSecret(signedWith))]).headers(
            id: "msg_1", seconds: Self.seconds, body: Array(signed.utf8))
        var headers = Dictionary(uniqueKeysWithValues: made.map { ($0.name, $0.value) })
        for (name, value) in change { headers[name] = value }
        return try WebhookVerification(
            headers.map { try RequestHeader(argument: "\($0.key): \($0.value)") },
            secrets: secrets.compactMap(WebhookSecret.init), body: Array(arrived.utf8))
    }

    private func findings(_ verification: WebhookVerification, at seconds: UInt64 = seconds) -> [String] {
        verification.checks(now: seconds * 1_000, tolerance: .seconds(300)).filter { !$0.isPassed }
            .map { "\($0.name): \($0.finding)" }
    }

    @Test("a request as it was sent passes every check, also with one of two secrets")
    func passes() throws {
        let checks = try verification().checks(now: Self.seconds * 1_000, tolerance: .seconds(300))
        #expect(checks.map(\.name) == ["signature", "timestamp", "Agora-Signature", "Agora-Signature-V2"])
        #expect(checks.allSatisfy { $0.isPassed && $0.expected == nil })
        let two = try verification(secrets: [WebhookSecret.random(), Self.secret])
        #expect(findings(two) == [])
        #expect(
            two.checks(now: Self.seconds * 1_000, tolerance: .zero).first?.finding.contains("line 2") == true)
        let rotating = try verification(changing: [
            "webhook-signature": "v1,AAAA "
                + (WebhookSecret(Self.secret)?.signature(
                    id: "msg_1", timestamp: "\(Self.seconds)", body: Array(Self.body.utf8)) ?? "")
        ])
        #expect(findings(rotating) == [])
    }

    @Test("a body with another end, or one that was written again, is told apart from another secret")
    func reasons() throws {
        func first(_ verification: WebhookVerification) -> String { findings(verification).first ?? "" }
        #expect(
            first(try verification(arrived: Self.body + "\r\n"))
                == "signature: the body was signed without the line end that it has here")
        #expect(
            first(try verification(of: Self.body + "\n"))
                == "signature: the body was signed with a line end, which is missing here")
        let written = #"{"events": [{"id": "a-1"}], "app": "dev"}"#
        #expect(first(try verification(arrived: written)).contains("was read as JSON and written again"))
        let other = try verification(secrets: [WebhookSecret.random()])
        #expect(first(other).contains("were not signed with this secret"))
        #expect(findings(other).count == 3, "those of the public interface, too")
        #expect(first(try verification(arrived: "{}")).contains("the 2 bytes of the body"))
        let version = try verification(changing: ["webhook-signature": "v2,AAAA"])
        #expect(first(version).contains("no signature of the version v1"))
        #expect(!first(try verification(changing: ["webhook-id": "msg_2"])).isEmpty)
    }

    @Test("the signature that is expected is printed, to be compared with one's own")
    func expected() throws {
        let check = try #require(
            try verification(changing: ["webhook-signature": "v1,AAAA"])
                .checks(now: 0, tolerance: .seconds(300)).first)
        let right = try #require(WebhookSecret(Self.secret)).signature(
            id: "msg_1", timestamp: "\(Self.seconds)", body: Array(Self.body.utf8))
        #expect(check.expected == right && check.text.hasSuffix("\n       expected: \(right)"))
        #expect(check.json["expected"]?.text == right && check.json["result"]?.text == "wrong")
    }

    @Test("an old request is refused, and so is one from the future")
    func times() throws {
        let request = try verification()
        #expect(findings(request, at: Self.seconds + 300) == [])
        #expect(
            findings(request, at: Self.seconds + 301)
                == ["timestamp: 301 s old, and --tolerance is 300 s"])
        #expect(
            findings(request, at: Self.seconds - 301).first?.contains("ahead of this machine's clock") == true
        )
        let wrong = try verification(changing: ["webhook-timestamp": "today"])
        #expect(findings(wrong).contains("timestamp: 'today' is no number of seconds since 1970"))
    }

    @Test("a header that is needed and missing, or there twice, is named")
    func headers() throws {
        #expect(throws: ValidationError.self) { try verification(changing: ["webhook-id": nil]) }
        #expect(throws: ValidationError.self) { try verification(changing: ["webhook-timestamp": nil]) }
        // Receivers of the public interface have no other header.
        let agora = try verification(changing: [
            "webhook-id": nil, "webhook-timestamp": nil, "webhook-signature": nil, "Agora-Signature": nil,
        ])
        #expect(agora.checks(now: 0, tolerance: .zero).map(\.isPassed) == [true])
        let header = try RequestHeader(argument: "Webhook-Id:  a:b ")
        #expect(header.name == "webhook-id" && header.value == "a:b")
        #expect(throws: ValidationError.self) {
            try WebhookVerification([header, header], secrets: [], body: [])
        }
    }

    @Test("no error about the file with the secret shows what is in it", arguments: ["", "abc", "whsec_a"])
    func secrets(text: String) throws {
        let error = try #require(
            #expect(throws: RTMError.self) {
                try WebhookVerification.secrets(at: "orders.secret") { _ in text }
            })
        #expect(error.reason.contains("'orders.secret' holds no secret"))
        #expect(text.isEmpty || !error.reason.contains("'\(text)'"))
        let two = try WebhookVerification.secrets(at: "f") { _ in "\(Self.secret)\n\(Self.secret)\n" }
        #expect(two.count == 2)
    }
}
