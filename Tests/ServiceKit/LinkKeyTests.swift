import RTMTestSupport
import Testing

@testable import RTMServiceKit

@Suite("What links between services need before a service starts")
struct LinkKeyTests {
    private func problems(_ arguments: String...) -> [String] {
        let schema = ConfigurationSchema(
            RelayKeys.listen.declarations + ServiceLinkKeys.declarations, section: "relay")
        do {
            _ = try ConfigurationLoader(
                schema: schema, rules: ServiceLinkKeys.rules(listen: RelayKeys.listen)
            ) { _ in "" }.load(arguments: arguments, environment: [:])
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test("who listens for other machines needs a secret, unless the operator says that it is open")
    func exposed() throws {
        #expect(problems() == [])
        let refusal = try #require(problems("--listen", "0.0.0.0:7720").first)
        #expect(refusal.contains("0.0.0.0:7720") && refusal.contains("link.secret"))
        let short = try #require(problems("--listen", "0.0.0.0:7720", "--link-secret", "s").first)
        #expect(short.contains("link.secret has fewer than 16 bytes. Set one as `openssl rand -hex 16`"))
        #expect(problems("--listen", "0.0.0.0:7720", "--link-secret", "sixteen bytes ok") == [])
        #expect(problems("--listen", "127.0.0.1:7720", "--link-secret", "s") == [])
        #expect(problems("--listen", "0.0.0.0:7720", "--link-open") == [])
    }

    @Test("TLS needs a certificate and a key")
    func tls() {
        #expect(
            problems("--link-tls-enabled", "--link-tls-key", "k.pem") == [
                "link.tls.enabled (--link-tls-enabled): the value needs link.tls.certificate and "
                    + "link.tls.key, and link.tls.certificate is not set. Set link.tls.certificate, or "
                    + "leave link.tls.enabled out"
            ])
        #expect(
            problems("--link-tls-enabled", "--link-tls-certificate", "c.pem", "--link-tls-key", "k.pem")
                == [])
    }
}
