import RTMModel
import RTMWire

/// Shuts a user out, ends a session, or lets a user in again (S-4). Storage keeps who is shut out, because it
/// is what lasts, and announces them to every edge.
extension Ban: StorageChange {
    /// Limit: users who are shut out at one time. Every edge knows them all.
    private static let countMax = 100_000

    var room: StorageRoom { .bans }

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) { keys.bans.insert(BannedUser(self)) }

    func apply(_ transaction: inout StorageTransaction) -> Result<BanKept, RTMError>? {
        let now = transaction.now.wall
        transaction.group.removeEndedBans(by: now)
        let user = BannedUser(self)
        let before = transaction.group.ban(of: user)
        var ban = self
        // Who bans with a duration sends both times, so that they differ by exactly the duration.
        if ban.sinceMilliseconds == 0 { ban.sinceMilliseconds = now }
        ban.number = 0
        let holds = ban.untilMilliseconds > now
        guard !holds || before != nil || transaction.group.banCount < Self.countMax else {
            return .failure(Self.isFull)
        }
        transaction.group.setBan(holds ? ban : nil, of: user)
        return .success(BanKept(ban: ban, before: before))
    }

    private static var isFull: RTMError {
        RTMError(
            .storageOperationFailed, "\(countMax) users are shut out, which is the limit",
            limit: .init(name: "users who are shut out", value: UInt64(countMax)))
    }
}

/// The ban as it holds now, and what held before.
struct BanKept: StorageAnswer {
    let ban: Ban
    let before: Ban?

    /// All edges are asked what they found. The ban holds, whether the operator still waits or not.
    func deliver(to request: UInt64, of link: UInt64, at shard: StorageShard) {
        shard.ask(ban, before, for: request, link)
    }
}

/// Reports who is shut out, once at the start.
struct BanListing: StorageChange {
    var room: StorageRoom { .bans }

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) { keys.listsBans = true }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.group.removeEndedBans(by: transaction.now.wall)
        transaction.outcome.bans += transaction.group.bans
        transaction.outcome.hasListedBans = true
        return nil
    }

    func failed(_ transaction: inout StorageTransaction) { transaction.outcome.hasNotListedBans = true }
}

extension BansResponse {
    /// Limit: bans of a page.
    static let countMax = 1_000
}

/// Asks for a page of the bans that hold.
extension BansRequest: StorageQuery {
    var appID: String { "" }
    var answerBytesMax: Int { 256 * 1024 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> BansResponse {
        let bans = try store.bans(after: self, now: now, limit: BansResponse.countMax + 1)
        return BansResponse(
            bans: Array(bans.prefix(BansResponse.countMax)), hasMore: bans.count > BansResponse.countMax)
    }
}
