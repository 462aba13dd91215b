import Logging
import RTMMessagingClient
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient

/// Where an edge finds the services it calls, over the network or in its own process.
struct EdgeServiceLinks: Sendable {
    /// All nodes. Each shard has one of them as its leader.
    var messaging: [ServiceLinkAddress]
    /// Nodes that share their rosters. Each loop has a link to one of them.
    var presence: [ServiceLinkAddress]
    /// All nodes. Each shard has one of them as its leader.
    var storage: [ServiceLinkAddress]
    var link: ServiceLinkConfiguration
    /// The edge's name, for the logs of the services.
    var node: String
    /// The timeout of every call to a service. It is shorter than a client's own timeout, so that the client
    /// gets the cause.
    var timeout: Duration = .seconds(5)

    init(
        messaging: [ServiceLinkAddress], presence: [ServiceLinkAddress], storage: [ServiceLinkAddress],
        link: ServiceLinkConfiguration, node: String
    ) {
        self.messaging = messaging
        self.presence = presence
        self.storage = storage
        self.link = link
        self.node = node
    }
}

extension EdgeServiceLinks {
    func messagingClient(_ endOfTurn: EndOfTurn, _ logger: Logger) -> MessagingClient {
        MessagingClient(
            to: messaging, link, node: node, timeout: timeout, endOfTurn: endOfTurn, logger: logger)
    }

    func presenceClient(_ endOfTurn: EndOfTurn, _ logger: Logger) -> PresenceClient {
        PresenceClient(
            toAnyOf: presence, link, node: node, timeout: timeout, endOfTurn: endOfTurn, logger: logger)
    }

    func storageClient(_ endOfTurn: EndOfTurn, _ logger: Logger) -> StorageClient {
        StorageClient(
            to: storage, link, node: node, timeout: timeout, endOfTurn: endOfTurn, logger: logger)
    }
}
