import NIOCore
import RTMModel
import RTMRedisTestSupport
import RTMTestSupport
import Testing

@testable import RTMMessagingServer
@testable import RTMRedis

/// One contract for a real Redis with the scripts of messaging, and for the one that histories are made with:
/// both answer the same. (Tests/README.md, Simulation.)
@Suite("The scripts of the journal, real and simulated") struct JournalScriptTests {
    @Test("both give the same answers to the same commands", arguments: 1...6 as ClosedRange<UInt64>)
    func agreement(seed: UInt64) async throws {
        try await RedisPair.with { pair in
            var history = ScriptHistory(seed: seed)
            for step in 0..<300 {
                let command = history.next(pair.head)
                try await pair.ask(command, "seed \(seed), step \(step)")
            }
            #expect(pair.kinds.count > 12, "seed \(seed) saw only \(pair.kinds.sorted())")
        }
    }

    @Test(
        "a replaced leader resumes in another Redis if the node that replaced it has written nothing",
        arguments: [false, true])
    func resumption(hasWritten: Bool) async throws {
        try await RedisPair.with { pair in
            let (first, second) = (ScriptHistory.commands(of: "a"), ScriptHistory.commands(of: "b"))
            try await pair.ask(
                first.requestLeadership(1, epoch: 77, secret: 88, electionDelay: 0, readUntil: nil),
                "the first leader")
            try await pair.ask(first.append(ScriptHistory.batch(1, under: 1)), "its batch")
            try await pair.ask(
                second.requestLeadership(2, epoch: nil, secret: 88, electionDelay: 0, readUntil: nil),
                "the second leader")
            if hasWritten {
                try await pair.ask(second.append(ScriptHistory.batch(2, under: 2)), "its batch")
            }
            try await pair.ask(
                RedisCommand("HSET", .text(ScriptHistory.head), "history", "another 0 one"), "the other Redis"
            )
            try await pair.set(["term": "20", "lineage": "10"])
            let term = JournalTerm(term: 10, epoch: 77, secret: 88)
            let answer = try await pair.ask(
                first.reinstate(3, before: 1, empties: false, isWhole: false, term), "the first leader again")
            #expect(answer.elements?.first?.string == (hasWritten ? "ended" : "done"))
        }
    }

    @Test("a leader takes over from an earlier term of another node, and begins with new logs")
    func forked() async throws {
        try await RedisPair.with { pair in
            let (first, second) = (ScriptHistory.commands(of: "a"), ScriptHistory.commands(of: "b"))
            try await pair.ask(
                first.requestLeadership(1, epoch: 77, secret: 88, electionDelay: 0, readUntil: nil),
                "the first leader")
            try await pair.ask(
                second.requestLeadership(2, epoch: nil, secret: 88, electionDelay: 0, readUntil: nil),
                "the second leader")
            try await pair.ask(second.append(ScriptHistory.batch(1, under: 2)), "its batch")
            try await pair.set(["term": "20", "lineage": "10"])
            let term = JournalTerm(term: 30, lineage: Lineage("10"), epoch: 77, secret: 88)
            let answer = try await pair.ask(
                first.reinstate(4, before: 3, empties: false, isWhole: false, term),
                "the first leader, which was reinstated in another Redis meanwhile")
            #expect(answer.elements?.first?.string == "forked")
        }
    }

    @Test("a leader resumes in a Redis that has an earlier token of its leadership")
    func earlierToken() async throws {
        try await RedisPair.with { pair in
            let leader = ScriptHistory.commands(of: "a")
            try await pair.ask(
                leader.requestLeadership(1, epoch: 77, secret: 88, electionDelay: 0, readUntil: nil),
                "the leader")
            try await pair.ask(leader.append(ScriptHistory.batch(1, under: 1)), "its batch")
            try await pair.ask(
                RedisCommand("HSET", .text(ScriptHistory.head), "term", "7"), "the same term for both")
            let term = JournalTerm(term: 9_000_000_000_000, epoch: 77, secret: 88)
            try await pair.ask(
                leader.reinstate(2, before: 1, empties: false, isWhole: false, term), "another token")
            try await pair.ask(
                RedisCommand("HSET", .text(ScriptHistory.head), "history", "another 0 one"), "the other Redis"
            )
            try await pair.set(["term": "7"])
            // The leader has gone on to the tokens 3 and 4 in a Redis that is lost.
            let answer = try await pair.ask(
                leader.reinstate(4, before: 3, empties: false, isWhole: false, term), "the leader again")
            #expect(answer.elements?.first?.string == "done")
        }
    }
}

