import RTMModel
import RTMWire

/// Users whom an operator shuts out (S-4). Storage keeps them, because it is what lasts, and announces
/// them to every edge.
extension StorageWriter {
    /// Limit: users who are shut out at one time. Every edge knows them all.
    private static var bansMax: Int { 100_000 }

    mutating func ban(_ ban: Ban, _ write: StorageWrite, _ now: StorageNow) {
        group.removeEndedBans(by: now.wall)
        let user = BannedUser(ban)
        let before = group.ban(of: user)
        var ban = ban
        // Who bans with a duration sends both times, so that they differ by exactly the duration.
        if ban.sinceMilliseconds == 0 { ban.sinceMilliseconds = now.wall }
        ban.number = 0
        let holds = ban.untilMilliseconds > now.wall
        guard !holds || before != nil || group.banCount < Self.bansMax else {
            return answer(write, .failure(Self.isFull))
        }
        group.setBan(holds ? ban : nil, of: user)
        answer(write, .success(.banned(ban, before: before)))
    }

    mutating func listBans(_ now: StorageNow) {
        group.removeEndedBans(by: now.wall)
        outcome.bans += group.bans
        outcome.hasListedBans = true
    }

    private static var isFull: RTMError {
        RTMError(
            .storageOperationFailed, "\(bansMax) users are shut out, which is the limit",
            limit: .init(name: "users who are shut out", value: UInt64(bansMax)))
    }
}
