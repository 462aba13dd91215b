import Foundation
import Logging
import NIOCore
import NIOPosix
import RTMServiceLink
import RTMTestSupport
import Testing

@testable import RTMServiceKit

@Suite("TLS certificates of listeners") struct CertificateTests {
    private static let certificate = ConfigurationKey.optionalFile("relay.tls.certificate", "What it shows.")
    private static let key = ConfigurationKey.optionalFile("relay.tls.key", "Its private key.")
    private static let keys = TLSIdentityKeys(certificate, key)

    private func problem(_ files: TestCertificate, key: String? = nil) throws -> String? {
        let schema = ConfigurationSchema(
            [Self.certificate.declaration, Self.key.declaration], section: "relay")
        let configuration = try ConfigurationLoader(schema: schema) { _ in "" }.load(
            arguments: ["--tls-certificate", files.certificate, "--tls-key", key ?? files.key],
            environment: [:])
        return Self.keys.problem(configuration) { try TextFile.read($0) }?.description
    }

    private func withDirectory(_ body: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory)
    }

    @Test("--check-config refuses an expired certificate, and says when it expired")
    func expired() throws {
        try withDirectory { directory in
            let files = try TestCertificate(in: directory)
            #expect(try problem(files) == nil)
            try Data(Self.expiredCertificate.utf8).write(to: URL(filePath: files.certificate))
            try Data(Self.expiredKey.utf8).write(to: URL(filePath: files.key))
            #expect(
                try problem(files)
                    == "relay.tls.certificate (--tls-certificate): the certificate in the file "
                    + "\(files.certificate) expired at 2020-02-01T00:00:00.000Z. "
                    + "Put a renewed one there; a running program takes it over")
        }
    }

    @Test("the key of another certificate is called that, and what is no key has no key that can be read")
    func wrongKey() throws {
        try withDirectory { directory in
            let files = try TestCertificate(in: directory)
            let other = directory.appending(path: "other.pem").path
            try Data(Self.expiredKey.utf8).write(to: URL(filePath: other))
            let beginning = "relay.tls.key (--tls-key): the file \(other) does not hold the private key of "
            let foreign = try problem(files, key: other)
            #expect(
                foreign?.hasPrefix(beginning + "the certificate: it is the key of another certificate.")
                    == true)
            try Data("prose".utf8).write(to: URL(filePath: other))
            let none = try problem(files, key: other)
            #expect(
                none?.hasPrefix(beginning + "the certificate: it holds no private key that can be read.")
                    == true)
        }
    }

    @Test("a chain is valid as long as all its certificates are, and soon expired in its last 14 days")
    func verdicts() {
        let validity = CertificateValidity(begins: 86_400, ends: 20 * 86_400)
        let verdicts = [0, 1, 5, 6, 7, 20, 21].map { validity.verdict(at: $0 * 86_400) }
        #expect(verdicts == [.notYetValid, .valid, .valid, .valid, .endsSoon, .endsSoon, .expired])
        #expect(validity.daysLeft(at: 22 * 86_400) == -2)
    }

    // MARK: Authorities

    private static func load(_ arguments: [String]) throws -> Configuration {
        let schema = ConfigurationSchema(ServiceLinkKeys.declarations, section: "relay")
        return try ConfigurationLoader(schema: schema) { _ in "" }.load(
            arguments: arguments, environment: [:])
    }

    @Test("of authorities the first that ends counts, and one that has ended only if all have")
    func firstToEnd() {
        let all = [10, 20, 30].map { CertificateValidity(begins: 0, ends: $0) }
        let firsts = [5, 10, 11, 29, 31].map { all.firstToEnd(at: $0)?.ends }
        #expect(firsts == [10, 10, 20, 30, 30])
        #expect([].firstToEnd(at: 0) == nil)
    }

    @Test(
        "the metric has the days of trusted authorities, and --check-config refuses those that are all expired"
    )
    func authorities() async throws {
        try await TestCertificate.with { files in
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let options = ["--link-tls-enabled", "--link-tls-trust", files.certificate]
            let configuration = try Self.load(options)
            let (metrics, reports) = (MetricsRegistry(), CertificateReports())
            let schema = ConfigurationSchema(ServiceLinkKeys.declarations, section: "relay")
            reports.declare(in: metrics, keys: schema.certificates)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let context = ServiceContext(
                service: "relay", configuration: configuration, logger: logger, metrics: metrics,
                readiness: ReadinessRegistry(logger: logger), eventLoopGroup: group, certificates: reports)
            _ = try ServiceLinkConfiguration(context, isNetworked: true)
            let page = PrometheusExporter.text(metrics)
            let days = page.firstMatch(of: #/rtm_certificate_days_left{key="link.tls.trust"} ([\d.]+)/#)
            let left = try #require(days.flatMap { Double($0.1) })
            #expect((1.9...2).contains(left))
            #expect(ServiceLinkConfiguration.problem(configuration) { try TextFile.read($0) } == nil)
            let valid = try TextFile.read(files.certificate)
            let both = ServiceLinkConfiguration.problem(configuration) { _ in
                Self.expiredCertificate + "\n" + valid
            }
            #expect(both == nil)
            let expired = ServiceLinkConfiguration.problem(configuration) { _ in Self.expiredCertificate }
            #expect(
                expired?.description
                    == "link.tls.trust (--link-tls-trust): the last authority in the file "
                    + "\(files.certificate) expired at 2020-02-01T00:00:00.000Z. "
                    + "Put a renewed one there; a running program takes it over")
            try await group.shutdownGracefully()
        }
    }

    private static let expiredCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBHDCBwgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9oZWxpb2dyYXBoIHRl
        c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMjAxMDAwMDAwWjAaMRgwFgYDVQQDDA9o
        ZWxpb2dyYXBoIHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASAkEGRw+Xf
        vvOsMYI8gQZzOgRxil15mJf2qtLELhKvZbuWq9AkJJKAQpjS9j5Z12VbYv8sXsuE
        KRywmdWU8WazMAoGCCqGSM49BAMCA0kAMEYCIQD5qmmxNQ43EyIFBShgXaMbES0I
        sIz0LE8JXE8iq8OCkwIhAIzuoEwX/w4KwUzsaFZIKVsVQlqYUQkTFEOKMWkpSjlR
        -----END CERTIFICATE-----
        """
    private static let expiredKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgsnM9+1nOGrhfAI8g
        watKYqRfgHw5zM7+qlAjMaLX8QuhRANCAASAkEGRw+XfvvOsMYI8gQZzOgRxil15
        mJf2qtLELhKvZbuWq9AkJJKAQpjS9j5Z12VbYv8sXsuEKRywmdWU8Waz
        -----END PRIVATE KEY-----
        """
}
