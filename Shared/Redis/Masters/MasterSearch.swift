import NIOCore

/// Which server is the master, as the sentinels say. All of them are asked in one round. Each one names a
/// master with the epoch of the failover that made it the master; the highest epoch counts, because sentinels
/// learn of a failover one after the other. Pure: it gets the time.
struct MasterSearch: MasterLocator {
    /// How soon the next round follows when the master is in doubt, and otherwise.
    static let pause = TimeAmount.milliseconds(100)
    static let life = TimeAmount.seconds(1)

    private let sentinels: [RedisEndpoint]
    private let name: String
    private(set) var master: SentinelAnswer?
    private var number = 0
    /// The questions of this round that aren't answered yet.
    private var open: [Int: RedisEndpoint] = [:]
    private var answers: [SentinelAnswer] = []
    private var failures: [String] = []
    /// Whether this round has had all answers that are waited for.
    private var isDecided = true
    private var isDoubted = false
    private var due = NIODeadline.distantPast
    private(set) var cause = "no sentinel was asked yet"

    var question: RedisCommand { RedisCommand("SENTINEL", "MASTER", .text(name)) }

    init(_ sentinels: [RedisEndpoint], master name: String) {
        self.sentinels = sentinels
        self.name = name
    }

    mutating func passed(_ now: NIODeadline) -> [LocatorAction] {
        guard isDecided, now >= due else { return [] }
        (open, answers, failures, isDecided, isDoubted) = ([:], [], [], false, false)
        return sentinels.map { endpoint in
            number += 1
            open[number] = endpoint
            return .ask(endpoint, number: number)
        }
    }

    mutating func answered(_ number: Int, _ reply: RedisReply, now: NIODeadline) -> [LocatorAction] {
        guard let answer = SentinelAnswer(reply) else {
            return failed(number, "its answer can't be read", now: now)
        }
        guard open.removeValue(forKey: number) != nil else { return [] }
        answers.append(answer)
        return decide(now)
    }

    mutating func failed(_ number: Int, _ cause: String, now: NIODeadline) -> [LocatorAction] {
        guard let endpoint = open.removeValue(forKey: number) else { return [] }
        failures.append("\(endpoint): \(cause)")
        return decide(now)
    }

    mutating func doubted(now: NIODeadline) {
        isDoubted = true
        due = min(due, now + Self.pause)
    }

    mutating func moved(_ slot: Int, to master: RedisEndpoint, now: NIODeadline) -> [LocatorAction] { [] }

    private mutating func decide(_ now: NIODeadline) -> [LocatorAction] {
        let isMajority = answers.count * 2 > sentinels.count
        guard isMajority || open.isEmpty else { return [] }
        isDecided = true
        due = now + (isDoubted || answers.isEmpty ? Self.pause : Self.life)
        cause =
            "no sentinel names the master \(name), which redis.sentinel.master asks for: "
            + failures.sorted().joined(separator: "; ")
        guard let best = answers.max(by: { $0.epoch < $1.epoch }), isBelieved(best, isMajority) else {
            return []
        }
        // The same server may have been replaced and chosen again between two rounds.
        let isOther = best != master
        master = best
        return isOther ? [.use(SlotMap(all: best.endpoint, configEpoch: best.epoch))] : []
    }

    /// An older epoch than the known one is believed only of a majority, when all have answered who will:
    /// then somebody has set up the sentinels anew. A minority may be cut off from the others.
    private func isBelieved(_ answer: SentinelAnswer, _ isMajority: Bool) -> Bool {
        guard let master else { return true }
        return answer.epoch > master.epoch || isMajority && open.isEmpty
    }
}

/// What one sentinel says in answer to `SENTINEL MASTER`. Pure.
struct SentinelAnswer: Sendable, Hashable {
    let endpoint: RedisEndpoint
    let epoch: UInt64

    init(endpoint: RedisEndpoint, epoch: UInt64) {
        self.endpoint = endpoint
        self.epoch = epoch
    }

    /// The reply lists names and values in turns.
    init?(_ reply: RedisReply) {
        let parts = (reply.elements ?? []).map { $0.string ?? "" }
        var values: [String: String] = [:]
        for index in stride(from: 0, to: parts.count - 1, by: 2) { values[parts[index]] = parts[index + 1] }
        guard let host = values["ip"], !host.isEmpty, let port = values["port"].flatMap({ Int($0) }),
            (1...65_535).contains(port), let epoch = values["config-epoch"].flatMap({ UInt64($0) })
        else { return nil }
        self.init(endpoint: .tcp(host: host, port: port), epoch: epoch)
    }
}
