package import Logging
import NIOCore
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls storage. All calls come on the link's event loop.
package protocol StorageCaller: AnyObject {
    /// A shard has a leader. What the previous one knew of this caller is gone.
    ///
    /// - Parameter isWhole: whether all other shards have a leader, too.
    func storageIsUp(_ shard: Int, isWhole: Bool)
    /// What lies in the shard can't be called until it has a leader again, which comes by itself. The latest
    /// pushes may not have arrived, and every wait for a lock there has ended.
    func storageIsDown(_ shard: Int, _ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func storageIsUnreachable(_ reason: ServiceLinkDownReason)
    /// A gateway asks what this event loop has. `answer` may be called later, on the same event loop.
    func storageAsked(_ query: EdgeQuery, _ answer: @escaping (EdgeFindings) -> Void)
    /// An operator shuts a user out or ends a session, or lets the user in again. When a shard comes up, all
    /// bans of its apps arrive, and behind them one without a user. Returns what was found and done.
    func storageBanned(_ ban: Ban, in shard: Int) -> BanReport
}

/// For a caller that has no sessions.
extension StorageCaller {
    package func storageIsUnreachable(_ reason: ServiceLinkDownReason) {}
    package func storageAsked(_ query: EdgeQuery, _ answer: @escaping (EdgeFindings) -> Void) {
        answer(EdgeFindings(subscribers: query.channels.map { _ in SubscriberCount(count: 0) }))
    }
    package func storageBanned(_ ban: Ban, in shard: Int) -> BanReport {
        BanReport(number: ban.number, isAppKnown: false, sessions: 0)
    }
}

/// A caller that has sessions. What its clients ask has a context, the number that the caller gave it,
/// instead of a closure.
package protocol StorageEdge: StorageCaller {
    func historyAppended(_ context: Int, _ outcome: ServiceLinkResult<NoContent>)
    /// The response is valid during the call. If it is a ticket, the answer comes by `storageGranted`.
    ///
    /// - Parameter shard: which has given the ticket. Two shards may give the same one.
    func storageCalled(_ context: Int, in shard: Int, _ outcome: ServiceLinkResult<StorageCallResponse>)
    /// The wait for a lock ended. This never comes before the response that gave the ticket, and is valid
    /// during the call.
    func storageGranted(_ push: LockGrantedPush, in shard: Int)
    /// The response's frames are valid during the call.
    func storageSnapshot(_ context: Int, _ outcome: ServiceLinkResult<SnapshotResponse>)
}

/// Typed calls to storage, each of them to the node that leads the shard where its channel or its app lies.
/// Every call has exactly one outcome.
///
/// Over a file there is one node, and one shard, which it always leads. Nodes that share a database announce
/// which shards they lead, and there is a link for each shard to each of them, so that the next leader can be
/// called at once.
package final class StorageClient {
    package let shards: ShardRouter
    /// The caller is held from the start to the end of the links. A weak reference would make each of its
    /// retains slow.
    private var caller: (any StorageCaller)?
    /// The caller, if it has sessions.
    private var edge: (any StorageEdge)?
    /// Bans from a node that has announced itself while the link to the one before is closing.
    private var earlyBans: [(ban: Ban, link: ServiceLinkClient)] = []

    /// - Parameter timeout: how long every call may take.
    package init(
        to addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        shards = ShardRouter(
            ShardedService(
                name: "storage", leader: StorageMethod.leader, outdated: StorageMethod.outdated,
                nodes: StorageMethod.nodes, mayBeAlone: true), at: addresses, link, node: node,
            timeout: timeout, endOfTurn: endOfTurn, logger: logger)
    }

    package func start(caller: any StorageCaller) {
        self.caller = caller
        edge = caller as? any StorageEdge
        shards.start(self, owner: self)
    }

    /// Whether every shard has a leader.
    package var isUp: Bool { shards.isUp }
    /// Whether a connection to some node is open, whether that node leads or not.
    package var isReached: Bool { shards.isReached }

    /// The number of the shard where the channel lies.
    package func shard(of channel: ChannelKey) -> Int { channel.storageShard(among: shards.all.count) }

    private func connections(for request: some StorageRequesting) -> ShardConnections {
        guard shards.all.count > 1, let channel = request.route.channel else { return shards.all[0] }
        return shards.all[shard(of: channel)]
    }

    // MARK: What is answered by a closure

    package func call<Request: StorageRequesting, Response: ArenaDecodable>(
        _ method: ServiceMethod<Request, Response>, _ request: Request,
        _ done: @escaping (ServiceLinkResult<Response>) -> Void
    ) {
        shards.call(method, request, to: connections(for: request), waiting: request.waiting, done)
    }

    /// Asks every shard for a page of the bans, and answers with what is sure to come first.
    package func bans(_ place: BansRequest, _ done: @escaping (ServiceLinkResult<BansResponse>) -> Void) {
        var pages = BanPages(of: shards.all.count)
        for nodes in shards.all {
            shards.call(StorageMethod.bans, place, to: nodes) { page in
                if let whole = pages.take(page) { done(whole) }
            }
        }
    }

    /// Asks all event loops of all edges. Each has a link for every shard, so one shard is enough. The
    /// findings in the answers are valid during the call of `done`.
    package func askEdges(_ query: EdgeQuery, _ done: @escaping (ServiceLinkResult<EdgeAnswers>) -> Void) {
        query.buffer.withUnsafeReadableBytes { bytes in
            call(StorageMethod.askEdges, EdgeQuestion(query: WireText(bytes)), done)
        }
    }

    // MARK: What clients of an edge ask

    /// Sends a request, and returns why it failed if it was not sent.
    private func refusal<Request, Response>(
        sending method: ServiceMethod<Request, Response>, _ body: Request, to nodes: ShardConnections,
        context: Int
    ) -> ServiceLinkRequestFailure? {
        do throws(RTMError) {
            try nodes.request(method, body, context: context)
            return nil
        } catch {
            return .refused(error)
        }
    }

    package func appendHistory(_ request: AppendHistoryRequest, context: Int) {
        let nodes = connections(for: request)
        if let failure = refusal(sending: StorageMethod.appendHistory, request, to: nodes, context: context) {
            edge?.historyAppended(context, .failure(failure))
        }
    }

    package func call(_ request: CallRequest, context: Int) {
        let nodes = connections(for: request)
        if let failure = refusal(sending: StorageMethod.call, request, to: nodes, context: context) {
            edge?.storageCalled(context, in: nodes.shard, .failure(failure))
        }
    }

    package func snapshot(_ request: SnapshotRequest, context: Int) {
        let nodes = connections(for: request)
        if let failure = refusal(sending: StorageMethod.snapshot, request, to: nodes, context: context) {
            edge?.storageSnapshot(context, .failure(failure))
        }
    }

    /// Reports what happened to a session, to the shard of the channel, or to all of them. Has no answer.
    ///
    /// - Returns: the shards without a leader, to which it was not sent.
    @discardableResult
    package func session(_ push: SessionPush) -> [Int] {
        let concerned = push.channel.map { [shard(of: $0)] } ?? Array(shards.all.indices)
        return concerned.filter { !session(push, to: $0) }
    }

    /// - Returns: whether the shard has a leader. Otherwise it was not sent.
    @discardableResult
    package func session(_ push: SessionPush, to shard: Int) -> Bool {
        shards.all[shard].leader?.push(StorageMethod.session, push) ?? false
    }
}

extension StorageClient: ShardRouterDelegate {
    package func shardIsUp(_ shard: Int, isWhole: Bool) {
        caller?.storageIsUp(shard, isWhole: isWhole)
        let early = earlyBans
        earlyBans = early.filter { $0.link.configuration.shard != shard }
        for (ban, link) in early where link === shards.all[shard].leader { took(ban, from: link) }
    }

    package func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) {
        caller?.storageIsDown(shard, reason)
    }

    package func connectFailed(_ reason: ServiceLinkDownReason) { caller?.storageIsUnreachable(reason) }
}

