internal import NIOSSL
internal import RTMServiceLink

/// The keys that both ends of a service link read.
package struct ServiceLinkKeys: ServiceKeys {
    package static let table = Self()

    package let secret = ConfigurationKey<Secret?>.secret(
        "link.secret",
        "Secret that all services of an installation share; callers that don't know it are refused. Unset: none is asked for."
    ).live
    package let open = ConfigurationKey<Bool>.bool(
        "link.open", default: false,
        "Lets a service listen on more than loopback without a secret; only for a network that nobody else reaches."
    ).forOwnProcess
    package let tls = ConfigurationKey<Bool>.bool(
        "link.tls.enabled", default: false,
        "Whether the services talk to one another over TLS; the same for all services of an installation."
    ).forOwnProcess
    package let certificate = ConfigurationKey<String?>.optionalFile(
        "link.tls.certificate",
        "PEM file with the certificate chain that a service shows to its callers; with TLS, a service that listens needs it."
    ).live.certificates.forOwnProcess
    package let key = ConfigurationKey<String?>.optionalFile(
        "link.tls.key", "PEM file with the private key of that certificate."
    ).live.forOwnProcess
    package let trust = ConfigurationKey<String?>.optionalFile(
        "link.tls.trust",
        "PEM file with the authorities whose certificates callers accept. Unset: those that the system trusts."
    ).live.certificates.forOwnProcess

    static let identity = TLSIdentityKeys(certificate, key, least: .tlsv13)

    /// The relations for a service that listens at an address.
    package static func rules(listen: ConfigurationKey<HostPort>) -> [ConfigurationRule] {
        [
            ConfigurationRule(listen) { address, configuration in
                guard !address.isLoopback else { return nil }
                guard let text = configuration[secret]?.revealed, !text.isEmpty else {
                    return configuration[open]
                        ? nil
                        : "\(address) can be reached from other machines, and link.secret is not set. "
                            + "Set it, or set link.open to true if nobody else reaches the network"
                }
                return configuration[open] || text.utf8.count >= Secret.bytesMin
                    ? nil
                    : "\(address) can be reached from other machines, and link.secret has fewer than "
                        + "\(Secret.bytesMin) bytes. \(Secret.advice)"
            },
            ConfigurationRule(tls, needs: [certificate, key], when: { $0 }),
        ]
    }
}
