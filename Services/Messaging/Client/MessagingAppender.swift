package import Logging
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// A service whose events become entries of channel logs. All calls come on the link's event loop.
///
/// When messaging is down, open appends have been answered before. They may have been done, so the caller
/// repeats them with the same source and sequence.
package protocol AppendCaller: ShardRouterDelegate {
    /// - Parameter context: what the append was made with.
    func messagingAppended(_ context: Int, _ outcome: ServiceLinkResult<AppendResponse>)
}

/// Appends events to the channel logs of the messaging node that leads. Every append has exactly one outcome,
/// which never comes from within the call.
///
/// Presence and storage use it; edges publish and attach with `MessagingClient`.
package final class MessagingAppender {
    package let shards: ShardRouter
    private var caller: (any AppendCaller)?

    /// - Parameters:
    ///   - node: the name of this process, for messaging's log.
    ///   - timeout: how long every append may take.
    package init(
        to addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        shards = ShardRouter(
            .messaging, at: addresses, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    /// Whether events of every channel can be appended.
    package var isUp: Bool { shards.isUp }
    /// Whether events of some channels can be appended.
    package var isPartlyUp: Bool { shards.isPartlyUp }
    package func isUp(_ channel: ChannelKey) -> Bool { shards.isUp(channel) }
    package var addresses: String { shards.addressList }
    /// How many appends have no answer yet.
    package var openAppends: Int { shards.openRequests }

    package func start(caller: any AppendCaller) {
        self.caller = caller
        shards.start(self, owner: caller)
    }

    /// Throws, without having sent anything, when no node leads the channel's shard or too many requests are
    /// open.
    package func append(_ request: AppendRequest, context: Int) throws(RTMError) {
        try shards.connections(to: request.channel).request(MessagingMethod.append, request, context: context)
    }
}

extension MessagingAppender: ShardedClient {
    package func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        caller?.messagingAppended(context, outcome.result { try AppendResponse($0, in: shards.arena) })
    }

    package func retired() { caller = nil }
}
