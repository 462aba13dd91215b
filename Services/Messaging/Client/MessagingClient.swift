package import Logging
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls messaging and receives from it. All calls come on the link's event loop. A context is the number
/// that the caller gave a call.
package protocol MessagingCaller: ShardRouterDelegate {
    /// Entries of an attached log. Between attachment and detachment each entry comes once, in order. The
    /// delivery is valid during the call.
    func messagingDelivered(_ delivery: DeliveryPush)
    /// Entries of an attached log are lost. Those that are left come next.
    func messagingSkipped(_ skip: SkipPush)
    /// An exclusive interest has lost its place to a newer one, and nothing more comes for it.
    ///
    /// - Parameter owner: the instance that holds it now; 0 if that isn't known.
    func messagingSuperseded(_ interest: UInt64, by owner: UInt64)
    /// - Parameter shard: in which the channel is.
    func messagingAttached(
        _ interest: UInt64, in shard: Int, _ outcome: Result<AttachResponse, ServiceLinkRequestFailure>)
    /// - Parameter shard: in which the channel is.
    func messagingPublished(
        _ context: Int, in shard: Int, _ outcome: Result<PublishResponse, ServiceLinkRequestFailure>)
    func messagingPublished(
        _ context: Int, _ outcome: Result<BackendPublishResponse, ServiceLinkRequestFailure>)
    func messagingListed(_ context: Int, _ outcome: Result<ListResponse, ServiceLinkRequestFailure>)
    func messagingExplained(_ context: Int, _ outcome: Result<ExplainResponse, ServiceLinkRequestFailure>)
    /// The response's frames are valid during the call.
    func messagingRead(_ context: Int, _ outcome: Result<ReadResponse, ServiceLinkRequestFailure>)
}

extension MessagingCaller {
    /// For a caller that is no gateway.
    package func messagingPublished(
        _ context: Int, _ outcome: Result<BackendPublishResponse, ServiceLinkRequestFailure>
    ) {}
    package func messagingListed(_ context: Int, _ outcome: Result<ListResponse, ServiceLinkRequestFailure>) {
    }
    package func messagingExplained(
        _ context: Int, _ outcome: Result<ExplainResponse, ServiceLinkRequestFailure>
    ) {}
}

/// Typed calls to the messaging nodes that lead. Every call has exactly one outcome.
package final class MessagingClient {
    package let shards: ShardRouter
    /// The caller is held from the start to the end of the links. A weak reference would make each of its
    /// retains slow.
    private var caller: (any MessagingCaller)?

    /// - Parameter timeout: how long every call may take.
    package init(
        to addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        shards = ShardRouter(
            .messaging, at: addresses, link, node: node, timeout: timeout, endOfTurn: endOfTurn,
            logger: logger)
    }

    package var addresses: String { shards.addressList }
    /// How long this channel could not be called; nil if it can.
    package func outage(of channel: ChannelKey) -> Duration? { shards.connections(to: channel).outage }
    package func outage(of channel: ChannelView) -> Duration? { shards.connections(to: channel).outage }

    /// The number of the shard that keeps the channel.
    package func shard(of channel: ChannelView) -> Int { shards.connections(to: channel).shard }

    package func start(caller: any MessagingCaller) {
        self.caller = caller
        shards.start(self, owner: caller)
    }

    package func shutdown() { shards.shutdown() }

    package func attach(_ request: AttachRequest) {
        let (interest, links) = (request.interest, shards.connections(to: request.channel))
        do throws(RTMError) {
            try links.request(MessagingMethod.attach, request, context: Int(bitPattern: UInt(interest)))
        } catch {
            caller?.messagingAttached(interest, in: links.shard, .failure(.refused(error)))
        }
    }

    /// Has no answer. If the link is down, the attachment is gone with it.
    package func detach(_ push: DetachPush, of channel: ChannelKey) {
        shards.connections(to: channel).leader?.push(MessagingMethod.detach, push)
    }

    package func publish(_ request: PublishRequest, context: Int) {
        let channel = ChannelView(
            appID: request.appID, type: request.channelType ?? .none, name: request.channel)
        let links = shards.connections(to: channel)
        do throws(RTMError) {
            try links.request(MessagingMethod.publish, request, context: context)
        } catch {
            caller?.messagingPublished(context, in: links.shard, .failure(.refused(error)))
        }
    }

    package func publish(_ request: BackendPublishRequest, context: Int) {
        let publish = request.publish
        let channel = ChannelView(
            appID: publish.appID, type: publish.channelType ?? .none, name: publish.channel)
        do throws(RTMError) {
            let links = shards.connections(to: channel)
            try links.request(MessagingMethod.backendPublish, request, context: context)
        } catch {
            caller?.messagingPublished(context, .failure(.refused(error)))
        }
    }

    /// Asks one shard for what it has of an app's channels.
    package func list(_ request: ListRequest, in shard: Int, context: Int) {
        do throws(RTMError) {
            try shards.all[shard].request(MessagingMethod.list, request, context: context)
        } catch {
            caller?.messagingListed(context, .failure(.refused(error)))
        }
    }

    package func explain(_ request: ExplainRequest, context: Int) {
        do throws(RTMError) {
            let links = shards.connections(to: request.channel)
            try links.request(MessagingMethod.explain, request, context: context)
        } catch {
            caller?.messagingExplained(context, .failure(.refused(error)))
        }
    }

    /// Where the node is reached that leads the channel's shard; nil while none does.
    package func leader(of channel: ChannelKey) -> ServiceLinkAddress? {
        shards.connections(to: channel).leader?.address
    }

    package func read(_ request: ReadRequest, context: Int) {
        do throws(RTMError) {
            let links = shards.connections(to: request.channel)
            try links.request(MessagingMethod.read, request, context: context)
        } catch {
            caller?.messagingRead(context, .failure(.refused(error)))
        }
    }
}

