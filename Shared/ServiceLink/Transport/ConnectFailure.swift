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

/// Says in plain words, or in those of the system, why a connection could not be made or broke. NIO's own
/// words are those of its code, and fill half a line with the address, which the log has beside them.
package func connectFailure(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
        return error.connectionErrors.last.map { connectFailure($0.error) }
            ?? "the host name can't be looked up"
    case let error as IOError: return String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout(let time): return "no answer in \(Duration(time))"
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: return tlsFailure(error)
    case is ChannelError: return "the connection is closed"
    default: return (error as? any SpokenFailure)?.description ?? "an unknown failure of the connection"
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
        return "the TLS handshake failed"
    case NIOSSLError.uncleanShutdown: return "the peer closed the connection without ending TLS"
    case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
        return "the peer's certificate isn't trusted"
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
        return "the peer's certificate is for another host"
    default: return "the TLS connection failed"
    }
}
