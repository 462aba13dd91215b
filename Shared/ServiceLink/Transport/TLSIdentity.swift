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
        let parts = chain.map(CertificateValidity.init)
        validity = CertificateValidity(
            begins: parts.map(\.begins).max() ?? 0, ends: parts.map(\.ends).min() ?? 0)
    }
}

/// When a certificate holds, or a chain of them: as long as each of them does. Pure.
package struct CertificateValidity: Sendable, Hashable {
    /// In seconds since 1970.
    package let begins, ends: Int

    package init(begins: Int, ends: Int) {
        self.begins = begins
        self.ends = ends
    }

    init(_ certificate: NIOSSLCertificate) {
        self.init(begins: Int(certificate.notValidBefore), ends: Int(certificate.notValidAfter))
    }

    /// Those of the certificates in a text of PEM, each by itself.
    package static func each(inPEM text: String) throws -> [CertificateValidity] {
        try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)).map(CertificateValidity.init)
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

extension Collection<CertificateValidity> {
    /// Of authorities, which vouch for a certificate each by itself: the one that ends first. One that has
    /// ended counts only if all have, because a renewed one often stands beside it.
    package func firstToEnd(at seconds: Int) -> CertificateValidity? {
        filter { $0.ends >= seconds }.min { $0.ends < $1.ends } ?? self.max { $0.ends < $1.ends }
    }
}
