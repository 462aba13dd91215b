package import Logging
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// A caller of messaging that has sessions. All calls come on the link's event loop. What it asks for every
/// message has a context, the number that the caller gave it, instead of a closure.
package protocol MessagingEdge: ShardRouterDelegate {
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
        _ interest: UInt64, in shard: Int, _ outcome: ServiceLinkResult<AttachResponse>)
    /// - Parameter shard: in which the channel is.
    func messagingPublished(
        _ context: Int, in shard: Int, _ outcome: ServiceLinkResult<PublishResponse>)
    /// The response's frames are valid during the call.
    func messagingRead(_ context: Int, _ outcome: ServiceLinkResult<ReadResponse>)
}

/// Typed calls to the messaging nodes that lead. Every call has exactly one outcome.
package final class MessagingClient {
    package let shards: ShardRouter
    /// The caller, if it has sessions. It is held from the start to the end of the links: a weak reference
    /// would make each of its retains slow.
    private var edge: (any MessagingEdge)?

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

    package func start(caller: any ShardRouterDelegate) {
        edge = caller as? any MessagingEdge
        shards.start(self, owner: caller)
    }

    package func attach(_ request: AttachRequest) {
        let (interest, links) = (request.interest, shards.connections(to: request.channel))
        do throws(RTMError) {
            try links.request(MessagingMethod.attach, request, context: Int(bitPattern: UInt(interest)))
        } catch {
            edge?.messagingAttached(interest, in: links.shard, .failure(.refused(error)))
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
            edge?.messagingPublished(context, in: links.shard, .failure(.refused(error)))
        }
    }

    /// Calls the shard that keeps the channel which the request names.
    package func call<Request: ChannelRequest, Response: ArenaDecodable>(
        _ method: ServiceMethod<Request, Response>, _ request: Request,
        _ done: @escaping (ServiceLinkResult<Response>) -> Void
    ) {
        shards.call(method, request, to: request.withChannel { shards.connections(to: $0) }, done)
    }

    /// Asks one shard for what it has of an app's channels.
    package func list(
        _ request: ListRequest, in shard: Int, _ done: @escaping (ServiceLinkResult<ListResponse>) -> Void
    ) {
        shards.call(MessagingMethod.list, request, to: shards.all[shard], done)
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
            edge?.messagingRead(context, .failure(.refused(error)))
        }
    }
}

// MARK: - What comes back

extension MessagingClient: ShardedClient {
    package func retired() { edge = nil }

    package func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        let shard = link.configuration.shard
        switch method {
        case MessagingMethod.attach:
            let interest = UInt64(UInt(bitPattern: context))
            edge?.messagingAttached(
                interest, in: shard, outcome.result { try AttachResponse($0, in: shards.arena) })
        case MessagingMethod.publish:
            edge?.messagingPublished(
                context, in: shard, outcome.result { try PublishResponse(scanning: $0) })
        case MessagingMethod.read:
            edge?.messagingRead(context, outcome.result { try ReadResponse($0, in: shards.arena) })
        default: break
        }
    }

    package func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        switch method {
        case MessagingMethod.delivery:
            guard isLeader(link), let delivery = try? DeliveryPush(scanning: body) else { return }
            edge?.messagingDelivered(delivery)
        case MessagingMethod.skip:
            guard isLeader(link), let skip = try? SkipPush(body, in: shards.arena) else { return }
            edge?.messagingSkipped(skip)
        case MessagingMethod.superseded:
            guard isLeader(link), let superseded = try? SupersededPush(body, in: shards.arena) else { return }
            edge?.messagingSuperseded(superseded.interest, by: superseded.owner)
        default: shards.received(method, body, from: link)
        }
    }

    /// What a node says that doesn't lead any more doesn't count.
    private func isLeader(_ link: ServiceLinkClient) -> Bool {
        link === shards.all[link.configuration.shard].leader
    }
}

/// A request to the shard that keeps one channel.
package protocol ChannelRequest: WireEncodable {
    func withChannel<Value>(_ body: (ChannelView) -> Value) -> Value
}

extension BackendPublishRequest: ChannelRequest {
    package func withChannel<Value>(_ body: (ChannelView) -> Value) -> Value {
        body(ChannelView(appID: publish.appID, type: publish.channelType ?? .none, name: publish.channel))
    }
}

extension ExplainRequest: ChannelRequest {
    package func withChannel<Value>(_ body: (ChannelView) -> Value) -> Value { channel.withView(body) }
}
