import RTMCredentials
import RTMServiceKit
import Testing

@testable import RTMGatewayServer

@Suite("The webhooks of the configuration")
struct WebhookRecordTests {
    private let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func record(_ change: (inout WebhookRecord) -> Void = { _ in }) -> WebhookRecord {
        var record = WebhookRecord(
            app: "dev", name: "orders", url: "https://example.com/in", secret: Secret(secret))
        change(&record)
        return record
    }

    @Test("what is read is what was written, with and without what is optional")
    func roundTrip() throws {
        let full = record {
            $0.secretBefore = Secret(WebhookSecret.random())
            ($0.types, $0.channels, $0.batch, $0.parallel) = ("message.published+gap", "chat-", 10, 2)
        }
        for record in [record(), full] { #expect(WebhookRecord(record.record) == record) }
        #expect(full.typeBits == 0b110)
        #expect(record().typeBits == 0)
    }

    @Test("secrets are masked wherever a record is shown")
    func masked() {
        let full = record { $0.secretBefore = Secret(WebhookSecret.random()) }
        #expect(!"\(full)".contains("whsec_") && !"\(full.record)".contains("whsec_"))
        for field in WebhookRecord.fields where field.name.hasPrefix("secret") {
            #expect(field.kind.isSecret)
        }
    }

    @Test(
        "host and port of the URL",
        arguments: [
            ("https://example.com/in?x=y", "example.com", 443),
            ("http://example.com:8080", "example.com", 8080),
            ("http://[fd00::1]:81/", "fd00::1", 81),
        ])
    func target(url: String, host: String, port: Int) throws {
        let target = try #require(record { $0.url = url }.target?.url)
        #expect(target.host == host && target.port == port && target.text == url)
    }

    @Test("what is wrong is refused with a sentence that names the webhook and no secret")
    func problems() {
        #expect(
            WebhookRecord.problem([record(), record { $0.name = "other" }, record { $0.app = "b" }]) == nil)
        func isRefused(_ change: (inout WebhookRecord) -> Void) -> Bool {
            let problem = WebhookRecord.problem([record(change)])
            return problem != nil && !(problem ?? "").contains("whsec_MfKQ")
        }
        for url in [
            "ftp://example.com", "example.com", "https://", "https://user@example.com",
            "https://user:pass@example.com/", "https://example.com/#x", "http+unix://%2Ftmp%2Fs/", "",
        ] {
            #expect(isRefused { $0.url = url }, "\(url)")
        }
        for name in ["", "a b", "a/b", "\"", String(repeating: "a", count: 65)] {
            #expect(isRefused { $0.name = name }, "\(name)")
        }
        #expect(isRefused { $0.types = "message.published+nothing" })
        #expect(isRefused { $0.secret = Secret("secret") })
        #expect(isRefused { $0.secretBefore = Secret("whsec_MfKQ") })
        #expect(WebhookRecord.problem([record(), record()]) != nil, "twice")
    }
}
