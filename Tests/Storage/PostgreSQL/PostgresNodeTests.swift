#if PostgreSQL
    import Foundation
    import NIOCore
    import NIOPosix
    import RTMServiceKit
    import RTMTestSupport
    import Testing

    @testable import RTMStorageServer

    /// What a storage node says of itself in the database.
    @Suite("A storage node in the database", .timeLimit(.minutes(5)))
    struct PostgresNodeTests {
        /// Under which address a node stands in the table, whose own one is this.
        private func listed(_ address: HostPort?, _ server: RunningPostgres, at url: String) throws -> String
        {
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
    }
#endif
