import NIOCore
import RTMMessagingClient
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// What the other services send to a loop, handed to the feature that it is about. The edge takes clients
/// while messaging can be reached; without presence or storage it serves what doesn't need them, and
/// refuses the rest.
final class ServiceEvents {
    private let sessions: Sessions
    private let sharedRates: SharedRates
    private let subscribing: Subscribing
    private let publishing: Publishing
    private let history: HistoryAppends
    private let memberships: Memberships
    private let calls: Calls
    private let locks: LockRequests
    private let bannedUsers: BannedUsers
    private let questions: GatewayQuestions
    private let logins: Logins
    private let reachability: Reachability
    private var messagingOutage = ShardOutage()
    private var storageOutage = ShardOutage()
    private let eventLoop: any EventLoop
    private let messaging: MessagingClient
    private let storage: StorageClient
    /// Nil where no canaries are wanted.
    private let canaries: Canaries?

    init(
        sessions: Sessions, sharedRates: SharedRates, subscribing: Subscribing, publishing: Publishing,
        history: HistoryAppends,
        memberships: Memberships, calls: Calls, locks: LockRequests, bannedUsers: BannedUsers,
        questions: GatewayQuestions, logins: Logins, reachability: Reachability, messaging: MessagingClient,
        storage: StorageClient, canaries: Canaries?, eventLoop: any EventLoop
    ) {
        self.sessions = sessions
        self.sharedRates = sharedRates
        self.eventLoop = eventLoop
        self.subscribing = subscribing
        self.publishing = publishing
        self.history = history
        self.memberships = memberships
        self.calls = calls
        self.locks = locks
        self.bannedUsers = bannedUsers
        self.questions = questions
        self.logins = logins
        self.reachability = reachability
        self.messaging = messaging
        self.storage = storage
        self.canaries = canaries
    }
}

extension ServiceEvents: MessagingEdge {
    /// - Parameter cause: why a shard has no leader here, if one has none.
    private func messagingChanged(_ cause: String) {
        let shards = messaging.shards
        switch messagingOutage.changed(isWhole: shards.isUp, isReached: shards.isReached, now: eventLoop.now)
        {
        case .up: reachability.changed(.messaging, isUp: true)
        case .down: reachability.changed(.messaging, isUp: false, cause)
        case .checkAgain(let time):
            eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
                self?.messagingChanged(cause)
            }
        case .none: break
        }
    }

    func shardIsUp(_ shard: Int, isWhole: Bool) {
        messagingChanged("")
        subscribing.messagingIsUp(shard)
        canaries?.messagingIsUp(shard)
    }

    func connectFailed(_ reason: ServiceLinkDownReason) {
        reachability.failed(.messaging, "\(reason)")
        messagingChanged("\(reason)")
    }

    func shardIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) {
        messagingChanged("\(reason)")
        subscribing.messagingIsDown(shard)
        canaries?.messagingIsDown(shard)
    }

    func messagingDelivered(_ delivery: DeliveryPush) {
        guard delivery.interest < Canaries.firstInterest else {
            canaries?.received(delivery)
            return
        }
        subscribing.delivered(delivery)
    }

    func messagingSkipped(_ skip: SkipPush) { subscribing.skipped(skip) }

    func messagingSuperseded(_ interest: UInt64, by owner: UInt64) {
        subscribing.superseded(interest, by: owner)
    }

    func messagingAttached(
        _ interest: UInt64, in shard: Int, _ outcome: ServiceLinkResult<AttachResponse>
    ) {
        guard interest < Canaries.firstInterest else {
            canaries?.attached(interest, (try? outcome.get()) != nil)
            return
        }
        subscribing.attached(interest, in: shard, outcome)
    }

    func messagingPublished(
        _ context: Int, in shard: Int, _ outcome: ServiceLinkResult<PublishResponse>
    ) {
        guard context < Canaries.firstContext else {
            canaries?.published(context, outcome)
            return
        }
        publishing.published(context, in: shard, outcome)
    }

    func messagingRead(_ context: Int, _ outcome: ServiceLinkResult<ReadResponse>) {
        subscribing.read(context, outcome)
    }
}

