import Foundation
import RTMServiceLink
import RTMTestSupport
import Testing

@testable import RTMServiceKit

@Suite("TLS certificates of listeners") struct CertificateTests {
    private static let certificate = ConfigurationKey.optionalFile("relay.tls.certificate", "What it shows.")
    private static let key = ConfigurationKey.optionalFile("relay.tls.key", "Its private key.")
    private static let keys = TLSIdentityKeys(listener: "relay", certificate, key)

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
