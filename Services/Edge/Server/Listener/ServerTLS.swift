import NIOSSL
import RTMServiceKit
import RTMServiceLink
import Synchronization

/// The server's side of TLS: certificate chain and key from files, TLS 1.2 or newer. Connections that come
/// after a reload get the new certificate.
final class ServerTLS: Sendable {
    private let present: Mutex<NIOSSLContext>

    /// Nil if no listener has TLS.
    convenience init?(_ configuration: Configuration) throws {
        guard let context = try Self.context(configuration, { try TextFile.read($0) }) else { return nil }
        self.init(context)
    }

    private init(_ context: NIOSSLContext) { present = Mutex(context) }

    /// The context for one more connection.
    var context: NIOSSLContext { present.withLock { $0 } }

    func take(_ next: NIOSSLContext?) {
        if let next { present.withLock { $0 = next } }
    }

    /// Nil if no listener has TLS. Throws the key whose file can't be used.
    static func context(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> NIOSSLContext? {
        let isUsed =
            configuration[EdgeKeys.tlsListen] != nil || configuration[EdgeKeys.webSocketTLSListen] != nil
        guard isUsed else { return nil }
        let chain = try configuration.use(EdgeKeys.tlsCertificate, for: "a certificate chain", read) {
            try NIOSSLCertificate.fromPEMBytes(Array($0.utf8))
        }
        let key = try configuration.use(EdgeKeys.tlsKey, for: "a private key", read) {
            try NIOSSLPrivateKey(bytes: Array($0.utf8), format: .pem)
        }
        guard let chain, let key else { return nil }
        do {
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            tls.minimumTLSVersion = .tlsv12
            return try NIOSSLContext(configuration: tls)
        } catch {
            let reason = "the key does not fit the certificate of edge.tls.certificate: \(fileFailure(error))"
            throw configuration.refusal(of: EdgeKeys.tlsKey, reason, "the key of that certificate")
        }
    }

    /// What is wrong with the files of TLS; nil if they can be used.
    @Sendable static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            _ = try context(configuration, read)
            return nil
        } catch {
            return error.problems.first
        }
    }
}
