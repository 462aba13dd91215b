package import NIOCore

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// IP addresses that begin with the same bits: `10.0.0.0/8`, `fd00::/8`, or one address alone. Pure.
package struct AddressRange: Sendable, Equatable {
    private let prefix: [UInt8]
    private let bits: Int

    /// Nil if the text is no address, or has more bits behind its slash than such an address.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = Self.bytes(of: String(parts[0])) else { return nil }
        var bits = bytes.count * 8
        if parts.count > 1 {
            guard let number = Int(parts[1]), (0...bits).contains(number) else { return nil }
            bits = number
        }
        prefix = bytes
        self.bits = bits
    }

    package func contains(_ address: SocketAddress) -> Bool {
        guard let bytes = address.ipAddress.flatMap(Self.bytes), bytes.count == prefix.count else {
            return false
        }
        let whole = bits / 8
        guard bytes[..<whole] == prefix[..<whole] else { return false }
        let rest = bits % 8
        return rest == 0 || (bytes[whole] ^ prefix[whole]) >> (8 - rest) == 0
    }

    /// An IPv4 address that a socket for IPv6 has accepted counts as what it is.
    private static func bytes(of address: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, address, &bytes) == 1 { return Array(bytes[..<4]) }
        guard inet_pton(AF_INET6, address, &bytes) == 1 else { return nil }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? Array(bytes[12...]) : bytes
    }
}

extension ConfigurationRule {
    /// Each element of the list is a network.
    package static func networks(_ key: ConfigurationKey<[String]>) -> ConfigurationRule {
        ConfigurationRule(key) { networks in
            networks.first { AddressRange($0) == nil }.map {
                "has \"\($0)\", which is no network such as 10.1.0.0/16"
            }
        }
    }
}
