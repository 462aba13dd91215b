import Foundation
import NIOCore
import NIOPosix
import RTMServiceKit
import RTMTestSupport
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// What a storage node says of itself in the database, and what it learns of the database.
@Suite("A storage node in the database", .timeLimit(.minutes(5)))
struct PostgresNodeTests {
    /// Under which address a node stands in the table, whose own one is this.
    private func listed(_ address: HostPort?, _ server: RunningPostgres, at url: String) throws -> String {
        let node = PostgresNode(
            PostgresOptions(url: url, node: "node", address: address, shards: 1))
        try node.start { _ in }
        defer { node.end() }
        return try server.query("SELECT address FROM heliograph.nodes WHERE name = 'node'")
    }

    @Test("a node that listens on all addresses is called where it reaches the database from")
    func everywhere() async throws {
        let own = try System.enumerateDevices().compactMap { $0.address }
            .first { $0.protocol == .inet && $0.ipAddress?.hasPrefix("127.") == false }?.ipAddress
        let port = try FreePorts.take(1)[0]
        try await RunningPostgres.with(["listen_addresses": "*", "port": "\(port)"]) { server in
            let rules = URL(fileURLWithPath: server.directory + "/data/pg_hba.conf")
            let handle = try FileHandle(forWritingTo: rules)
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("host all all all trust\n".utf8))
            try handle.close()
            try server.query("SELECT pg_reload_conf()")
            let everywhere = [
                HostPort(host: "0.0.0.0", port: 7740), HostPort(host: "::", port: 7740),
            ]
            for address in everywhere {
                // Only this machine would find it there.
                #expect(try listed(address, server, at: server.url) == "")
                let loopback = "postgres://heliograph@127.0.0.1:\(port)/postgres"
                #expect(try listed(address, server, at: loopback) == "")
                guard let own else { continue }
                let url = "postgres://heliograph@\(own):\(port)/postgres"
                #expect(try listed(address, server, at: url) == "\(own):7740")
            }
            let advertised = HostPort(host: "2001:db8::1", port: 7741)
            #expect(try listed(advertised, server, at: server.url) == "[2001:db8::1]:7741")
            #expect(try listed(nil, server, at: server.url) == "")
        }
    }

    @Test(
        "/ready says what an acknowledgement means, and follows the server, also for a role without rights"
    )
    func durability() async throws {
        try await RunningPostgres.with { server in
            try server.query("CREATE ROLE plain LOGIN")
            try server.query("CREATE DATABASE plain OWNER plain")
            let url = server.url(database: "plain").replacing("heliograph@", with: "plain@")
            try await RunningStorage.withCaller(["--storage-database", url], engine: PostgresDatabase()) {
                running, caller in
                func note() -> String {
                    running.readiness.snapshot.probes.first { $0.name.hasSuffix("lease") }?.note ?? ""
                }
                #expect(
                    note()
                        == "a write is acknowledged when the server has it in memory, and no standby is "
                        + "waited for (fsync=off, synchronous_commit=on)")
                #expect(running.metrics.value("rtm_storage_synchronous_standbys") == 0)
                try await eventually("the open connections are counted") {
                    let open = try server.query(
                        """
                        SELECT count(*) FROM pg_stat_activity WHERE application_name = 'heliograph'
                        """)
                    return open != "0"
                        && running.metrics.value("rtm_storage_connections").map { "\($0)" } == open
                }
                try await server.withStandby(isSynchronous: true) { _ in
                    try await eventually("the standby is named", within: .seconds(20)) {
                        note().contains("and 1 synchronous standby has it on disk")
                    }
                    #expect(running.metrics.value("rtm_storage_synchronous_standbys") == 1)
                    _ = try await caller.write([("n", "0")])
                    try server.query("ALTER ROLE plain SET synchronous_commit = 'off'")
                    // It counts for connections that begin then.
                    try server.query(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'")
                    try await eventually("the role's own setting is named", within: .seconds(20)) {
                        note().contains("no standby is waited for (fsync=off, synchronous_commit=off)")
                    }
                }
            }
        }
    }
}
