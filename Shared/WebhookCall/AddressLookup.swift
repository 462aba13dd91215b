package import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Asks the system which addresses a host has.
package enum AddressLookup {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// - Throws: `Failure` with the system's words.
    package static func system(_ host: String, port: Int) async throws -> [SocketAddress] {
        try await NIOThreadPool.singleton.runIfActive { try addresses(of: host, port: port) }
    }

    private static func addresses(of host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = SOCK_STREAM.number
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &list)
        guard result == 0 else { throw Failure(description: String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let code = getnameinfo(
                info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
            // An address with a zone, which only this machine knows, is none for a webhook.
            if code == 0,
                let address = try? SocketAddress(
                    ipAddress: String(decoding: bytes, as: UTF8.self), port: port)
            {
                addresses.append(address)
            }
            entry = info.ai_next
        }
        return addresses
    }
}

#if canImport(Glibc)
    extension __socket_type {
        fileprivate var number: Int32 { Int32(rawValue) }
    }
#else
    extension Int32 {
        fileprivate var number: Int32 { self }
    }
#endif
