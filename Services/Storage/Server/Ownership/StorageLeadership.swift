import RTMWire

/// Whether this node leads a shard, or another one that shares its database does.
///
/// The database decides, because a transaction of a node is kept only in the node's own term. This is what
/// the node's event loop believes meanwhile, so that callers go to the right one, and nobody works in vain: a
/// mirror of the writer's `ShardTenure`. A node over a file has no others beside it and always serves.
///
/// Pure.
struct StorageLeadership: Equatable {
    enum State: Equatable {
        case alone
        /// Another node leads, or the database has not been asked yet.
        case following
        case leading(term: UInt64)
    }

    enum Action: Equatable {
        case none
        /// Callers learn that this node leads, and its work begins.
        case becomeLeader
        /// All that callers have reported is forgotten. They learn it by the end of their links.
        case beginAnew
        /// Work ends, and so do the links, so that no call waits here.
        case follow(isPlanned: Bool)
    }

    private(set) var state: State

    /// - Parameter hasOthers: whether other nodes may share the database.
    init(hasOthers: Bool) { state = hasOthers ? .following : .alone }

    var serves: Bool { state != .following }

    /// What each caller learns first; nil if this node doesn't lead, or has no others beside it. Any later
    /// term is the right one, so the leader before is whatever callers know.
    var announcement: LeaderPush? {
        guard case .leading(let term) = state else { return nil }
        return LeaderPush(term: term, follows: term - 1)
    }

    mutating func changed(_ change: ShardTenure.Change) -> Action {
        switch (change, state) {
        case (.began(nil), .alone): return .beginAnew
        case (.began(let term?), let before):
            state = .leading(term: term)
            return before == .following ? .becomeLeader : .beginAnew
        case (.lost(let isPlanned), .leading):
            state = .following
            return .follow(isPlanned: isPlanned)
        case (.began(nil), _), (.lost, _): return .none
        }
    }
}
