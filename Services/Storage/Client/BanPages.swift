import RTMServiceLink
import RTMWire

/// A page of the bans of all shards, put together from a page of each. Pure.
struct BanPages {
    private var left: Int
    private var bans: [Ban] = []
    /// The last ban of each page behind which there are more, in order: what lies behind it isn't known yet.
    private var ends: [Ban] = []
    private var failure: ServiceLinkRequestFailure?

    init(of shards: Int) { left = shards }

    /// - Returns: the page, once every shard has answered.
    mutating func take(
        _ outcome: ServiceLinkResult<BansResponse>
    ) -> ServiceLinkResult<BansResponse>? {
        switch outcome {
        case .success(let page):
            bans += page.bans
            if page.hasMore, let last = page.bans.last { ends.append(last) }
        case .failure(let failure): self.failure = self.failure ?? failure
        }
        left -= 1
        guard left == 0 else { return nil }
        if let failure { return .failure(failure) }
        let end = ends.min(by: Self.isBefore)
        let known = bans.filter { ban in end.map { !Self.isBefore($0, ban) } ?? true }
        return .success(BansResponse(bans: known.sorted(by: Self.isBefore), hasMore: end != nil))
    }

    /// As a database orders texts: by their bytes.
    private static func isBefore(_ first: Ban, _ second: Ban) -> Bool {
        guard first.appID == second.appID else {
            return first.appID.utf8.lexicographicallyPrecedes(second.appID.utf8)
        }
        return first.userID.utf8.lexicographicallyPrecedes(second.userID.utf8)
    }
}
