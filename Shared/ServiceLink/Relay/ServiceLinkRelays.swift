/// To which nodes a service relays its callers, and how many of them.
package struct ServiceLinkRelays: Sendable {
    /// What happens to relays, for metrics.
    package enum Event: Sendable {
        case opened, ended
        case refused
        case copied(bytes: Int)
    }

    /// Limit: callers that are relayed at the same time. One more is refused.
    package var countMax = 1_024
    /// How long the connection to the other node may take.
    package var connectTimeout: Duration = .seconds(1)
    /// The place of the node that has this address in the list of nodes; nil if none has it.
    let address: @Sendable (String) -> ServiceLinkAddress?
    let observe: @Sendable (Event) -> Void

    /// - Parameters:
    ///   - address: is called on a link's event loop.
    ///   - observe: is called for each event.
    package init(
        to address: @escaping @Sendable (String) -> ServiceLinkAddress?,
        observe: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.address = address
        self.observe = observe
    }
}