extension ServiceEvents: PresenceEdge {
    func presenceIsUp() {
        reachability.changed(.presence, isUp: true)
        memberships.presenceIsUp()
    }

    func presenceIsUnreachable(_ reason: ServiceLinkDownReason) {
        reachability.failed(.presence, "\(reason)")
    }

    func presenceIsDown(_ reason: ServiceLinkDownReason) {
        reachability.changed(.presence, isUp: false, "\(reason)")
        memberships.presenceIsDown()
    }

    func presenceJoined(_ context: Int, _ outcome: ServiceLinkResult<JoinResponse>) {
        if memberships.joined(context, outcome) { return }
        let join = subscribing.joined(context)
        if case .success(let response) = outcome {
            if response.isOlder { memberships.isUnlisted(join.session, in: join.channel) }
            if let session = sessions[join.session] {
                sharedRates.announcedStates(response.statesCost, of: session, now: eventLoop.now)
            }
        }
        subscribing.joined(join.id, outcome)
    }

    func presenceRoster(_ channel: ChannelKey, _ outcome: ServiceLinkResult<RosterResponse>) {
        subscribing.rosterRead(channel, outcome)
    }

    func presenceCalled(_ context: Int, _ outcome: ServiceLinkResult<CallResponse>) {
        calls.presenceAnswered(context, outcome)
    }

    func presenceLeased(_ outcome: ServiceLinkResult<LeaseResponse>) {
        memberships.leased(outcome)
    }

    func presenceSynced(_ outcome: ServiceLinkResult<SyncResponse>) {
        memberships.synced(outcome)
    }
}

extension ServiceEvents: StorageEdge {
    /// - Parameter cause: why a shard has no leader here, if one has none.
    private func storageChanged(_ cause: String) {
        switch storageOutage.changed(isWhole: storage.isUp, isReached: storage.isReached, now: eventLoop.now)
        {
        case .up: reachability.changed(.storage, isUp: true)
        case .down: reachability.changed(.storage, isUp: false, cause)
        case .checkAgain(let time):
            eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
                self?.storageChanged(cause)
            }
        case .none: break
        }
    }

    func storageIsUp(_ shard: Int, isWhole: Bool) {
        storageChanged("")
        bannedUsers.listBegins(of: shard)
        locks.storageIsUp(shard)
    }

    func storageIsUnreachable(_ reason: ServiceLinkDownReason) {
        reachability.failed(.storage, "\(reason)")
        storageChanged("\(reason)")
    }

    func storageIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) {
        storageChanged("\(reason)")
        locks.storageIsDown(shard)
    }

    func historyAppended(_ context: Int, _ outcome: ServiceLinkResult<NoContent>) {
        publishing.settled(history.appended(context, outcome))
    }

    func storageCalled(
        _ context: Int, in shard: Int, _ outcome: ServiceLinkResult<StorageCallResponse>
    ) {
        calls.storageAnswered(context, in: shard, outcome)
    }

    func storageGranted(_ push: LockGrantedPush, in shard: Int) { locks.granted(push, in: shard) }

    func storageBanned(_ ban: Ban, in shard: Int) -> BanReport {
        let ended = bannedUsers.received(ban, of: shard)
        return BanReport(
            number: ban.number, isAppKnown: logins.knows(app: ban.appID), sessions: UInt32(ended))
    }

    func storageAsked(_ query: EdgeQuery, _ answer: @escaping (EdgeFindings) -> Void) {
        questions.answer(query, answer)
    }

    func storageSnapshot(_ context: Int, _ outcome: ServiceLinkResult<SnapshotResponse>) {
        subscribing.snapshotRead(context, outcome)
    }
}
