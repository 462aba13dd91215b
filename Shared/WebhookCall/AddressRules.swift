package import NIOCore
package import RTMServiceKit

/// Which addresses a webhook or a hook may connect to: those of the public Internet, and the networks that
/// the operator has allowed. Otherwise whoever may name a URL, or answers for its name in DNS, could reach
/// what only this machine reaches, such as the metadata service of a cloud (docs/threat-model.md).
package struct AddressRules: Sendable, Equatable {
    let allowed: [AddressRange]
    let admitsPublic: Bool

    package init(allowed: [AddressRange], admitsPublic: Bool = true) {
        (self.allowed, self.admitsPublic) = (allowed, admitsPublic)
    }

    package func admits(_ address: SocketAddress) -> Bool {
        allowed.contains { $0.contains(address) }
            || admitsPublic && Self.handedOut.contains { $0.contains(address) }
                && !Self.special.contains { $0.contains(address) }
    }

    /// IPv6 is refused but for what is handed out, so the forms that carry an IPv4 address (translated, 6to4,
    /// Teredo) are refused whatever they carry. A mapped address counts as what it is.
    private static let handedOut = ranges("0.0.0.0/0", "2000::/3")

    /// What the registry of IANA calls special, and an address at which a cloud answers from within.
    private static let special = ranges(
        // This network, private, carrier-grade NAT, loopback, link-local with the metadata services, private.
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.168.0.0/16",
        // Protocols, documentation, 6to4, measurement, multicast and what is reserved up to broadcast.
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // Azure's own services.
        "168.63.129.16/32",
        // Teredo and protocols, documentation, 6to4.
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

    private static func ranges(_ texts: String...) -> [AddressRange] { texts.compactMap(AddressRange.init) }
}
