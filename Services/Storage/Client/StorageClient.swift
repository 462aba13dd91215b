package import Logging
import NIOCore
package import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls storage and gets its answers. All calls come on the link's event loop. A context is the number
/// that the caller gave a call.
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
    func historyAppended(_ context: Int, _ outcome: Result<Void, ServiceLinkRequestFailure>)
    /// The response is valid during the call. If it is a ticket, the answer comes by `storageGranted`.
    ///
    /// - Parameter shard: which has given the ticket. Two shards may give the same one.
    func storageCalled(
        _ context: Int, in shard: Int, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>)
    /// The wait for a lock ended. This never comes before the response that gave the ticket, and is valid
    /// during the call.
    func storageGranted(_ push: LockGrantedPush, in shard: Int)
    /// The response's frames are valid during the call.
    func storageSnapshot(_ context: Int, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>)
    func storageCarriedOut(_ context: Int, _ outcome: Result<BanOutcome, ServiceLinkRequestFailure>)
    func storageListedBans(_ context: Int, _ outcome: Result<BansResponse, ServiceLinkRequestFailure>)
    /// The findings in the answers are valid during the call.
    func storageAskedEdges(_ context: Int, _ outcome: Result<EdgeAnswers, ServiceLinkRequestFailure>)
    func storagePurgedHistory(
        _ context: Int, _ outcome: Result<PurgeHistoryResponse, ServiceLinkRequestFailure>)
    /// A gateway asks what this event loop has. `answer` may be called later, on the same event loop.
    func storageAsked(_ query: EdgeQuery, _ answer: @escaping (EdgeFindings) -> Void)
    func storageReadEvents(_ context: Int, _ outcome: Result<EventsResponse, ServiceLinkRequestFailure>)
    func storageClaimedReader(_ context: Int, _ outcome: Result<ReaderClaimed, ServiceLinkRequestFailure>)
    func storageKeptReader(_ context: Int, _ outcome: Result<ReaderKept, ServiceLinkRequestFailure>)
    func storageMovedReader(_ context: Int, _ outcome: Result<ReaderMoved, ServiceLinkRequestFailure>)
    func storageListedReaders(_ context: Int, _ outcome: Result<ReadersResponse, ServiceLinkRequestFailure>)
    func storageListedDeadLetters(
        _ context: Int, _ outcome: Result<DeadLettersResponse, ServiceLinkRequestFailure>)
    func storageKeptAudit(_ context: Int, _ outcome: Result<Void, ServiceLinkRequestFailure>)
    func storageListedAudit(_ context: Int, _ outcome: Result<AuditResponse, ServiceLinkRequestFailure>)
    /// An operator shuts a user out or ends a session, or lets the user in again. When a shard comes up, all
    /// bans of its apps arrive, and behind them one without a user. Returns what was found and done.
    func storageBanned(_ ban: Ban, in shard: Int) -> BanReport
}

extension StorageCaller {
    package func storageIsUnreachable(_ reason: ServiceLinkDownReason) {}
    /// For a caller that bans nobody.
    package func storageCarriedOut(
        _ context: Int, _ outcome: Result<BanOutcome, ServiceLinkRequestFailure>
    ) {}
    package func storageListedBans(
        _ context: Int, _ outcome: Result<BansResponse, ServiceLinkRequestFailure>
    ) {}
    package func storageAskedEdges(
        _ context: Int, _ outcome: Result<EdgeAnswers, ServiceLinkRequestFailure>
    ) {}
    package func storagePurgedHistory(
        _ context: Int, _ outcome: Result<PurgeHistoryResponse, ServiceLinkRequestFailure>
    ) {}
    /// For a caller that has no sessions.
    package func storageAsked(_ query: EdgeQuery, _ answer: @escaping (EdgeFindings) -> Void) {
        answer(EdgeFindings(subscribers: query.channels.map { _ in SubscriberCount(count: 0) }))
    }
    package func storageBanned(_ ban: Ban, in shard: Int) -> BanReport {
        BanReport(number: ban.number, isAppKnown: false, sessions: 0)
    }
    /// For a caller that keeps no audit.
    package func storageKeptAudit(_ context: Int, _ outcome: Result<Void, ServiceLinkRequestFailure>) {}
    package func storageListedAudit(
        _ context: Int, _ outcome: Result<AuditResponse, ServiceLinkRequestFailure>
    ) {}
    /// For a caller that reads no events.
    package func storageReadEvents(
        _ context: Int, _ outcome: Result<EventsResponse, ServiceLinkRequestFailure>
    ) {}
    package func storageClaimedReader(
        _ context: Int, _ outcome: Result<ReaderClaimed, ServiceLinkRequestFailure>
    ) {}
    package func storageKeptReader(
        _ context: Int, _ outcome: Result<ReaderKept, ServiceLinkRequestFailure>
    ) {}
    package func storageMovedReader(
        _ context: Int, _ outcome: Result<ReaderMoved, ServiceLinkRequestFailure>
    ) {}
    package func storageListedReaders(
        _ context: Int, _ outcome: Result<ReadersResponse, ServiceLinkRequestFailure>
    ) {}
    package func storageListedDeadLetters(
        _ context: Int, _ outcome: Result<DeadLettersResponse, ServiceLinkRequestFailure>
    ) {}
}

