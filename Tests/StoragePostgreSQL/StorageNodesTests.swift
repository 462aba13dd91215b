import Foundation
import RTMModel
import RTMProtocol
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// Real `rtm-storage` processes over one real PostgreSQL.
@Suite("Storage nodes that share a database", .serialized, .ends(withinMinutes: 5))
struct StorageNodesTests {
    /// The nodes by the port at which they are called.
    private final class Nodes: Sendable {
        let host: LogHost
        let server: RunningPostgres
        private let directory: String
        private let processes = Shared<[Int: ServiceProcess]>([:])

        init(_ host: LogHost, _ server: RunningPostgres, _ directory: String) {
            (self.host, self.server, self.directory) = (host, server, directory)
        }

        func start(_ port: Int) async throws { _ = try await launch(port).listening() }

        /// Starts a node without waiting for anything.
        func launch(_ port: Int) throws -> ServiceProcess {
            let process = try host.start(
                try folder(port), ["--database", server.url, "--apps", "app"], port: port)
            processes.withLock { $0[port] = process }
            return process
        }

        private func folder(_ port: Int) throws -> String {
            let folder = directory + "/node-\(port)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            return folder
        }

        /// Which node leads a shard, as the database says.
        /// A shard that moves has none for a moment.
        func leader(of shard: Int = 0) async throws -> (port: Int, process: ServiceProcess) {
            var port: Int?
            try await eventually("the shard has a leader") {
                port = try owner(of: shard)
                return port != nil
            }
            let found = try #require(port)
            return (found, try #require(processes.present[found]))
        }

        /// Nil while no node has the shard.
        func owner(of shard: Int) throws -> Int? {
            let owner = try server.query("SELECT owner FROM heliograph.shards WHERE shard = \(shard)")
            return processes.present.keys.first { owner.contains("/node-\($0)/") }
        }

        /// How many shards each node leads, in no order.
        var shares: [Int] {
            get throws {
                let ports = try (0..<4).compactMap { try owner(of: $0) }
                return Dictionary(grouping: ports) { $0 }.map(\.value.count)
            }
        }

        var terms: [String] {
            get throws {
                try server.query(
                    "SELECT string_agg(term::text, ',' ORDER BY shard) FROM heliograph.shards"
                )
                .split(separator: ",").map(String.init)
            }
        }

        func process(otherThan port: Int) throws -> ServiceProcess {
            try #require(processes.present.first { $0.key != port }?.value)
        }

        var ports: [Int] { processes.present.keys.sorted() }

        func log(_ port: Int) -> String { processes.present[port]?.log ?? "" }

        func killAll() { for process in processes.present.values { process.signal(SIGKILL) } }
    }

    private func with(
        _ count: Int, _ body: (Nodes, RoutedCaller, LogReader) async throws -> Void
    ) async throws {
        try await RunningPostgres.with { server in
            try await withDirectory { directory in
                try await LogHost.with { host in
                    let log = try await host.reader([.message("lobby")])
                    let nodes = Nodes(host, server, directory)
                    let ports = try FreePorts.take(count)
                    for port in ports { try await nodes.start(port) }
                    // One address is enough: the nodes name the others.
                    let last = try #require(ports.last)
                    let caller = try await host.router(to: .tcp(host: "127.0.0.1", port: last))
                    do {
                        try await body(nodes, caller, log)
                    } catch {
                        for port in ports { Issue.record("node \(port): \(nodes.log(port))") }
                        nodes.killAll()
                        throw error
                    }
                    nodes.killAll()
                    try await caller.close()
                    try await log.close()
                }
            }
        }
    }

    /// Another caller bans a user: who has banned somebody counts as an operator and isn't asked.
    private func ban(_ user: String, _ nodes: Nodes) async throws {
        let port = try await nodes.leader().port
        let other = try await nodes.host.router(to: .tcp(host: "127.0.0.1", port: port))
        try await other.ban(user)
        try await other.close()
    }

