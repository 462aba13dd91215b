import Foundation
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// The whole service over PostgreSQL, while the database can't do what it should.
@Suite("Storage over PostgreSQL in trouble", .timeLimit(.minutes(5)))
struct PostgresServiceTests {
    private func causes(_ running: RunningStorage) -> [String] {
        running.readiness.snapshot.probes.compactMap {
            if case .notReady(let cause) = $0.status { cause } else { nil }
        }
    }

    private func standby(_ name: String, of server: RunningPostgres) async throws {
        try server.query("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try server.query("SELECT pg_reload_conf()")
        try await eventually("the server has read its configuration") {
            try server.query("SHOW synchronous_standby_names") == name
        }
    }

    @Test(
        "D-18: while a standby is missing callers learn that the database stalls; afterwards edges connect again, waits have ended, and owners come back"
    )
    func stalled() async throws {
        try await RunningPostgres.with { server in
            try await RunningStorage.withCaller(
                ["--storage-database", server.url], engine: PostgresDatabase()
            ) { running, caller in
                let (anna, ben) = (Caller.user("anna", session: 1), Caller.user("ben", session: 2))
                try await caller.write([("n", "0")])
                try await caller.setLock()
                let token = try await caller.acquire(by: anna)
                let waiting = Task { try await caller.acquire(retry: true, by: ben) }
                try await standby("nobody", of: server)
                let refused = await failure { try await caller.write([("n", "1")]) }
                #expect(refused?.code == .storageNotAvailable)
                // Once a second storage cleans up. If that is the commit in doubt, this write has not
                // begun.
                let isInDoubt = refused?.reason == "the database stalls: the call may have taken place"
                #expect(isInDoubt || refused?.reason == "storage can't write or read at the moment")
                try await eventually("/ready names the cause") {
                    causes(running).contains {
                        $0.contains("a commit is in doubt") || $0.contains("taking the shard")
                    }
                }
                try await standby("", of: server)
                // The line of waiters is gone, and so is the link over which it was reported.
                await #expect(throws: (any Error).self) { try await waiting.value }
                try await caller.up()
                try await eventually("ready again") { causes(running).isEmpty }
                #expect(try await caller.metadata().items.map(\.value) == [isInDoubt ? "1" : "0"])
                #expect(try await caller.acquire(held: token, by: anna) == token)
                #expect(await failure { try await caller.acquire(by: ben) }?.code == .lockAcquireFailed)
                let failures = PrometheusExporter.text(running.metrics)
                #expect(!failures.contains("rtm_storage_failures_total{cause=\"stalled\"} 0\n"))
            }
        }
    }

    /// Runs the body with two directories, the first of which belongs to the node that should lead.
    private func withNodes(_ body: (String, String) async throws -> Void) async throws {
        try await withDirectory { directory in
            let folders = (0..<2).map { "\(directory)/\($0)" }
            for folder in folders {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true)
            }
            let host = ProcessInfo.processInfo.hostName
            let assignment = ShardAssignment(shards: 1, nodes: folders.map { "\(host):\($0)" })
            let isFirst = assignment.preferredLeader(of: 0) == "\(host):\(folders[0])"
            try await body(isFirst ? folders[0] : folders[1], isFirst ? folders[1] : folders[0])
        }
    }

    @Test("D-19: a second process follows: it is ready, refuses calls, and changes nothing for the first")
    func second() async throws {
        try await RunningPostgres.with { server in
            let arguments = ["--storage-database", server.url, "--storage-shards", "1"]
            try await withNodes { directory, otherDirectory in
                try await RunningStorage.with(directory, arguments, engine: PostgresDatabase()) { first in
                    let caller = try await first.caller()
                    try await caller.write([("n", "0")])
                    try await RunningStorage.with(otherDirectory, arguments, engine: PostgresDatabase()) {
                        second in
                        let other = try await second.caller(waits: false)
                        try await eventually("the second refuses") {
                            let refused = await failure { try await other.write([("n", "x")]) }
                            return refused?.code == .storageNotAvailable
                                && refused?.reason == "this storage node doesn't lead"
                        }
                        #expect(causes(second).isEmpty)
                        #expect(second.metrics.value("rtm_storage_leading") == 0)
                        try await caller.write([("n", "1")])
                        try await other.close()
                    }
                    try await caller.write([("n", "2")])
                    #expect(causes(first).isEmpty && first.metrics.value("rtm_storage_leading") == 1)
                    #expect(try await caller.metadata().majorRevision == 3)
                    try await caller.close()
                }
            }
        }
    }

    @Test("a URL that can't be used is reported")
    func configuration() async throws {
        await #expect(throws: (any Error).self) {
            try await RunningStorage.withCaller(
                ["--storage-database", "postgres://h/d?colour=blue"], engine: PostgresDatabase()
            ) {
                _, _ in
            }
        }
    }
}
