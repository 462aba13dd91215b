package import NIOSSL

/// A certificate chain with its private key: what a listener shows to those who connect.
package struct TLSIdentity: Sendable {
    package let context: NIOSSLContext
    package let validity: CertificateValidity

    /// - Parameters:
    ///   - certificate: the chain as PEM, the server's own certificate first.
    ///   - key: its private key as PEM.
    ///   - least: the oldest version of TLS that is spoken.
    package init(
        certificate: String, key: String, least: TLSVersion = .tlsv12
    ) throws(ServiceLinkTLS.UnusablePart) {
        let chain = try ServiceLinkTLS.UnusablePart.naming(.certificate) {
            try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
        }
        let privateKey = try ServiceLinkTLS.UnusablePart.naming(.key) {
            try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)
        }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        tls.minimumTLSVersion = least
        do {
            context = try NIOSSLContext(configuration: tls)
        } catch {
            throw ServiceLinkTLS.UnusablePart(part: .key, description: "it is the key of another certificate")
        }
        validity = CertificateValidity(
            begins: chain.map { Int($0.notValidBefore) }.max() ?? 0,
            ends: chain.map { Int($0.notValidAfter) }.min() ?? 0)
    }
}

/// When a chain of certificates holds: as long as each of them does. Pure.
package struct CertificateValidity: Sendable, Hashable {
    /// In seconds since 1970.
    package let begins, ends: Int

    package init(begins: Int, ends: Int) {
        self.begins = begins
        self.ends = ends
    }

    package enum Verdict: Sendable, Hashable {
        case notYetValid, valid, endsSoon, expired
    }

    /// What is renewed by a program is renewed earlier than this.
    private static let soonDays = 14.0

    /// The days until the end; negative after it.
    package func daysLeft(at seconds: Int) -> Double { Double(ends - seconds) / 86_400 }

    package func verdict(at seconds: Int) -> Verdict {
        if seconds > ends { return .expired }
        if seconds < begins { return .notYetValid }
        return daysLeft(at: seconds) < Self.soonDays ? .endsSoon : .valid
    }
}
