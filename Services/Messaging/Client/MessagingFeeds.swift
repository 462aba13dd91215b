package import Logging
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who reads the entries of whole apps. All calls come on the link's event loop.
package protocol FeedCaller: ShardRouterDelegate {
    /// The response's frames are valid during the call.
    func messagingFed(_ context: Int, _ outcome: ServiceLinkResult<FeedResponse>)
}

/// Reads the entries of all channels of apps, from each shard of messaging. Storage uses it to keep them as
/// the apps' events. Every read has exactly one outcome, which never comes from within the call.
package final class MessagingFeeds {
    package let shards: ShardRouter
    private var caller: (any FeedCaller)?

    /// - Parameters:
    ///   - node: the name of this process, for messaging's log.
    ///   - timeout: how long every read may take; longer than a read waits for entries.
    package init(
        to addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        shards = ShardRouter(
            .messaging, at: addresses, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    /// How many shards there are, as far as it is known.
    package var shardCount: Int { shards.all.count }
    package func isUp(_ shard: Int) -> Bool { shard < shards.all.count && shards.all[shard].isUp }

    package func start(caller: any FeedCaller) {
        self.caller = caller
        shards.start(self, owner: caller)
    }

    /// Throws, without having sent anything, when no node leads the shard or too many requests are open.
    package func read(_ request: FeedRequest, of shard: Int, context: Int) throws(RTMError) {
        try shards.all[shard].request(MessagingMethod.feed, request, context: context)
    }
}

extension MessagingFeeds: ShardedClient {
    package func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        caller?.messagingFed(context, outcome.result { try FeedResponse($0, in: shards.arena) })
    }

    package func retired() { caller = nil }
}
