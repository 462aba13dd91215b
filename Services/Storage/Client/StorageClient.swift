package import Logging
import NIOCore
import RTMModel
package import RTMServiceLink
package import RTMWire

/// Who calls storage and gets its answers. All calls come on the link's event loop. A context is the number
/// that the caller gave a call.
package protocol StorageCaller: AnyObject {
    func storageIsUp()
    /// Storage can't be called until the link comes back, which it does by itself. The latest pushes may not
    /// have arrived, and every wait for a lock has ended.
    func storageIsDown(_ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func storageIsUnreachable(_ reason: ServiceLinkDownReason)
    func historyAppended(_ context: Int, _ outcome: Result<Void, ServiceLinkRequestFailure>)
    /// The response is valid during the call. If it is a ticket, the answer comes by `storageGranted`.
    func storageCalled(_ context: Int, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>)
    /// The wait for a lock ended. This never comes before the response that gave the ticket, and is valid
    /// during the call.
    func storageGranted(_ push: LockGrantedPush)
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
    /// An operator shuts a user out or ends a session, or lets the user in again. When the link comes up,
    /// all bans arrive, and behind them one without a user. Returns what was found and done.
    func storageBanned(_ ban: Ban) -> BanReport
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
    package func storageBanned(_ ban: Ban) -> BanReport {
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

/// Typed calls to the storage node that leads. Every call has exactly one outcome.
///
/// Over a file there is one node, which always leads. Nodes that share a database announce which of them
/// leads, and there is a link to each of them, so that the next one can be called at once.
package final class StorageClient {
    private let shards: ShardRouter
    /// The caller is held from the start to the end of the links. A weak reference would make each of its
    /// retains slow.
    private var caller: (any StorageCaller)?
    /// Bans from a node that has announced itself while the link to the one before is closing.
    private var earlyBans: [(ban: Ban, link: ServiceLinkClient)] = []

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

    private var nodes: ShardConnections { shards.all[0] }

    /// Sends a call, and returns why it failed if it was not sent.
    private func refusal(
        sending method: UInt32, _ body: some WireEncodable, context: Int
    ) -> ServiceLinkRequestFailure? {
        do throws(RTMError) {
            try nodes.request(method, body, context: context)
            return nil
        } catch {
            return .refused(error)
        }
    }

    package func appendHistory(_ request: AppendHistoryRequest, context: Int) {
        if let failure = refusal(sending: StorageMethod.appendHistory, request, context: context) {
            caller?.historyAppended(context, .failure(failure))
        }
    }

    package func call(_ request: CallRequest, context: Int) {
        if let failure = refusal(sending: StorageMethod.call, request, context: context) {
            caller?.storageCalled(context, .failure(failure))
        }
    }

    package func snapshot(_ request: SnapshotRequest, context: Int) {
        if let failure = refusal(sending: StorageMethod.snapshot, request, context: context) {
            caller?.storageSnapshot(context, .failure(failure))
        }
    }

    /// Shuts a user out, ends the user's sessions, or lets the user in again, as the ban says.
    package func ban(_ ban: Ban, context: Int) {
        if let failure = refusal(sending: StorageMethod.ban, ban, context: context) {
            caller?.storageCarriedOut(context, .failure(failure))
        }
    }

    package func bans(_ place: BansRequest, context: Int) {
        if let failure = refusal(sending: StorageMethod.bans, place, context: context) {
            caller?.storageListedBans(context, .failure(failure))
        }
    }

    /// Asks all event loops of all edges.
    package func askEdges(_ query: EdgeQuery, context: Int) {
        query.buffer.withUnsafeReadableBytes { bytes in
            let question = EdgeQuestion(query: WireText(bytes))
            if let failure = refusal(sending: StorageMethod.askEdges, question, context: context) {
                caller?.storageAskedEdges(context, .failure(failure))
            }
        }
    }

    package func purgeHistory(_ request: PurgeHistoryRequest, context: Int) {
        if let failure = refusal(sending: StorageMethod.purgeHistory, request, context: context) {
            caller?.storagePurgedHistory(context, .failure(failure))
        }
    }

    /// Waits for as long as the request says, and then for as long as every call.
    package func events(_ request: EventsRequest, context: Int) {
        do throws(RTMError) {
            try nodes.request(
                StorageMethod.events, request, timeout: nodes.timeout + request.wait, context: context)
        } catch {
            caller?.storageReadEvents(context, .failure(.refused(error)))
        }
    }

    package func claimReader(_ request: ClaimReader, context: Int) {
        if let failure = refusal(sending: StorageMethod.claimReader, request, context: context) {
            caller?.storageClaimedReader(context, .failure(failure))
        }
    }

    package func keepReader(_ request: KeepReader, context: Int) {
        if let failure = refusal(sending: StorageMethod.keepReader, request, context: context) {
            caller?.storageKeptReader(context, .failure(failure))
        }
    }

    package func moveReader(_ request: MoveReader, context: Int) {
        if let failure = refusal(sending: StorageMethod.moveReader, request, context: context) {
            caller?.storageMovedReader(context, .failure(failure))
        }
    }

    package func readers(_ request: ReadersRequest, context: Int) {
        if let failure = refusal(sending: StorageMethod.readers, request, context: context) {
            caller?.storageListedReaders(context, .failure(failure))
        }
    }

    package func deadLetters(_ request: DeadLettersRequest, context: Int) {
        if let failure = refusal(sending: StorageMethod.deadLetters, request, context: context) {
            caller?.storageListedDeadLetters(context, .failure(failure))
        }
    }

    package func keepAudit(_ request: KeepAudit, context: Int) {
        if let failure = refusal(sending: StorageMethod.keepAudit, request, context: context) {
            caller?.storageKeptAudit(context, .failure(failure))
        }
    }

    package func audit(_ request: AuditRequest, context: Int) {
        if let failure = refusal(sending: StorageMethod.audit, request, context: context) {
            caller?.storageListedAudit(context, .failure(failure))
        }
    }

    /// Has no answer. False if no node leads: then it was not sent.
    @discardableResult
    package func session(_ push: SessionPush) -> Bool {
        nodes.leader?.push(StorageMethod.session, push) ?? false
    }
}

extension StorageClient: ShardRouterDelegate {
    package func shardIsUp(_ shard: Int, isWhole: Bool) {
        caller?.storageIsUp()
        let early = earlyBans
        earlyBans = []
        for (ban, link) in early where link === nodes.leader { took(ban, from: link) }
    }

    package func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) { caller?.storageIsDown(reason) }

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
            caller?.storageCalled(context, outcome.result { try StorageCallResponse($0, in: shards.arena) })
        case StorageMethod.snapshot:
            caller?.storageSnapshot(context, outcome.result { try SnapshotResponse($0, in: shards.arena) })
        case StorageMethod.ban:
            caller?.storageCarriedOut(context, outcome.result { try BanOutcome($0, in: shards.arena) })
        case StorageMethod.bans:
            caller?.storageListedBans(context, outcome.result { try BansResponse($0, in: shards.arena) })
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
        switch method {
        case StorageMethod.lockGranted:
            guard link === nodes.leader, let push = try? LockGrantedPush(scanning: body) else { return }
            caller?.storageGranted(push)
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
        guard let report = caller?.storageBanned(ban), ban.number != 0 else { return }
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