    /// Writes until it is acknowledged, however often a node goes meanwhile.
    private func insist(
        _ value: String, _ caller: RoutedCaller, in channel: String = "lobby"
    ) async throws -> Int64 {
        var revision: Int64?
        try await eventually("\(value) is acknowledged", within: .seconds(30)) {
            revision = try? await caller.write([("k", value)], to: channel)
            return revision != nil
        }
        return try #require(revision)
    }

    private func check(
        _ acknowledged: [Int64: String], _ caller: RoutedCaller, _ log: LogReader
    ) async throws {
        let set = try await caller.metadata()
        #expect(set.majorRevision >= acknowledged.keys.max() ?? 0, "an acknowledged write is lost")
        try await eventually("every change is announced") {
            log.storageEvents.last?.majorRevision == set.majorRevision
        }
        let events = log.storageEvents
        #expect(events.map(\.majorRevision) == Array(1...set.majorRevision), "each once, in order")
        for event in events {
            guard let expected = acknowledged[event.majorRevision] else { continue }
            #expect(event.items.map(\.value) == [expected])
        }
    }

    @Test(
        "D-19: of three nodes the one is killed that leads, twice: another one serves within 3 s, with all that was acknowledged"
    )
    func killed() async throws {
        try await with(3) { nodes, caller, log in
            var acknowledged: [Int64: String] = [:]
            var outages: [Duration] = []
            let anna = Caller.user("anna", session: 1)
            try await caller.setLock()
            let token = try await caller.acquire(by: anna)
            try await ban("carol", nodes)
            for strike in 0..<2 {
                for number in 0..<50 {
                    let value = "\(strike), \(number)"
                    acknowledged[try await insist(value, caller)] = value
                }
                let ups = try await caller.ups
                let (_, process) = try await nodes.leader()
                try await process.kill9()
                let begin = ContinuousClock.now
                acknowledged[try await insist("after \(strike)", caller)] = "after \(strike)"
                outages.append(ContinuousClock.now - begin)
                #expect(try await caller.ups > ups)
                try await eventually("who is banned") { try await caller.banned == ["carol"] }
                // The lock waits for its owner, as after a restart.
                #expect(
                    await failure { try await caller.acquire(by: .user("ben", session: 2)) }?.code
                        == .lockAcquireFailed)
                #expect(try await caller.acquire(held: token, by: anna) == token)
            }
            // A machine that is busy with other tests may delay one of the two.
            #expect(try #require(outages.min()) <= .seconds(3) * timeScale, "\(outages)")
            try await check(acknowledged, caller, log)
        }
    }

    /// Whether none of the process's threads runs.
    private func isStopped(_ process: ServiceProcess) throws -> Bool {
        let threads = "/proc/\(process.pid)/task"
        return try FileManager.default.contentsOfDirectory(atPath: threads).allSatisfy { thread in
            let status = try String(contentsOfFile: "\(threads)/\(thread)/status", encoding: .utf8)
            return status.contains("State:\tT")
        }
    }

    @Test("D-19: a node that stood still while another one took over keeps nothing when it wakes")
    func paused() async throws {
        try await with(2) { nodes, caller, log in
            var acknowledged: [Int64: String] = [:]
            acknowledged[try await insist("before", caller)] = "before"
            try await ban("carol", nodes)
            let (port, process) = try await nodes.leader()
            let stale = try await nodes.host.connection(to: .tcp(host: "127.0.0.1", port: port))
            process.signal(SIGSTOP)
            // On a busy machine its threads run on for a while.
            try await eventually("the node stands still") { try isStopped(process) }
            // The write lies in the socket of the node when it wakes.
            let late = Task { await failure { try await stale.write([("k", "stale")]) } }
            // The link to the node is still up: the other one's announcement moves the calls.
            let begun = try await caller.ups
            try await eventually("another node leads") { try await caller.ups > begun }
            acknowledged[try await insist("meanwhile", caller)] = "meanwhile"
            try await eventually("who is banned") { try await caller.banned == ["carol"] }
            #expect(try await nodes.leader().port != port)
            process.signal(SIGCONT)
            _ = await late.value
            acknowledged[try await insist("after", caller)] = "after"
            try await check(acknowledged, caller, log)
            #expect(!log.storageEvents.contains { $0.items.map(\.value) == ["stale"] })
            // It follows now, or has its share again, and leads everything when the other one has gone.
            try await nodes.process(otherThan: port).kill9()
            acknowledged[try await insist("again", caller)] = "again"
            #expect(try await nodes.leader().port == port)
            try await check(acknowledged, caller, log)
            try await stale.close()
        }
    }

