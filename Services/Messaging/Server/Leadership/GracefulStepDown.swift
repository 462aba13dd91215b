/// How long a node that ends keeps the shards that it leads.
///
/// Nobody else has what Redis hasn't got yet, or has lost. So the node waits until Redis has everything and
/// other nodes may lead, whether Redis answers or not, for nearly as long as the process may take to end.
/// Pure.
struct GracefulStepDown {
    /// What is left of the process's time after the wait, in milliseconds: the links close in it.
    static let reserve: UInt64 = 2_000

    enum Step: Equatable {
        /// Other nodes lead all shards, or may.
        case end
        case wait
        /// Wait, and log that Redis can't be reached.
        case report
        /// There is no more time. What only this node has is lost.
        case giveUp
    }

    private let until: UInt64
    private var hasReported = false

    /// - Parameter time: how long the process may take to end, in milliseconds.
    init(within time: UInt64, now: UInt64) { until = now + (time > Self.reserve ? time - Self.reserve : 0) }

    /// - Parameter keepsShards: whether this node still has the logs of a shard.
    mutating func timePassed(keepsShards: Bool, isRedisUsable: Bool, now: UInt64) -> Step {
        guard keepsShards else { return .end }
        guard now < until else { return .giveUp }
        guard !isRedisUsable, !hasReported else { return .wait }
        hasReported = true
        return .report
    }
}
