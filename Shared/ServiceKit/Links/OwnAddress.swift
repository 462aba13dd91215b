internal import Foundation
internal import NIOCore
internal import NIOPosix

/// Where the other services reach this node if that isn't configured and it listens on all addresses of its
/// machine: at the address with which it reaches its database, which all nodes have to reach as well.
package struct OwnAddress {
    /// Where the database is, or who knows it.
    let towards: [HostPort]

    package init(towards: [HostPort]) { self.towards = towards }

    /// The address that the system would send from. Names are looked up, which may take seconds, on a thread
    /// of its own.
    ///
    /// - Returns: nil if none of the names can be found now, or only this machine reaches the address.
    package func find() async -> String? {
        try? await NIOThreadPool.singleton.runIfActive { towards.lazy.compactMap(Self.source).first }
    }

    private static func source(towards place: HostPort) -> String? {
        guard let remote = try? SocketAddress.makeAddressResolvingHost(place.host, port: place.port) else {
            return nil
        }
        // Connecting a datagram's socket chooses a route and sends nothing.
        let descriptor = remote.withSockAddr { address, length -> Int32 in
            let descriptor = socket(Int32(address.pointee.sa_family), Int32(SOCK_DGRAM.rawValue), 0)
            guard descriptor >= 0 else { return -1 }
            guard connect(descriptor, address, socklen_t(length)) == 0 else {
                close(descriptor)
                return -1
            }
            return descriptor
        }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return of(descriptor)
    }

    /// The address from which a socket that is connected sends.
    ///
    /// - Returns: nil if only this machine reaches it, as that of a unix socket.
    package static func of(_ descriptor: CInt) -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let isFound = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length) == 0
                    && [AF_INET, AF_INET6].contains(CInt(address.pointee.sa_family))
                    && getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            }
        }
        guard isFound else { return nil }
        let found = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return HostPort(host: found, port: 0).isLoopback ? nil : found
    }
}
