import NIOCore
package import NIOSSL
import Synchronization

/// TLS for the links of an installation: the certificate that a service shows, and whom callers trust. New
/// files count from the next connection on.
package final class ServiceLinkTLS: Sendable {
    /// What is made of the files.
    package struct Contexts: Sendable {
        /// Nil if the program has no certificate of its own, and only calls.
        fileprivate let server: NIOSSLContext?
        fileprivate let client: NIOSSLContext
        /// When each certificate of the authorities holds; empty where those of the system are trusted.
        package let authorities: [CertificateValidity]

        /// - Parameters:
        ///   - identity: what a program shows that listens.
        ///   - trust: certificates of authorities as PEM; nil means those that the system trusts.
        package init(identity: TLSIdentity?, trust: String?) throws(UnusablePart) {
            server = identity?.context
            (client, authorities) = try UnusablePart.naming(.trust) {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.minimumTLSVersion = .tlsv12
                let roots = try trust.map { try NIOSSLCertificate.fromPEMBytes(Array($0.utf8)) }
                if let roots { tls.trustRoots = .certificates(roots) }
                return (try NIOSSLContext(configuration: tls), roots?.map(CertificateValidity.init) ?? [])
            }
        }
    }

    /// Which of the texts can't be used, and why.
    package struct UnusablePart: Error, CustomStringConvertible {
        package enum Part: Sendable {
            case certificate, key, trust
        }

        package let part: Part
        package let description: String

        static func naming<Result>(
            _ part: Part, _ body: () throws -> Result
        ) throws(UnusablePart) -> Result {
            do {
                return try body()
            } catch {
                throw UnusablePart(part: part, description: fileFailure(error))
            }
        }
    }

    private let present: Mutex<Contexts>

    package init(_ contexts: Contexts) { present = Mutex(contexts) }

    package var authorities: [CertificateValidity] { present.withLock { $0.authorities } }

    package func take(_ contexts: Contexts) { present.withLock { $0 = contexts } }

    /// The first handler of an accepted connection. Throws if there is no certificate.
    func serverHandler() throws -> NIOSSLServerHandler {
        guard let context = present.withLock({ $0.server }) else { throw NoCertificate() }
        return NIOSSLServerHandler(context: context)
    }

    /// The first handler of a connection to this host. The peer's certificate has to be for the host.
    package func clientHandler(to host: String) throws -> NIOSSLClientHandler {
        let context = present.withLock { $0.client }
        // The name of a server is never an address; then the address itself is compared.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }

    private struct NoCertificate: Error, SpokenFailure {
        let description = "this program has no certificate for TLS"
    }
}
