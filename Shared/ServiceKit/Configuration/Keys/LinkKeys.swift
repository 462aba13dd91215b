/// The keys that both ends of a service link read.
package enum ServiceLinkKeys {
    package static let secret = ConfigurationKey<Secret?>.secret(
        "link.secret",
        "Secret that all services of an installation share; callers that don't know it are refused. Unset: none is asked for."
    )
    package static let open = ConfigurationKey<Bool>.bool(
        "link.open", default: false,
        "Lets a service listen on more than loopback without a secret; only for a network that keeps strangers out."
    )
    package static let tls = ConfigurationKey<Bool>.bool(
        "link.tls.enabled", default: false,
        "Whether the services talk to one another over TLS; the same for all services of an installation.")
    package static let certificate = ConfigurationKey<String?>.optionalFile(
        "link.tls.certificate",
        "PEM file with the certificate chain that a service shows to its callers; with TLS, a service that listens needs it."
    )
    package static let key = ConfigurationKey<String?>.optionalFile(
        "link.tls.key", "PEM file with the private key of that certificate.")
    package static let trust = ConfigurationKey<String?>.optionalFile(
        "link.tls.trust",
        "PEM file with the authorities whose certificates callers accept. Unset: those that the system trusts."
    )

    /// What a program needs whose links leave its process.
    package static let network: [KeyDeclaration] = [
        open.declaration, tls.declaration, certificate.declaration, key.declaration, trust.declaration,
    ]

    static let live: [KeyDeclaration] = [
        secret.declaration, certificate.declaration, key.declaration, trust.declaration,
    ]

    /// The relations for a service that listens at an address.
    package static func rules(listen: ConfigurationKey<HostPort>) -> [ConfigurationRule] {
        [
            ConfigurationRule(listen) { address, configuration in
                guard !address.isLoopback, configuration[secret] == nil, !configuration[open] else {
                    return nil
                }
                return
                    "\(address) can be reached from other machines, and link.secret is not set. Set it, or "
                    + "set link.open to true if the network keeps strangers out"
            },
            ConfigurationRule(tls, needs: [certificate, key], when: { $0 }),
        ]
    }
}
