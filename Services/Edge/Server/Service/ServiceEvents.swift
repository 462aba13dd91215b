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
    private let subscribing: Subscribing
    private let publishing: Publishing
    private let history: HistoryAppends
    private let memberships: Memberships
    private let calls: Calls
    private let locks: LockRequests
    private let bannedUsers: BannedUsers
    private let logins: Logins
    private let reachability: Reachability
    private var outage = ShardOutage()
    private let eventLoop: any EventLoop
    private let messaging: MessagingClient<ServiceEvents>
    /// Nil where no canaries are wanted.
    private let canaries: Canaries<ServiceEvents>?

    init(
        subscribing: Subscribing, publishing: Publishing, history: HistoryAppends,
        memberships: Memberships, calls: Calls, locks: LockRequests, bannedUsers: BannedUsers,
        logins: Logins, reachability: Reachability, messaging: MessagingClient<ServiceEvents>,
        canaries: Canaries<ServiceEvents>?, eventLoop: any EventLoop
    ) {
        self.eventLoop = eventLoop
        self.subscribing = subscribing
        self.publishing = publishing
        self.history = history
        self.memberships = memberships
        self.calls = calls
        self.locks = locks
        self.bannedUsers = bannedUsers
        self.logins = logins
        self.reachability = reachability
        self.messaging = messaging
        self.canaries = canaries
    }
}

extension ServiceEvents: MessagingCaller {
    /// - Parameter cause: why a shard has no leader here, if one has none.
    private func messagingChanged(_ cause: String) {
        let shards = messaging.shards
        switch outage.changed(isWhole: shards.isUp, isReached: shards.isReached, now: eventLoop.now) {
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
        guard delivery.interest < Canaries<ServiceEvents>.firstInterest else {
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
        _ interest: UInt64, in shard: Int, _ outcome: Result<AttachResponse, ServiceLinkRequestFailure>
    ) {
        guard interest < Canaries<ServiceEvents>.firstInterest else {
            canaries?.attached(interest, (try? outcome.get()) != nil)
            return
        }
        subscribing.attached(interest, in: shard, outcome)
    }

    /// Who published.
    enum Publish {
        case session(Publishing.PendingPublish)
        case canary(shard: Int)
    }

    func messagingPublished(
        _ publish: Publish, in shard: Int, _ outcome: Result<PublishResponse, ServiceLinkRequestFailure>
    ) {
        switch publish {
        case .session(let pending): publishing.published(pending, in: shard, outcome)
        case .canary(let shard): canaries?.published(shard, outcome)
        }
    }

    func messagingRead(_ query: PageQuery, _ outcome: Result<ReadResponse, ServiceLinkRequestFailure>) {
        subscribing.read(query, outcome)
    }
}

extension ServiceEvents: PresenceCaller {
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

    func presenceJoined(
        _ join: SnapshotReads.JoinContext, _ outcome: Result<JoinResponse, ServiceLinkRequestFailure>
    ) {
        if case .success(let response) = outcome, response.isOlder {
            memberships.isUnlisted(join.session, in: join.channel)
        }
        subscribing.joined(join.id, outcome)
    }

    func presenceRoster(_ channel: ChannelKey, _ outcome: Result<RosterResponse, ServiceLinkRequestFailure>) {
        subscribing.rosterRead(channel, outcome)
    }

    func presenceCalled(_ call: ForwardedCall, _ outcome: Result<CallResponse, ServiceLinkRequestFailure>) {
        calls.presenceAnswered(call, outcome)
    }

    func presenceLeased(_ outcome: Result<LeaseResponse, ServiceLinkRequestFailure>) {
        memberships.leased(outcome)
    }

    func presenceSynced(_ outcome: Result<SyncResponse, ServiceLinkRequestFailure>) {
        memberships.synced(outcome)
    }
}

extension ServiceEvents: StorageCaller {
    func storageIsUp() {
        reachability.changed(.storage, isUp: true)
        bannedUsers.listBegins()
        locks.storageIsUp()
    }

    func storageIsUnreachable(_ reason: ServiceLinkDownReason) {
        reachability.failed(.storage, "\(reason)")
    }

    func storageIsDown(_ reason: ServiceLinkDownReason) {
        reachability.changed(.storage, isUp: false, "\(reason)")
        locks.storageIsDown()
    }

    func historyAppended(_ pending: PendingHistory, _ outcome: Result<Void, ServiceLinkRequestFailure>) {
        history.appended(pending, outcome)
        publishing.settled(pending.publish)
    }

    func storageCalled(
        _ call: ForwardedCall, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>
    ) {
        calls.storageAnswered(call, outcome)
    }

    func storageGranted(_ push: LockGrantedPush) { locks.granted(push) }

    func storageBanned(_ ban: Ban) -> BanReport {
        let ended = bannedUsers.received(ban)
        return BanReport(
            number: ban.number, isAppKnown: logins.knows(app: ban.appID), sessions: UInt32(ended))
    }

    func storageSnapshot(_ id: SubscribeID, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>) {
        subscribing.snapshotRead(id, outcome)
    }
}
