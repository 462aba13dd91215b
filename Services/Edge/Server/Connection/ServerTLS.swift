import NIOSSL
import RTMServiceKit
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

    /// Nil if no listener has TLS. Throws `ServiceFailure.configuration` with the files that can't be used.
    static func context(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws -> NIOSSLContext? {
        let isUsed =
            configuration[EdgeKeys.tlsListen] != nil || configuration[EdgeKeys.webSocketTLSListen] != nil
        guard isUsed, let certificate = configuration[EdgeKeys.tlsCertificate],
            let key = configuration[EdgeKeys.tlsKey]
        else { return nil }
        let chain = try naming(certificate) {
            try NIOSSLCertificate.fromPEMBytes(Array(read(certificate).utf8))
        }
        let privateKey = try naming(key) { try NIOSSLPrivateKey(bytes: Array(read(key).utf8), format: .pem) }
        do {
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
            tls.minimumTLSVersion = .tlsv12
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw ServiceFailure.configuration("TLS with \(certificate) and \(key): \(error)")
        }
    }

    private static func naming<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw ServiceFailure.configuration("\(file): \(error)")
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
            let origin = "\(configuration.origin(of: EdgeKeys.tlsCertificate))"
            return ConfigurationProblem("edge.tls", from: origin, ServiceFailure(error).cause)
        }
    }
}