    @Test("D-19: when a node stops, the next one serves at once, and who comes back gets its share again")
    func stopped() async throws {
        try await with(2) { nodes, caller, log in
            var acknowledged: [Int64: String] = [:]
            var isSeamless: [Bool] = []
            for round in 0..<2 {
                try await eventually("each has half of the shards", within: .seconds(60)) {
                    try nodes.shares == [2, 2]
                }
                acknowledged[try await insist("before \(round)", caller)] = "before \(round)"
                let (port, process) = try await nodes.leader()
                process.signal(SIGTERM)
                let leaderlessCalls = try await caller.leaderlessCalls
                while !process.hasExited {
                    if let revision = try? await caller.write([("k", "while")]) {
                        acknowledged[revision] = "while"
                    }
                }
                // The links to the node stay until the next one has announced itself.
                isSeamless.append(try await caller.leaderlessCalls == leaderlessCalls)
                #expect(try await process.exit() == 0)
                let begin = ContinuousClock.now
                acknowledged[try await insist("after \(round)", caller)] = "after \(round)"
                // It has given the shard up, so nobody waits for the end of its lease.
                #expect(ContinuousClock.now - begin < .seconds(1.5) * timeScale)
                try await nodes.start(port)
            }
            // A machine that is busy with other tests may delay one of the two.
            #expect(isSeamless.contains(true))
            try await check(acknowledged, caller, log)
        }
    }

    @Test("D-19: a node that is started before its database waits for it")
    func early() async throws {
        try await with(1) { nodes, caller, log in
            let before = try await insist("before", caller)
            let (port, process) = try await nodes.leader()
            process.signal(SIGTERM)
            #expect(try await process.exit() == 0)
            nodes.server.kill()
            let fresh = try nodes.launch(port)
            try await eventually("the node says what it waits for", within: .seconds(30)) {
                fresh.log.contains("the database can't be reached")
            }
            try await nodes.server.start()
            _ = try await fresh.listening()
            let after = try await insist("after", caller)
            try await check([before: "before", after: "after"], caller, log)
        }
    }

