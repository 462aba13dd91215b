import RTMModel
import RTMRedis

/// Says in Redis which link of each edge is the newest, in every part and beside the leases, so that the
/// scripts refuse what comes over an older link (`EdgeLink`). Other nodes may have that older link, and need
/// not know of the newer one.
final class RedisLinkFence {
    typealias Completion<Value> = RedisPresenceStore.Completion<Value>

    private let client: RedisClient
    private let keys: RedisKeys
    /// By lease: what this node has written, and when it has to be written again.
    private var written: [UInt64: (number: UInt64, until: UInt64)] = [:]

    init(client: RedisClient, keys: RedisKeys) {
        self.client = client
        self.keys = keys
    }

    func dataWereLost() { written = [:] }

    /// Gives whether the link is the newest one, as far as was asked.
    func take(_ link: EdgeLink, now: UInt64, _ done: @escaping Completion<Bool>) {
        guard link.number > 0 else { return done(.success(true)) }
        if let present = written[link.lease], present.number == link.number, now < present.until {
            return done(.success(true))
        }
        let places =
            (0..<RedisKeys.partCount).map { keys.newestLink(under: link.lease, in: $0) }
            + [keys.newestLink(under: link.lease)]
        var isNewest = true
        let all = CompletionGroup(count: places.count) { [self] outcome in
            if case .success = outcome { note(link, now: now) }
            done(outcome.map { isNewest })
        }
        for place in places {
            client.run(
                PresenceScripts.hold, keys: [place],
                [RedisArgument(link.number), RedisArgument(RedisIndexLife.span)]
            ) { outcome in
                if case .success(.integer(0)) = outcome { isNewest = false }
                all.finished(outcome.mapError(RTMError.init).map { _ in })
            }
        }
    }

    private func note(_ link: EdgeLink, now: UInt64) {
        // Leases that are renewed are written again in time, and the others have ended.
        written = written.filter { now < $0.value.until }
        written[link.lease] = (link.number, now + RedisIndexLife.span / 2)
    }
}
