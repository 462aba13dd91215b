import RTMModel
import RTMWire

/// The reports of edges that are under way: an edge sends its members in several requests over one link, and
/// joins others meanwhile. At the end every member under the lease that wasn't reported is lost. Pure.
struct Syncs {
    private struct Key: Hashable {
        let link: UInt64
        let lease: UInt64
    }

    private var reported: [Key: Set<MemberKey>] = [:]

    mutating func add(_ request: SyncRequest, over link: UInt64) {
        let key = Key(link: link, lease: request.lease)
        if request.isFirst { reported[key] = [] }
        for membership in request.memberships {
            reported[key]?.insert(MemberKey(membership.caller, membership.channel))
        }
    }

    /// A report that is under way may have passed this session already, so its join counts as reported.
    mutating func joined(_ member: MemberKey, lease: UInt64, over link: UInt64) {
        reported[Key(link: link, lease: lease)]?.insert(member)
    }

    /// The session has not become the member: a newer login of its user is in the channel.
    mutating func isOlder(_ member: MemberKey, lease: UInt64, over link: UInt64) {
        reported[Key(link: link, lease: lease)]?.remove(member)
    }

    /// Returns who was reported, once; nil if the report has no beginning.
    mutating func finish(_ request: SyncRequest, over link: UInt64) -> Set<MemberKey>? {
        reported.removeValue(forKey: Key(link: link, lease: request.lease))
    }

    mutating func closed(_ link: UInt64) { reported = reported.filter { $0.key.link != link } }
}

extension MemberKey {
    init(_ caller: Caller, _ channel: ChannelKey) {
        self.init(channel: channel, user: caller.userID, session: caller.session.rawValue)
    }
}