    @Test("W-23, D-19: operators' programs find the leader of the app's shard from any node")
    func operators() async throws {
        try await with(2) { nodes, _, _ in
            try await eventually("each has half of the shards", within: .seconds(60)) {
                try nodes.shares == [2, 2]
            }
            for (place, port) in nodes.ports.enumerated() {
                let ban = try order(["ban", "app/user \(place)/10m"], at: port)
                #expect(
                    ban.contains("may not log in until") && ban.contains("was not logged in"), "\(ban)")
            }
            for port in nodes.ports {
                let bans = try order(["bans"], at: port)
                #expect(bans.contains("app/user 0") && bans.contains("app/user 1"), "\(bans)")
            }
        }
    }

    /// What a command prints.
    private func order(_ arguments: [String], at port: Int) throws -> String {
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = ServiceProcess.executables.appending(path: "rtm-storage")
        process.arguments = arguments + ["--listen", "127.0.0.1:\(port)"]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return printed
    }

    /// What happened in one channel of each shard while nodes came and went.
    private struct Course {
        var history = RevisionHistory()
        var refused: Set<ErrorCode> = []
        /// The longest time in which a client had no answer but refusals.
        var gap = Duration.zero
    }

    private static let clients = 2

    /// Compares, sets and reads, one call after the other, until `isOver`.
    private func work(
        _ client: Int, in channel: String, from revision: Int64, _ caller: RoutedCaller,
        _ course: Shared<Course>, until isOver: Shared<Bool>
    ) async {
        var known = revision
        var last = ContinuousClock.now
        var number = 0
        while !isOver.present {
            number += 1
            let begin = ContinuousClock.now
            let write = (compared: known, value: "\(client) \(number)")
            do {
                if number % 3 == 0 {
                    let set = try await caller.metadata(of: channel)
                    known = set.majorRevision
                    let value = set.items.first?.value
                    course.withLock { [known] in
                        $0.history.add(.init(begin: begin, outcome: .saw(known, value: value)))
                    }
                } else {
                    known = try await caller.write(
                        .metadataUpdate, [("k", write.value)], to: channel, major: known)
                    course.withLock { [known] in
                        $0.history.add(.init(begin: begin, outcome: .wrote(known), write: write))
                    }
                }
            } catch {
                let refusal = error as? RTMError
                let present = refusal?.conflict?.majorRevision
                course.withLock { course in
                    if present == nil, let refusal { course.refused.insert(refusal.code) }
                    guard number % 3 != 0 else { return }
                    let outcome = present.map { RevisionHistory.Outcome.saw($0, value: nil) }
                    course.history.add(.init(begin: begin, outcome: outcome ?? .unanswered, write: write))
                }
                guard let present else {
                    try? await eventually("every shard has a leader") { try await caller.isWhole }
                    continue
                }
                known = present
            }
            let now = ContinuousClock.now
            course.withLock { [last] in $0.gap = max($0.gap, now - last) }
            last = now
        }
        course.withLock { [last] in $0.gap = max($0.gap, .now - last) }
    }

    /// The courses of one channel of each shard during the body. All that was seen of each fits an order.
    private func courses(
        _ prefix: String, _ caller: RoutedCaller, during body: () async throws -> Void
    ) async throws -> [Course] {
        let names = (0..<4).compactMap { shard in
            (0..<100).map { "\(prefix) \($0)" }.first {
                ChannelKey.message($0).storageShard(among: 4) == shard
            }
        }
        var first: [Int64] = []
        for name in names { first.append(try await insist("0", caller, in: name)) }
        let courses = names.map { _ in Shared(Course()) }
        let isOver = Shared(false)
        let outcome = await withTaskGroup(of: Void.self) { group in
            for (place, revision) in zip(zip(names, courses), first) {
                let (name, course) = place
                for client in 0..<Self.clients {
                    group.addTask {
                        await work(client, in: name, from: revision, caller, course, until: isOver)
                    }
                }
            }
            var outcome = Result<Void, any Error>.success(())
            do {
                try await written(courses)
                try await body()
                try await written(courses)
            } catch {
                outcome = .failure(error)
            }
            isOver.withLock { $0 = true }
            return outcome
        }
        try outcome.get()
        for (shard, name) in names.enumerated() {
            let set = try await caller.metadata(of: name)
            let history = courses[shard].present.history
            #expect(
                history.violations(from: (revision: first[shard], value: "0"), to: set.majorRevision)
                    == [])
        }
        return courses.map(\.present)
    }

    /// Waits until something was written to every channel.
    private func written(_ courses: [Shared<Course>]) async throws {
        let counts = courses.map { $0.present.history.writtenCount + 1 }
        try await eventually("every channel is written to") {
            zip(courses, counts).allSatisfy { $0.present.history.writtenCount >= $1 }
        }
    }

    @Test(
        "D-17, D-19: of three nodes one is killed and comes back: the channels of the others notice nothing, its own answer within 3 s, and all that is seen fits one order"
    )
    func shares() async throws {
        try await with(3) { nodes, caller, _ in
            try await eventually("each has its share", within: .seconds(90)) {
                try nodes.shares.sorted() == [1, 1, 2]
            }
            let (port, process) = try await nodes.leader(of: 1)
            let own = try (0..<4).filter { try nodes.owner(of: $0) == port }
            let killed = try await courses("killed", caller) {
                try await process.kill9()
                try await eventually("every shard has a leader that lives") {
                    try (0..<4).allSatisfy { try nodes.owner(of: $0).map { $0 != port } == true }
                }
                try await eventually("every shard serves") { try await caller.isWhole }
            }
            for (shard, course) in killed.enumerated() {
                if own.contains(shard) {
                    #expect(course.gap <= .seconds(3) * timeScale, "shard \(shard): \(course.gap)")
                } else {
                    #expect(course.refused.isEmpty && course.gap < .seconds(1) * timeScale)
                }
            }
            let terms = try nodes.terms
            let returned = try await courses("returned", caller) {
                try await nodes.start(port)
                try await eventually("each has its share again", within: .seconds(60)) {
                    try nodes.shares.sorted() == [1, 1, 2]
                }
            }
            let moved = try zip(terms, nodes.terms).map { $0 != $1 }
            #expect(moved.contains(true))
            for (hasMoved, course) in zip(moved, returned) {
                #expect(hasMoved || course.refused.isEmpty)
                // Where the next leader waited for the end of a lease, it would take longer.
                #expect(course.gap < .seconds(1) * timeScale, "\(course.gap)")
            }
        }
    }

    @Test(
        "M-39: what apps publish in their transactions arrives once and in order while nodes are killed")
    func published() async throws {
        try await with(2) { nodes, caller, log in
            _ = try await insist("a node leads", caller)
            let shard = ChannelKey.message("lobby").storageShard(among: 4)
            let (isOver, running) = (Shared(false), Shared(3))
            let committed = Shared<[[String]]>([[], [], []])
            for app in 0..<3 {
                let server = nodes.server
                Thread.detachNewThread {
                    do {
                        let texts = try Self.publish(app, server) { isOver.present }
                        committed.withLock { $0[app] = texts }
                    } catch {
                        Issue.record("app \(app): \(error)")
                    }
                    running.withLock { $0 -= 1 }
                }
            }
            for _ in 0..<5 {
                let seen = log.messages.count
                try await eventually("messages arrive", within: .seconds(30)) {
                    log.messages.count >= seen + 100
                }
                let (port, process) = try await nodes.leader(of: shard)
                try await process.kill9()
                try await nodes.start(port)
            }
            isOver.withLock { $0 = true }
            try await eventually("the apps have ended") { running.present == 0 }
            let expected = committed.present
            let count = expected.map(\.count).reduce(0, +)
            try await eventually("every message arrives", within: .seconds(30)) {
                log.messages.count >= count
            }
            for app in 0..<3 {
                #expect(
                    log.messages.filter { $0.hasPrefix("\(app).") } == expected[app],
                    "each once, in the order of its app")
            }
            #expect(log.messages.count == count)
        }
    }

    /// Publishes in one transaction after the other, of which some are rolled back. Returns what was
    /// committed.
    private static func publish(
        _ app: Int, _ server: RunningPostgres, until isOver: () -> Bool
    ) throws -> [String] {
        let session = try AppSession(server)
        defer { session.close() }
        var (committed, number) = ([String](), 0)
        while !isOver() {
            try session.begin()
            let texts = (0..<3).map { "\(app).\(number + $0)" }
            for text in texts { try session.publish(text) }
            number += 3
            guard number % 5 > 0 else {
                try session.run("ROLLBACK")
                continue
            }
            try session.commit()
            committed += texts
        }
        return committed
    }
}
