#if PostgreSQL
    import Foundation
    import RTMModel
    import RTMProtocol
    import RTMServiceLink
    import RTMTestSupport
    import RTMWire
    import Testing

    @testable import RTMStorageServer

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

            func start(_ port: Int) async throws {
                let process = try host.start(
                    try folder(port), ["--database", server.url], port: port)
                processes.withLock { $0[port] = process }
                _ = try await process.listening()
            }

            private func folder(_ port: Int) throws -> String {
                let folder = directory + "/node-\(port)"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                return folder
            }

            /// Which node leads, as the database says.
            func leader() throws -> (port: Int, process: ServiceProcess) {
                let owner = try server.query("SELECT owner FROM heliograph.shards")
                let found = processes.present.first { owner.contains("/node-\($0.key)/") }
                let (port, process) = try #require(found, "\(owner) is none of the nodes")
                return (port, process)
            }

            var term: String { get throws { try server.query("SELECT term FROM heliograph.shards") } }

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

        /// Writes until it is acknowledged, however often a node goes meanwhile.
        private func insist(_ value: String, _ caller: RoutedCaller) async throws -> Int64 {
            var revision: Int64?
            try await eventually("\(value) is acknowledged", within: .seconds(30)) {
                revision = try? await caller.write([("k", value)])
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
                try await caller.ban("carol")
                for strike in 0..<2 {
                    for number in 0..<50 {
                        let value = "\(strike), \(number)"
                        acknowledged[try await insist(value, caller)] = value
                    }
                    let ups = try await caller.ups
                    let (_, process) = try nodes.leader()
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

        @Test("D-19: a node that stood still while another one took over keeps nothing when it wakes")
        func paused() async throws {
            try await with(2) { nodes, caller, log in
                var acknowledged: [Int64: String] = [:]
                acknowledged[try await insist("before", caller)] = "before"
                try await caller.ban("carol")
                let (port, process) = try nodes.leader()
                let stale = try await nodes.host.connection(to: .tcp(host: "127.0.0.1", port: port))
                process.signal(SIGSTOP)
                // The write lies in the socket of the node when it wakes.
                let late = Task { await failure { try await stale.write([("k", "stale")]) } }
                // The link to the node is still up: the other one's announcement moves the calls.
                let begun = try await caller.ups
                try await eventually("another node leads") { try await caller.ups > begun }
                acknowledged[try await insist("meanwhile", caller)] = "meanwhile"
                try await eventually("who is banned") { try await caller.banned == ["carol"] }
                process.signal(SIGCONT)
                _ = await late.value
                acknowledged[try await insist("after", caller)] = "after"
                try await check(acknowledged, caller, log)
                #expect(!log.storageEvents.contains { $0.items.map(\.value) == ["stale"] })
                #expect(try nodes.leader().port != port)
                // It follows now, and leads again when the other one has gone.
                try await nodes.leader().process.kill9()
                acknowledged[try await insist("again", caller)] = "again"
                #expect(try nodes.leader().port == port)
                try await check(acknowledged, caller, log)
                try await stale.close()
            }
        }

        @Test("D-19: when the node stops that leads, the next one serves at once, and starts change nothing")
        func stopped() async throws {
            try await with(2) { nodes, caller, log in
                var acknowledged: [Int64: String] = [:]
                for round in 0..<3 {
                    acknowledged[try await insist("before \(round)", caller)] = "before \(round)"
                    let (port, process) = try nodes.leader()
                    process.signal(SIGTERM)
                    #expect(try await process.exit() == 0)
                    let begin = ContinuousClock.now
                    acknowledged[try await insist("after \(round)", caller)] = "after \(round)"
                    // It has given the shard up, so nobody waits for the end of its lease.
                    #expect(ContinuousClock.now - begin < .seconds(1.5) * timeScale)
                    let (next, term) = (try nodes.leader().port, try nodes.term)
                    try await nodes.start(port)
                    acknowledged[try await insist("joined \(round)", caller)] = "joined \(round)"
                    #expect(try nodes.leader().port == next && nodes.term == term)
                }
                try await check(acknowledged, caller, log)
            }
        }
    }
#endif
