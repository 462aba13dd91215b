import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Describes in the system's words why a connection could not be made. NIO's own words fill half a line with
/// the address, which the log has beside them.
func connectFailure(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
        error.connectionErrors.last.map { connectFailure($0.error) } ?? "the host name can't be looked up"
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout(let time): "no answer in \(Duration(time))"
    default: "\(error)"
    }
}
