/// Whether this node has a shard of the database, as the shard's writer knows it: the only place that does,
/// beside the database itself. The writer's thread owns it, and gives it what it learns: whether the node
/// wants the shard, and what the store has answered. In return it says what to do next, and lists the changes
/// for the shard on its event loop, whose `StorageLeadership` is a mirror of them.
///
/// It decides nothing about safety: a transaction is kept only in the term that the database has. A store
/// that no other node can have has no terms, and its node is `alone`.
///
/// docs/decisions/0030-storage-on-postgresql.md has a diagram of all arrows.
///
/// Pure. Times are in milliseconds, on the steady clock.
struct ShardTenure: Equatable {
    enum State: Equatable {
        /// No other node can have the store.
        case alone
        /// This node doesn't want the shard, so it doesn't ask for it.
        case waiting
        /// This node wants the shard, and asks the database for it at this time.
        case taking(at: UInt64)
        case serving(term: UInt64)
        /// The shard is being given up.
        case releasing
        /// Nobody knows what the store has kept. Everything begins anew when it answers.
        case doubt
        /// The process ends.
        case stopped
    }

    /// What the shard has to learn.
    enum Change: Equatable {
        /// Memory is what the store holds, from now on and in this term; nil where there are no terms. All
        /// that callers have reported of their sessions is forgotten.
        case began(term: UInt64?)
        /// Another node has the shard, or may take it.
        ///
        /// - Parameter isPlanned: whether this node has given it up for the other one.
        case lost(isPlanned: Bool)
    }

    /// What the writer's thread does next.
    enum Step: Equatable {
        /// Gives the store up, and refuses the group.
        case release
        /// Asks the store whether it can be had, and then carries the group out.
        case ask
        case run
    }

    /// How often a shard is asked for that another node has, so that it is soon this one's when that is gone.
    static let takeInterval: UInt64 = 100
    /// How often it is asked for where the database doesn't answer.
    static let retryInterval: UInt64 = 1_000

    private(set) var state: State
    /// What the shard hasn't learned yet, in its order.
    private(set) var changes: [Change] = []

    /// - Parameter hasOthers: whether other nodes may share the store.
    init(hasOthers: Bool) { state = hasOthers ? .waiting : .alone }

    /// Whether memory is what the store holds, so that groups can be carried out.
    var isKnown: Bool {
        switch state {
        case .alone, .serving: true
        case .waiting, .taking, .releasing, .doubt, .stopped: false
        }
    }

    /// When the store is to be asked for; nil if that needs no time to pass.
    var deadline: UInt64? { if case .taking(let time) = state { time } else { nil } }

    mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes
    }

    // MARK: What happens

    /// Between two groups.
    ///
    /// - Parameter isWanted: whether this node wants the shard, or wants to keep it.
    mutating func nextStep(isWanted: Bool, now: UInt64) -> Step {
        switch state {
        case .serving where !isWanted:
            changes.append(.lost(isPlanned: true))
            state = .releasing
            return .release
        case .taking where !isWanted:
            state = .releasing
            return .release
        case .waiting where isWanted:
            state = .taking(at: now)
            return .ask
        case .taking(let time) where now >= time: return .ask
        default: return .run
        }
    }

    /// The store has said what it holds.
    ///
    /// - Parameter term: in which this node has it; nil where no other node can have it.
    mutating func began(term: UInt64?) {
        guard state != .releasing, state != .stopped else { return }
        state = term.map { .serving(term: $0) } ?? .alone
        changes.append(.began(term: term))
    }

    /// A group, a proof or the beginning has failed.
    mutating func failed(_ kind: StoreFailure.Kind, now: UInt64) {
        switch (state, kind) {
        case (.serving, .fenced), (.doubt, .fenced):
            changes.append(.lost(isPlanned: false))
            state = .taking(at: now + Self.takeInterval)
        case (.serving, _), (.alone, _): if kind.endsKnowledge { state = .doubt }
        case (.taking, .fenced): state = .taking(at: now + Self.takeInterval)
        case (.taking, _): state = .taking(at: now + Self.retryInterval)
        case (.waiting, _), (.releasing, _), (.doubt, _), (.stopped, _): break
        }
    }

    /// The store was given up.
    mutating func released() { if state == .releasing { state = .waiting } }

    mutating func stop() { state = .stopped }
}
