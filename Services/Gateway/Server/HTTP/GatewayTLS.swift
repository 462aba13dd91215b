import NIOSSL
import RTMServiceKit

/// The gateway's side of TLS: certificate chain and key from files, TLS 1.2 or newer.
enum GatewayTLS {
    /// Nil if no listener has TLS. Throws the key whose file can't be used.
    static func configuration(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> TLSConfiguration? {
        guard configuration[GatewayKeys.tlsListen] != nil else { return nil }
        let chain = try configuration.use(GatewayKeys.tlsCertificate, for: "a certificate chain", read) {
            try NIOSSLCertificate.fromPEMBytes(Array($0.utf8))
        }
        let key = try configuration.use(GatewayKeys.tlsKey, for: "a private key", read) {
            try NIOSSLPrivateKey(bytes: Array($0.utf8), format: .pem)
        }
        guard let chain, let key else { return nil }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        do {
            _ = try NIOSSLContext(configuration: tls)
        } catch {
            throw configuration.refusal(
                of: GatewayKeys.tlsKey, "the key does not fit the certificate of gateway.tls.certificate",
                "the key of that certificate")
        }
        return tls
    }
}