/// Typed calls to storage, each of them to the node that leads the shard where its channel or its app lies.
/// Every call has exactly one outcome.
///
/// Over a file there is one node, and one shard, which it always leads. Nodes that share a database announce
/// which shards they lead, and there is a link for each shard to each of them, so that the next leader can be
/// called at once.
package final class StorageClient {
    private let shards: ShardRouter
    /// The caller is held from the start to the end of the links. A weak reference would make each of its
    /// retains slow.
    private var caller: (any StorageCaller)?
    /// Bans from a node that has announced itself while the link to the one before is closing.
    private var earlyBans: [(ban: Ban, link: ServiceLinkClient)] = []
    /// The pages of bans that are being put together, by the context of the call.
    private var banPages: [Int: BanPages] = [:]

    /// - Parameter timeout: how long every call may take.
    package init(
        to addresses: [ServiceLinkAddress], _ link: ServiceLinkConfiguration, node: String,
        timeout: Duration, endOfTurn: EndOfTurn, logger: Logger
    ) {
        shards = ShardRouter(
            ShardedService(name: "storage", outdated: StorageMethod.outdated), at: addresses, link,
            node: node, timeout: timeout, endOfTurn: endOfTurn, logger: logger)
    }

    package func start(caller: any StorageCaller) {
        self.caller = caller
        shards.start(self, owner: self)
    }

    package func shutdown() { shards.shutdown() }

    /// Whether every shard has a leader.
    package var isUp: Bool { shards.isUp }
    /// Whether a connection to some node is open, whether that node leads or not.
    package var isReached: Bool { shards.isReached }

    /// The number of the shard where the channel lies.
    package func shard(of channel: ChannelKey) -> Int { channel.storageShard(among: shards.all.count) }

    private func connections(to channel: ChannelKey) -> ShardConnections { shards.all[shard(of: channel)] }

    private func connections(toApp id: String) -> ShardConnections { connections(to: .app(id)) }

    /// A request whose channel can't be read is refused by every shard.
    private func connections(to request: CallRequest) -> ShardConnections {
        guard shards.all.count > 1, let channel = request.storedChannel else { return shards.all[0] }
        return connections(to: channel)
    }

    /// Sends a call, and returns why it failed if it was not sent.
    private func refusal(
        sending method: UInt32, _ body: some WireEncodable, to nodes: ShardConnections, context: Int
    ) -> ServiceLinkRequestFailure? {
        do throws(RTMError) {
            try nodes.request(method, body, context: context)
            return nil
        } catch {
            return .refused(error)
        }
    }

    package func appendHistory(_ request: AppendHistoryRequest, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.appendHistory, request, to: connections(to: request.channel),
            context: context)
        {
            caller?.historyAppended(context, .failure(failure))
        }
    }

    package func call(_ request: CallRequest, context: Int) {
        let nodes = connections(to: request)
        if let failure = refusal(sending: StorageMethod.call, request, to: nodes, context: context) {
            caller?.storageCalled(context, in: nodes.shard, .failure(failure))
        }
    }

    package func snapshot(_ request: SnapshotRequest, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.snapshot, request, to: connections(to: request.channel), context: context)
        {
            caller?.storageSnapshot(context, .failure(failure))
        }
    }

    /// Shuts a user out, ends the user's sessions, or lets the user in again, as the ban says.
    package func ban(_ ban: Ban, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.ban, ban, to: connections(toApp: ban.appID), context: context)
        {
            caller?.storageCarriedOut(context, .failure(failure))
        }
    }

    /// Asks every shard for a page, and answers with what is sure to come first.
    package func bans(_ place: BansRequest, context: Int) {
        banPages[context] = BanPages(of: shards.all.count)
        for nodes in shards.all {
            if let failure = refusal(sending: StorageMethod.bans, place, to: nodes, context: context) {
                listed(context, .failure(failure))
            }
        }
    }

    private func listed(_ context: Int, _ outcome: Result<BansResponse, ServiceLinkRequestFailure>) {
        guard let whole = banPages[context]?.take(outcome) else { return }
        banPages[context] = nil
        caller?.storageListedBans(context, whole)
    }

    /// Asks all event loops of all edges. Each has a link for every shard, so one shard is enough.
    package func askEdges(_ query: EdgeQuery, context: Int) {
        query.buffer.withUnsafeReadableBytes { bytes in
            let question = EdgeQuestion(query: WireText(bytes))
            if let failure = refusal(
                sending: StorageMethod.askEdges, question, to: shards.all[0], context: context)
            {
                caller?.storageAskedEdges(context, .failure(failure))
            }
        }
    }

    package func purgeHistory(_ request: PurgeHistoryRequest, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.purgeHistory, request, to: connections(to: request.channel),
            context: context)
        {
            caller?.storagePurgedHistory(context, .failure(failure))
        }
    }

    /// Waits for as long as the request says, and then for as long as every call.
    package func events(_ request: EventsRequest, context: Int) {
        let nodes = connections(toApp: request.appID)
        do throws(RTMError) {
            try nodes.request(
                StorageMethod.events, request, timeout: nodes.timeout + request.wait, context: context)
        } catch {
            caller?.storageReadEvents(context, .failure(.refused(error)))
        }
    }

    package func claimReader(_ request: ClaimReader, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.claimReader, request, to: connections(toApp: request.appID),
            context: context)
        {
            caller?.storageClaimedReader(context, .failure(failure))
        }
    }

    package func keepReader(_ request: KeepReader, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.keepReader, request, to: connections(toApp: request.appID),
            context: context)
        {
            caller?.storageKeptReader(context, .failure(failure))
        }
    }

    package func moveReader(_ request: MoveReader, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.moveReader, request, to: connections(toApp: request.appID),
            context: context)
        {
            caller?.storageMovedReader(context, .failure(failure))
        }
    }

    package func readers(_ request: ReadersRequest, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.readers, request, to: connections(toApp: request.appID), context: context)
        {
            caller?.storageListedReaders(context, .failure(failure))
        }
    }

    package func deadLetters(_ request: DeadLettersRequest, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.deadLetters, request, to: connections(toApp: request.appID),
            context: context)
        {
            caller?.storageListedDeadLetters(context, .failure(failure))
        }
    }

    package func keepAudit(_ request: KeepAudit, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.keepAudit, request, to: connections(toApp: request.appID), context: context
        ) {
            caller?.storageKeptAudit(context, .failure(failure))
        }
    }

    package func audit(_ request: AuditRequest, context: Int) {
        if let failure = refusal(
            sending: StorageMethod.audit, request, to: connections(toApp: request.appID), context: context)
        {
            caller?.storageListedAudit(context, .failure(failure))
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

extension StorageClient: ServiceLinkClientDelegate {
    package func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) {
        shards.linkUp(link, peer)
        if !peer.announcesLeader { shards.foundAlone(link) }
    }

    package func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        earlyBans.removeAll { $0.link === link }
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
        switch method {
        case StorageMethod.appendHistory:
            caller?.historyAppended(context, outcome.result { _ in })
        case StorageMethod.call:
            caller?.storageCalled(
                context, in: link.configuration.shard,
                outcome.result { try StorageCallResponse($0, in: shards.arena) })
        case StorageMethod.snapshot:
            caller?.storageSnapshot(context, outcome.result { try SnapshotResponse($0, in: shards.arena) })
        case StorageMethod.ban:
            caller?.storageCarriedOut(context, outcome.result { try BanOutcome($0, in: shards.arena) })
        case StorageMethod.bans:
            listed(context, outcome.result { try BansResponse($0, in: shards.arena) })
        case StorageMethod.askEdges:
            caller?.storageAskedEdges(context, outcome.result { try EdgeAnswers($0, in: shards.arena) })
        case StorageMethod.purgeHistory:
            caller?.storagePurgedHistory(
                context, outcome.result { try PurgeHistoryResponse($0, in: shards.arena) })
        case StorageMethod.keepAudit: caller?.storageKeptAudit(context, outcome.result { _ in })
        case StorageMethod.audit:
            caller?.storageListedAudit(context, outcome.result { try AuditResponse($0, in: shards.arena) })
        case StorageMethod.events...StorageMethod.deadLetters: eventsResponse(to: method, context, outcome)
        default: break
        }
    }

    private func eventsResponse(to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome) {
        switch method {
        case StorageMethod.events:
            caller?.storageReadEvents(context, outcome.result { try EventsResponse($0, in: shards.arena) })
        case StorageMethod.claimReader:
            caller?.storageClaimedReader(context, outcome.result { try ReaderClaimed($0, in: shards.arena) })
        case StorageMethod.keepReader:
            caller?.storageKeptReader(context, outcome.result { try ReaderKept($0, in: shards.arena) })
        case StorageMethod.moveReader:
            caller?.storageMovedReader(context, outcome.result { try ReaderMoved($0, in: shards.arena) })
        case StorageMethod.readers:
            caller?.storageListedReaders(
                context, outcome.result { try ReadersResponse($0, in: shards.arena) })
        default:
            caller?.storageListedDeadLetters(
                context, outcome.result { try DeadLettersResponse($0, in: shards.arena) })
        }
    }

    /// A node that doesn't lead any more may still grant locks that are another's by now.
    package func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        let nodes = shards.all[link.configuration.shard]
        switch method {
        case StorageMethod.lockGranted:
            guard link === nodes.leader, let push = try? LockGrantedPush(scanning: body) else { return }
            caller?.storageGranted(push, in: nodes.shard)
        case StorageMethod.banned:
            guard let ban = try? Ban(body, in: shards.arena) else { return }
            if link === nodes.leader {
                took(ban, from: link)
            } else if nodes.isNext(link) {
                earlyBans.append((ban, link))
            }
        case StorageMethod.edgeQuestion: asked(body, link)
        case StorageMethod.leader: shards.receivedLeader(body, from: link)
        case StorageMethod.nodes: shards.receivedNodes(body)
        default: break
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
