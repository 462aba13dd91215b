import RTMModel
import RTMWire

/// Users whom an operator shuts out (S-4). Storage keeps them, because it is what lasts, and tells every
/// edge.
extension StorageWriter {
    /// Limit: users who are shut out at one time. Every edge knows them all.
    private static var bansMax: Int { 100_000 }

    mutating func ban(_ ban: Ban, _ write: StorageWrite, _ now: StorageNow) throws(StoreFailure) {
        try store.bans.removeEnded(by: now.wall)
        let before = try store.bans.ban(of: ban.userID, of: ban.appID)
        var ban = ban
        // Who bans with a duration sends both times, so that they differ by exactly the duration.
        if ban.sinceMilliseconds == 0 { ban.sinceMilliseconds = now.wall }
        ban.number = 0
        if ban.untilMilliseconds > now.wall {
            let count = try store.bans.count()
            guard before != nil || count < Self.bansMax else {
                return answer(write, .failure(Self.isFull))
            }
            try store.bans.save(ban)
        } else {
            try store.bans.remove(ban.userID, of: ban.appID)
        }
        answer(write, .success(.banned(ban, before: before)))
    }

    mutating func listBans(_ now: StorageNow) throws(StoreFailure) {
        try store.bans.removeEnded(by: now.wall)
        outcome.bans += try store.bans.all()
    }

    private static var isFull: RTMError {
        RTMError(
            .storageOperationFailed, "\(bansMax) users are shut out, which is the limit",
            limit: .init(name: "users who are shut out", value: UInt64(bansMax)))
    }
}
