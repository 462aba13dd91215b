package import Logging
internal import NIOCore
internal import NIOPosix
internal import RTMModel
internal import RTMServiceLink

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why a service can't start or can't continue. The class decides the exit status, and the cause goes to the
/// log.
package struct ServiceFailure: Error, Sendable, CustomStringConvertible {
    package let status: ExitCode
    /// A constant word for the log: `configuration`, `cannotBind`, `unavailable`, `internal`.
    package let code: String
    /// A sentence that names what failed and where.
    package let cause: String
    /// Whether another process listens at the address.
    package private(set) var isAddressTaken = false

    package var description: String { "\(cause) (\(code))" }

    private init(_ status: ExitCode, _ code: String, _ cause: String) {
        self.status = status
        self.code = code
        self.cause = cause
    }

    /// The configuration can't be used, for example because a certificate file holds no certificate.
    package static func configuration(_ cause: String) -> ServiceFailure {
        ServiceFailure(.configuration, "configuration", cause)
    }

    /// The process can't listen there: the address is taken, foreign, or forbidden.
    package static func cannotBind(_ address: HostPort, for purpose: String, _ error: any Error)
        -> ServiceFailure
    {
        // NIO's text begins with the name of the function that failed.
        let number = (error as? IOError)?.errnoCode
        let reason = number.map { String(cString: strerror($0)) } ?? connectFailure(error)
        let advice =
            switch number {
            case EADDRINUSE: ". Choose another address, or end the process that listens there"
            case EADDRNOTAVAIL: ". Choose an address of this machine, or 0.0.0.0 for all of them"
            case EACCES: ". Choose a port above 1023, or give this user the right to use it"
            default: ""
            }
        var failure = ServiceFailure(
            .unavailable, "cannotBind", "can't listen on \(address) for \(purpose): \(reason)\(advice)")
        failure.isAddressTaken = number == EADDRINUSE
        return failure
    }

    /// Reports that the process continues without a listener at an address that nobody has asked for.
    package func leftOut(_ logger: Logger) {
        logger.warning("a default address is left out, because it is taken", metadata: ["cause": "\(cause)"])
    }

    /// A dependency of the service is not there.
    package static func unavailable(_ dependency: String, _ error: any Error) -> ServiceFailure {
        unavailable(dependency, "\(error)")
    }

    /// - Parameters:
    ///   - dependency: what is missing, or the key that names it.
    ///   - reason: a sentence about what is wrong, and what to do.
    package static func unavailable(_ dependency: String, _ reason: String) -> ServiceFailure {
        ServiceFailure(.unavailable, "unavailable", "\(dependency): \(reason)")
    }

    /// Sorts any error that reached the main into its class.
    package init(_ error: any Error) {
        switch error {
        case let failure as ServiceFailure: self = failure
        case let error as ConfigurationError: self = .configuration("\(error)")
        case let error as RTMError where error.isRetryable: self.init(.unavailable, "unavailable", "\(error)")
        case is IOError, is ChannelError, is NIOConnectionError:
            self.init(.unavailable, "unavailable", connectFailure(error))
        default: self.init(.internal, "internal", "\(error)")
        }
    }
}
