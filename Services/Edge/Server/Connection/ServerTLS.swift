import NIOSSL
import RTMServiceKit

/// The server's side of TLS: certificate chain and key from files, TLS 1.2 or newer.
enum ServerTLS {
    static func context(_ configuration: Configuration) throws -> NIOSSLContext {
        guard let certificate = configuration[EdgeKeys.tlsCertificate],
            let key = configuration[EdgeKeys.tlsKey]
        else {
            throw ServiceFailure.configuration("edge.tls.listen needs edge.tls.certificate and edge.tls.key")
        }
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate)
            let privateKey = try NIOSSLPrivateKey(file: key, format: .pem)
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
            tls.minimumTLSVersion = .tlsv12
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw ServiceFailure.configuration("TLS with \(certificate) and \(key): \(error)")
        }
    }
}
