import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Describes in plain words, or in those of the system, why a connection could not be made, or broke. The
/// words of NIO are those of its code, and fill half a line with the address, which the log has beside them.
package func connectFailure(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
        error.connectionErrors.last.map { connectFailure($0.error) } ?? "the host name can't be looked up"
    case is SocketAddressError, is SocketAddressError.UnknownHost: "the host name can't be looked up"
    // What connect() answers where a route discards what is sent.
    case let error as IOError where error.errnoCode == EINVAL: "no route"
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout(let time): "no answer in \(Duration(time))"
    case is ChannelError: "the connection is closed"
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: tlsFailure(error)
    default: (error as? any SpokenFailure)?.description ?? "the connection failed"
    }
}

/// A failure whose description is a text for a person.
package protocol SpokenFailure: CustomStringConvertible {}

private func tlsFailure(_ error: any Error) -> String {
    switch error {
    case NIOSSLError.handshakeFailed(.sslError(let stack)):
        let text = stack.map { "\($0)" }.joined(separator: " ")
        if text.contains("CERTIFICATE_VERIFY_FAILED") { return "the peer's certificate isn't trusted" }
        if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
            return "the peer doesn't speak TLS"
        }
        if text.contains("EOF during handshake") { return "the peer ended the TLS handshake" }
        return "the TLS handshake failed"
    case NIOSSLError.uncleanShutdown: return "the peer closed the connection without ending TLS"
    case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
        return "the peer's certificate isn't trusted"
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
        return "the peer's certificate is for another host"
    default: return "the TLS connection failed"
    }
}

/// Describes in plain words why a file of TLS can't be used.
package func fileFailure(_ error: any Error) -> String {
    switch error {
    case NIOSSLError.failedToLoadCertificate: "it holds no certificate that can be read"
    case NIOSSLError.failedToLoadPrivateKey: "it holds no private key that can be read"
    case NIOSSLError.noSuchFilesystemObject: "there is no such file"
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: "it can't be used for TLS"
    default: "\(error)"
    }
}