// MARK: - What comes back

extension MessagingClient: ServiceLinkClientDelegate {
    package func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) { shards.linkUp(link, peer) }

    package func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        shards.linkDown(link, reason)
    }

    package func linkUnreachable(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        shards.linkUnreachable(link, reason)
    }

    package func linkRetired(_ link: ServiceLinkClient) {
        if shards.retired(link) { caller = nil }
    }

    package func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        let shard = link.configuration.shard
        switch method {
        case MessagingMethod.attach:
            let interest = UInt64(UInt(bitPattern: context))
            caller?.messagingAttached(
                interest, in: shard, outcome.result { try AttachResponse($0, in: shards.arena) })
        case MessagingMethod.publish:
            caller?.messagingPublished(
                context, in: shard, outcome.result { try PublishResponse(scanning: $0) })
        case MessagingMethod.backendPublish:
            caller?.messagingPublished(
                context, outcome.result { try BackendPublishResponse($0, in: shards.arena) })
        case MessagingMethod.list:
            caller?.messagingListed(context, outcome.result { try ListResponse($0, in: shards.arena) })
        case MessagingMethod.explain:
            caller?.messagingExplained(context, outcome.result { try ExplainResponse($0, in: shards.arena) })
        case MessagingMethod.read:
            caller?.messagingRead(context, outcome.result { try ReadResponse($0, in: shards.arena) })
        default: break
        }
    }

    package func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        switch method {
        case MessagingMethod.delivery:
            guard isLeader(link), let delivery = try? DeliveryPush(scanning: body) else { return }
            caller?.messagingDelivered(delivery)
        case MessagingMethod.skip:
            guard isLeader(link), let skip = try? SkipPush(body, in: shards.arena) else { return }
            caller?.messagingSkipped(skip)
        case MessagingMethod.superseded:
            guard isLeader(link), let superseded = try? SupersededPush(body, in: shards.arena) else { return }
            caller?.messagingSuperseded(superseded.interest, by: superseded.owner)
        case MessagingMethod.leader:
            shards.receivedLeader(body, from: link)
        case MessagingMethod.nodes:
            shards.receivedNodes(body)
        default:
            break
        }
    }

    /// What a node says that doesn't lead any more doesn't count.
    private func isLeader(_ link: ServiceLinkClient) -> Bool {
        link === shards.all[link.configuration.shard].leader
    }
}
