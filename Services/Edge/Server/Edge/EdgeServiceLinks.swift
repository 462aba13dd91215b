import RTMServiceLink

/// Where an edge finds the services it calls, over the network or in its own process.
struct EdgeServiceLinks: Sendable {
    var messaging: ServiceLinkAddress
    var presence: ServiceLinkAddress
    var storage: ServiceLinkAddress
    var link: ServiceLinkConfiguration
    /// The edge's name, for the logs of the services.
    var node: String
    /// Of every call to a service. Shorter than a client's own patience, so that the client hears the cause.
    var timeout: Duration = .seconds(5)

    init(
        messaging: ServiceLinkAddress, presence: ServiceLinkAddress, storage: ServiceLinkAddress,
        link: ServiceLinkConfiguration, node: String
    ) {
        self.messaging = messaging
        self.presence = presence
        self.storage = storage
        self.link = link
        self.node = node
    }
}
