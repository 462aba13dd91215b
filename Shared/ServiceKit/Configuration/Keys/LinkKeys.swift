/// The keys that both ends of a service link read.
package enum ServiceLinkKeys {
    package static let secret = ConfigurationKey<Secret?>.secret(
        "link.secret",
        "Shared by all services of an installation; callers that don't know it are refused. Unset: not asked for."
    )
}
