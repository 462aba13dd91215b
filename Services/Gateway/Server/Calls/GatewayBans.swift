import RTMModel
import RTMStorageClient
import RTMWire
import Synchronization

/// Users whom an operator has banned: over HTTP their tokens let them in no more than at an edge (S-4). While
/// storage can't be reached, the gateway keeps to what it knows.
final class GatewayBans: Sendable {
    private let table = Mutex(BanTable())

    /// All bans that a shard of storage keeps follow.
    func listBegins(of shard: Int) { table.withLock { $0.listBegins(of: shard) } }

    func received(_ ban: Ban, of shard: Int) {
        table.withLock { _ = $0.take(ban, of: shard, nowMilliseconds: WallClock.milliseconds()) }
    }

    func until(_ user: String, of app: String, nowMilliseconds: UInt64) -> UInt64? {
        table.withLock { $0.until(user, of: app, nowMilliseconds: nowMilliseconds) }
    }

    /// - Parameter issuedAtSeconds: when the user's token was issued, in seconds since 1970.
    /// - Throws: `.loginRejected` (-10012) or `.tokenExpired` (-10009).
    func check(
        _ user: String, of app: String, issuedAtSeconds: UInt32, nowMilliseconds: UInt64
    ) throws(RTMError) {
        let refusal = table.withLock { table -> RTMError? in
            do throws(RTMError) {
                try table.check(user, of: app, nowMilliseconds: nowMilliseconds)
                try table.checkToken(
                    issuedAtSeconds: issuedAtSeconds, of: user, of: app, nowMilliseconds: nowMilliseconds)
                return nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
    }
}
