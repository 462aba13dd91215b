import NIOCore

/// Knows which masters there are, and asks again when that may have changed. Values that conform are pure:
/// they get the time and what was answered, and return what is to be done.
protocol MasterLocator: Sendable {
    /// What `LocatorAction.ask` asks.
    var question: RedisCommand { get }

    /// Time has passed. It is called several times a second.
    mutating func passed(_ now: NIODeadline) -> [LocatorAction]
    /// An answer that comes late is ignored.
    mutating func answered(_ number: Int, _ reply: RedisReply, now: NIODeadline) -> [LocatorAction]
    mutating func failed(_ number: Int, _ cause: String, now: NIODeadline) -> [LocatorAction]
    /// Something suggests that the masters are others by now: a lost connection, or an answer.
    mutating func doubted(now: NIODeadline)
    /// A node says that the slot is served by this master.
    mutating func moved(_ slot: Int, to master: RedisEndpoint, now: NIODeadline) -> [LocatorAction]

    /// Why no master is known, with what is to be looked at.
    var cause: String { get }
}

enum LocatorAction: Sendable, Hashable {
    /// Ask this endpoint. The answer comes with the number.
    case ask(RedisEndpoint, number: Int)
    case use(SlotMap)
}

/// One server, which is always the master. Pure.
struct FixedMaster: MasterLocator {
    let endpoint: RedisEndpoint
    private var isUsed = false
    let question = RedisCommand("PING")
    let cause = "not started"

    init(_ endpoint: RedisEndpoint) { self.endpoint = endpoint }

    mutating func passed(_ now: NIODeadline) -> [LocatorAction] {
        guard !isUsed else { return [] }
        isUsed = true
        return [.use(SlotMap(all: endpoint))]
    }

    mutating func answered(_ number: Int, _ reply: RedisReply, now: NIODeadline) -> [LocatorAction] { [] }
    mutating func failed(_ number: Int, _ cause: String, now: NIODeadline) -> [LocatorAction] { [] }
    mutating func doubted(now: NIODeadline) {}
    mutating func moved(_ slot: Int, to master: RedisEndpoint, now: NIODeadline) -> [LocatorAction] { [] }
}