extension ClientHarness {
    /// What the server says about itself.
    fileprivate func facts() async throws -> ServerFacts {
        var facts = ServerFacts()
        for part in ["server", "persistence", "replication"] {
            facts.read(try await send("INFO", part).string ?? "")
        }
        return facts
    }
}

/// A real server and a simulated one, which are asked the same.
private struct RedisPair {
    private let client: ClientHarness
    private var simulated: SimulatedRedis
    /// Of the real one, which both are asked with.
    private let facts: ServerFacts
    /// The first words of all answers.
    private(set) var kinds: Set<String> = []

    static func with(_ body: (inout RedisPair) async throws -> Void) async throws {
        let server = try RedisServerProcess()
        defer { server.remove() }
        try await server.isListening()
        let endpoint = RedisEndpoint.unixSocket(server.socket)
        try await ClientHarness.with(.server(endpoint), scripts: JournalScripts.all) { client in
            try await client.isUp()
            var pair = RedisPair(client, try await client.facts())
            try await body(&pair)
        }
    }

    private init(_ client: ClientHarness, _ facts: ServerFacts) {
        self.client = client
        self.facts = facts
        simulated = SimulatedRedis(run: "simulated", scripts: JournalScripts.all)
        // As a server that cuts a stream off only where that is cheap.
        simulated.uncutMax = 1_000
    }

    /// Sets fields of the head in both.
    mutating func set(_ fields: KeyValuePairs<String, String>) async throws {
        for (field, value) in fields {
            try await ask(
                RedisCommand("HSET", .text(ScriptHistory.head), .text(field), .text(value)), field)
        }
    }

    /// What is known of the journal.
    var head: [String: String] { simulated[ScriptHistory.head] }

    /// - Returns: the answer of the real one.
    @discardableResult
    mutating func ask(_ command: RedisCommand, _ endpoint: String) async throws -> RedisReply {
        let real: RedisReply
        do {
            real = try await client.send(command)
        } catch RedisFailure.refused(let text) {
            real = .error(text)
        }
        let own = ask(command)
        kinds.insert("\(command.script?.name ?? "plain") \(real.kind)")
        #expect(own.comparable == real.comparable, "\(endpoint): \(command.content)")
        return real
    }

    /// The same bytes that a client writes.
    private mutating func ask(_ command: RedisCommand) -> RedisReply {
        var bytes = ByteBuffer()
        command.encode(into: &bytes, server: facts, hash: nil)
        var words = RedisWords()
        words.feed(bytes)
        return simulated.answer(words.next() ?? [], now: WallClock.milliseconds())
    }
}

extension RedisReply {
    fileprivate var kind: String {
        switch self {
        case .array(let elements): elements.first?.kind ?? "nothing"
        case .string: string.map { $0.count > 8 ? "text" : $0 } ?? "bytes"
        case .integer(let number): "\(number)"
        case .null: "null"
        case .error(let text): String(text.prefix { $0 != " " })
        }
    }

    /// Without what depends on the moment: a time of now, and for how long a lease continues. The order of a
    /// list of nodes means nothing.
    fileprivate var comparable: RedisReply {
        switch self {
        case .string:
            let words = (string ?? "").split(separator: " ")
            let isOfTimes = words.contains { UInt64($0).map { (1 << 40..<1 << 41).contains($0) } ?? false }
            return isOfTimes ? .text("times: \(words.count)") : self
        case .integer(let number): return .integer(number > 1_000 ? (number + 50_000) / 100_000 : number)
        case .array(let elements):
            let comparables = elements.map(\.comparable)
            guard elements.first?.string == "nodes" else { return .array(comparables) }
            return .array(comparables.sorted { ($0.string ?? "") < ($1.string ?? "") })
        case .null, .error: return self
        }
    }
}

