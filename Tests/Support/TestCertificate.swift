package import Foundation
import Testing

/// A certificate for this machine, made for one test. It is its own authority.
package struct TestCertificate {
    package let certificate: String
    package let key: String

    /// - Parameter names: whom it is for, as OpenSSL writes it.
    package init(in directory: URL, names: String = "DNS:localhost,IP:127.0.0.1") throws {
        certificate = directory.appending(path: "cert.pem").path
        key = directory.appending(path: "key.pem").path
        let openssl = ChildProcess()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=heliograph test", "-addext",
            "subjectAltName=\(names)",
            "-keyout", key, "-out", certificate,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0, "openssl made no certificate")
    }

    /// Makes a certificate for the time of the body.
    package static func with(
        names: String = "DNS:localhost,IP:127.0.0.1", _ body: (TestCertificate) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(TestCertificate(in: directory, names: names))
    }
}
