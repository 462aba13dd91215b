#if canImport(Glibc)
    import Glibc
    import NIOCore

    /// Asks the kernel which address of this machine leads to another one. No packet is sent for that.
    enum RouteLookup {
        /// The address from which packets to the first reachable target leave; `nil` if none can be reached.
        static func source(towards targets: [SocketAddress]) -> String? {
            targets.lazy.compactMap(source(towards:)).first
        }

        private static func source(towards target: SocketAddress) -> String? {
            let isIPv6 = target.protocol == .inet6
            let kind = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
            let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            // To connect a datagram socket is to look up the route, and nothing else.
            let connected = target.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
            guard connected == 0 else { return nil }
            return localAddress(of: descriptor, isIPv6: isIPv6)
        }

        private static func localAddress(of descriptor: CInt, isIPv6: Bool) -> String? {
            var bytes = [UInt8](repeating: 0, count: 128)
            var length = socklen_t(bytes.count)
            let result = bytes.withUnsafeMutableBytes {
                getsockname(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            guard result == 0 else { return nil }
            // Where sockaddr_in and sockaddr_in6 have the address.
            let address = isIPv6 ? bytes[8..<24] : bytes[4..<8]
            return (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: address), port: 0))?.ipAddress
        }
    }
#endif