/// What two nodes, and somebody who forgets things, may ask in any order: mostly what makes sense.
private struct ScriptHistory {
    static let head = "{p:journal:0}:head"
    private static let layouts = ["two shards", "two shards", "two shards", "three shards"]
    private var random: SeededGenerator
    private var token: UInt64 = 1
    private var last: UInt64 = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// - Parameter head: the present state, so that most of what is asked goes with it.
    mutating func next(_ head: [String: String]) -> RedisCommand {
        token = head["leaderToken"].flatMap { UInt64($0) } ?? token
        last = head["last"].flatMap { UInt64($0) } ?? 0
        let commands = self.commands(lease: random.chance(1, in: 2) ? 0 : 10_000_000)
        switch Int.random(in: 0..<42, using: &random) {
        case 0: return RedisCommand("HSET", .text(commands.names.head), "history", "another 0 one")
        case 1: return RedisCommand("FLUSHALL")
        case 2..<4: return commands.exists
        case 4..<6: return commands.firstEpoch(random.next() >> 20)
        case 6..<12:
            return commands.requestLeadership(
                random.next() >> 1, epoch: random.chance(2, in: 3) ? 77 : nil, secret: 88,
                electionDelay: number(0, 20_000_000),
                readUntil: JournalPosition(leaderToken: number(token, token, 1), last: number(last, last, 0)))
        case 12..<25: return append(commands)
        case 25..<28: return commands.read(after: number(0, 0, last / 2, last))
        case 28..<33: return reinstate(commands)
        case 33..<36:
            return commands.transfer(number(token, token, 1), last: number(last, last, 3), to: node())
        case 36..<38: return commands.offer(number(token, token, 1), to: node())
        default:
            return JournalCommands.register(
                node(), at: "nodes", for: number(0, 10_000_000), layout: layout())
        }
    }

    private mutating func append(_ commands: JournalCommands) -> RedisCommand {
        let number = self.number(last + 1, last + 1, last + 1, last, last + 2)
        let isEmpty = random.chance(1, in: 5)
        return commands.append(
            JournalAppend(
                leaderToken: self.number(token, token, token, token, 1), number: number,
                bytes: isEmpty ? ByteBuffer() : ByteBuffer(bytes: random.bytes(upTo: 40) + [0, 13, 10]),
                oldestKept: 1, isWhole: random.chance(2, in: 3)))
    }

    private mutating func reinstate(_ commands: JournalCommands) -> RedisCommand {
        let before = number(token, token, token, 1)
        let term = JournalTerm(
            term: number(1_000, 5_000_000_000_000),
            lineage: Lineage(random.chance(1, in: 2) ? "" : "900 800"), epoch: 99, secret: 111)
        return commands.reinstate(
            random.next() >> 1, before: before, empties: random.chance(1, in: 2),
            isWhole: random.chance(1, in: 2), term)
    }

    private mutating func commands(lease: UInt64) -> JournalCommands {
        Self.commands(
            of: node(), layout: layout(), lease: lease,
            durability: random.chance(1, in: 3) ? .replica : .journal)
    }

    /// A batch with one byte.
    static func batch(_ number: UInt64, under token: UInt64) -> JournalAppend {
        JournalAppend(
            leaderToken: token, number: number, bytes: ByteBuffer(bytes: [1]), oldestKept: 1, isWhole: true)
    }

    static func commands(
        of node: String, layout: String = layouts[0], lease: UInt64 = 0,
        durability: JournalDurability = .journal
    ) -> JournalCommands {
        let limits = BrokerLimits(
            ageMax: 1, catchUpEntriesMax: 1, catchUpBytesMax: 1, idleMax: 1, channelsMax: 1)
        let names = JournalNames(prefix: "p:", of: limits, node: node, layout: layout)
        let journal = JournalLimits(lease: lease, retention: 1, bytesMax: 1, backlogMax: 1)
        return JournalCommands(names: names, limits: journal, durability: durability)
    }

    private mutating func node() -> String { random.chance(1, in: 2) ? "a" : "b" }

    private mutating func layout() -> String { Self.layouts.randomElement(using: &random) ?? "" }

    private mutating func number(_ numbers: UInt64...) -> UInt64 {
        numbers.randomElement(using: &random) ?? 0
    }
}
