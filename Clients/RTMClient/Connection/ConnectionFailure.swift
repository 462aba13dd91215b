import NIOCore
import NIOPosix
import NIOSSL

/// Why no connection to a server could be opened. A program can act on it; a person reads the reason beside
/// it.
public enum ConnectionFailure: Sendable, Hashable {
    /// The host is there, and nothing listens at the port.
    case refused
    /// The name of the host can't be looked up.
    case unknownHost
    /// No network leads to the host.
    case unreachable
    /// The host didn't answer in time.
    case timedOut
    /// The two ends couldn't agree on TLS.
    case tls
    /// No authority that this client trusts has signed the server's certificate, or its time is over.
    case certificateUntrusted
    /// The server's certificate names other hosts than the one in its address.
    case certificateOfOtherHost
    /// This client speaks TLS, and the server doesn't at that port.
    case serverWithoutTLS
    /// The server speaks TLS at that port, and this client doesn't.
    case serverWithTLS
    /// The server speaks HTTP at that port, and this client doesn't: it is the port of WebSockets or an admin
    /// port.
    case serverWithHTTP
    /// This client asks for a WebSocket, and the server doesn't speak HTTP at that port.
    case serverWithoutHTTP
    /// The server speaks HTTP, and refuses to open a WebSocket at that path.
    case webSocketRefused
    /// The proxy asks for credentials, or for other ones (407, 401).
    case proxyAuthentication
    /// The proxy doesn't let this client through to that server: it answers with another status from 400 to
    /// 499.
    case proxyRefused

    /// Whether the proxy has said no. It would say so again, while most other failures may pass.
    var isRefusalOfProxy: Bool { self == .proxyAuthentication || self == .proxyRefused }

    /// Returns `nil` for a cause that fits none of the cases.
    init?(_ error: any Error) {
        switch error {
        case let error as NIOConnectionError:
            guard let last = error.connectionErrors.last else {
                self = .unknownHost
                return
            }
            self.init(last.error)
        case let error as IOError:
            guard let failure = Sockets.failure(ofErrno: error.errnoCode) else { return nil }
            self = failure
        case ChannelError.connectTimeout: self = .timedOut
        case NIOSSLError.handshakeFailed(let cause) where cause.isOfPlainServer: self = .serverWithoutTLS
        case NIOSSLError.handshakeFailed(let cause) where cause.isOfCertificate: self = .certificateUntrusted
        case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
            self = .certificateUntrusted
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            self = .certificateOfOtherHost
        case ServerFrameReader.Failure.tls: self = .serverWithTLS
        case ServerFrameReader.Failure.tooLarge(ServerFrameReader.http): self = .serverWithHTTP
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = .tls
        case let error as ProxyRefusal:
            guard let failure = error.failure else { return nil }
            self = failure
        default:
            guard let failure = Sockets.failure(of: error) else { return nil }
            self = failure
        }
    }
}

extension ServerConnection {
    /// Describes the cause of a failure in few words, on one line.
    static func describe(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let last = error.connectionErrors.last { return describe(last.error) }
            return "the name can't be looked up"
        case let error as IOError:
            return Sockets.words(forErrno: error.errnoCode)
        case ChannelError.connectTimeout(let amount):
            return "no answer within \(Duration(amount))"
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof,
            ChannelError.inputClosed, ChannelError.outputClosed:
            return "the connection was closed"
        case is SocketAddressError:
            return "the name can't be looked up"
        case let error as ServerFrameReader.Failure:
            return error.description
        case let error as ProxyRefusal:
            return error.description
        case NIOSSLError.handshakeFailed(let cause) where cause.isOfPlainServer:
            return "the server speaks no TLS at this port"
        case NIOSSLError.handshakeFailed(let cause) where cause.isOfCertificate:
            return untrusted
        case NIOSSLError.handshakeFailed(let cause):
            return "TLS failed: \(cause.words)"
        case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
            return untrusted
        case NIOSSLError.uncleanShutdown:
            return "the other side closed the connection without ending TLS first"
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return "TLS failed: the server's certificate is for other names than this one"
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            return "TLS failed"
        default:
            return Sockets.words(for: error) ?? "the connection failed"
        }
    }
}

private let untrusted =
    "TLS failed: the server's certificate isn't signed by an authority that is trusted here, or has expired"

extension BoringSSLError {
    fileprivate var isOfCertificate: Bool { words == "certificate verify failed" }

    /// The server has answered with something else than TLS.
    fileprivate var isOfPlainServer: Bool { words == "wrong version number" || words == "http request" }

    /// The library reports a stack of errors with file names and numbers. The last word of the first of them
    /// is what a person can use, as in `CERTIFICATE_VERIFY_FAILED`.
    fileprivate var words: String {
        switch self {
        case .sslError(let stack), .unknownError(let stack), .invalidSNIName(let stack),
            .failedToSetALPN(let stack):
            stack.first.map { Self.words(of: "\($0)") } ?? Self.ended
        case .syscallError, .zeroReturn: Self.ended
        default: "the handshake was cut short"
        }
    }

    private static let ended = "the other side ended the handshake, as one without TLS may do"

    /// `Error: 1 error:2:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER at file.cc:3` → `wrong version
    /// number`.
    private static func words(of text: String) -> String {
        let end = text.firstRange(of: " at ")?.lowerBound ?? text.endIndex
        let last = text[..<end].split(separator: ":").last ?? text[...]
        let words = last.replacing("_", with: " ").lowercased().trimmingPrefix { $0 == " " }
        return words == "eof during handshake" ? ended : String(words)
    }
}