// MARK: - What comes back

extension StorageClient: ShardedClient {
    package func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        earlyBans.removeAll { $0.link === link }
        shards.linkDown(link, reason)
    }

    package func retired() { (caller, edge) = (nil, nil) }

    package func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        switch method {
        case StorageMethod.appendHistory:
            edge?.historyAppended(context, outcome.result { _ in NoContent() })
        case StorageMethod.call:
            edge?.storageCalled(
                context, in: link.configuration.shard,
                outcome.result { try StorageCallResponse($0, in: shards.arena) })
        case StorageMethod.snapshot:
            edge?.storageSnapshot(context, outcome.result { try SnapshotResponse($0, in: shards.arena) })
        default: break
        }
    }

    /// A node that doesn't lead any more may still grant locks that are another's by now.
    package func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        let nodes = shards.all[link.configuration.shard]
        switch method {
        case StorageMethod.lockGranted:
            guard link === nodes.leader, let push = try? LockGrantedPush(scanning: body) else { return }
            edge?.storageGranted(push, in: nodes.shard)
        case StorageMethod.banned:
            guard let ban = try? Ban(body, in: shards.arena) else { return }
            if link === nodes.leader {
                took(ban, from: link)
            } else if nodes.isNext(link) {
                earlyBans.append((ban, link))
            }
        case StorageMethod.edgeQuestion: asked(body, link)
        default: shards.received(method, body, from: link)
        }
    }

    private func took(_ ban: Ban, from link: ServiceLinkClient) {
        guard let report = caller?.storageBanned(ban, in: link.configuration.shard), ban.number != 0 else {
            return
        }
        link.push(StorageMethod.banReport, report)
    }

    private func asked(_ body: UnsafeRawBufferPointer, _ link: ServiceLinkClient) {
        guard let question = try? EdgeQuestion(body, in: shards.arena) else { return }
        let number = question.number
        // The question lies in the arena, where the query is read next.
        let bytes = ByteBuffer(bytes: question.query.bytes)
        let read = bytes.withUnsafeReadableBytes { try? EdgeQuery($0, in: shards.arena) }
        guard let query = read else { return }
        caller?.storageAsked(query) { findings in
            findings.buffer.withUnsafeReadableBytes { bytes in
                _ = link.push(
                    StorageMethod.edgeAnswer, EdgeAnswer(number: number, findings: WireText(bytes)))
            }
        }
    }
}
