/// The keys that both ends of a service link read.
package enum ServiceLinkKeys {
    package static let secret = ConfigurationKey<Secret?>.secret(
        "link.secret",
        "Secret that all services of an installation share; callers that don't know it are refused. Unset: none is asked for."
    )
}
