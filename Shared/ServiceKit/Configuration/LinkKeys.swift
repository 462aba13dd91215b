/// The keys that both ends of a service link read.
package enum LinkKeys {
    package static let secret = ConfigurationKey<Secret?>.secret(
        "link.secret",
        "Shared by all services of an installation; a service refuses callers that don't know it. Unset: none is asked for."
    )
}
