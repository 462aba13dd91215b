import NIOCore
import RTMServiceLink

/// How often and how long one command is tried in a Cluster. Only a command that was certainly not done is
/// tried again. Pure: it gets the time.
struct CommandAttempts: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        /// Send it to this node.
        case send(RedisEndpoint)
        /// Send it to this node behind `ASKING`.
        case ask(RedisEndpoint)
        /// Send it to the master of its slot after this time.
        case wait(Duration)
        case giveUp
    }

    /// Limit: redirections that are followed at once. Nodes that send a command to and fro haven't agreed
    /// yet, so the next ones are followed after a while.
    static let followedAtOnceMax = 4

    /// When the command is given up.
    private let deadline: NIODeadline
    private var followed = 0
    private var backoff = Backoff(first: .milliseconds(4), longest: .milliseconds(100))

    init(until deadline: NIODeadline) { self.deadline = deadline }

    /// - Parameter random: a number in 0..<1.
    mutating func refused(_ redirection: Redirection, now: NIODeadline, random: Double) -> Action {
        guard now < deadline else { return .giveUp }
        switch redirection {
        case .moved(_, let endpoint) where followed < Self.followedAtOnceMax:
            followed += 1
            return .send(endpoint)
        case .ask(let endpoint) where followed < Self.followedAtOnceMax:
            followed += 1
            return .ask(endpoint)
        case .moved, .ask, .tryAgain, .clusterDown, .loading:
            followed = 0
            // A wait of nothing would keep nodes busy that need the time.
            return .wait(max(.milliseconds(1), backoff.next(random: random)))
        }
    }
}
