// How a connection is opened, and how its failures read. On Apple's platforms it runs over Network.framework,
// which knows of VPNs, of networks with IPv6 only and of radios that sleep; elsewhere over POSIX sockets.

import NIOCore
import NIOPosix

#if canImport(Network)
    import Network
    import NIOTransportServices
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Darwin
#endif

enum Sockets {
    /// The event loops of a client that isn't given others.
    static var eventLoopGroup: any EventLoopGroup {
        #if canImport(Network)
            NIOTSEventLoopGroup.singleton
        #else
            MultiThreadedEventLoopGroup.singleton
        #endif
    }

    /// What fits the event loop, which may be the app's.
    ///
    /// - Parameter interface: what the connection has to leave this device over. POSIX sockets are bound to
    ///   it when they have been made, see `InterfaceBinding`.
    /// - Returns: `nil` if the system can't reach anything over that interface.
    static func bootstrap(
        on eventLoop: any EventLoop, over interface: String?
    ) -> (any NIOClientTCPBootstrapProtocol)? {
        #if canImport(Network)
            if let bootstrap = NIOTSConnectionBootstrap(validatingGroup: eventLoop) {
                // The client tries again by itself, and says meanwhile that there is no network.
                let impatient = bootstrap.channelOption(NIOTSChannelOptions.waitForActivity, value: false)
                guard let interface else { return impatient }
                guard let required = UsableInterfaces.named(interface) else { return nil }
                return impatient.configureNWParameters { $0.requiredInterface = required }
            }
        #endif
        return ClientBootstrap(group: eventLoop).channelOption(.tcpOption(.tcp_nodelay), value: 1)
    }

    static func failure(ofErrno code: CInt) -> ConnectionFailure? {
        switch code {
        case ECONNREFUSED: .refused
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN: .unreachable
        case ETIMEDOUT: .timedOut
        default: nil
        }
    }

    static func words(forErrno code: CInt) -> String { String(cString: strerror(code)) }

    #if canImport(Network)
        static func failure(of error: any Error) -> ConnectionFailure? {
            switch error as? NWError {
            case .posix(let code)?: failure(ofErrno: code.rawValue)
            case .dns?: .unknownHost
            case .tls?: .tls
            default: nil
            }
        }

        static func words(for error: any Error) -> String? {
            switch error as? NWError {
            case .posix(let code)?: words(forErrno: code.rawValue)
            case .dns?: "the name can't be looked up"
            default: nil
            }
        }
    #else
        static func failure(of error: any Error) -> ConnectionFailure? { nil }

        static func words(for error: any Error) -> String? { nil }
    #endif
}
