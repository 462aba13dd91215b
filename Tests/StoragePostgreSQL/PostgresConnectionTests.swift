import Foundation
import RTMTestSupport
import Testing

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// The connection in front of a real server.
@Suite("A connection to PostgreSQL")
struct PostgresConnectionTests {
    private static let timeout = Duration.seconds(10)

    private func failure(_ body: () throws(PostgresFailure) -> Void) -> PostgresFailure? {
        do throws(PostgresFailure) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("values come back as they were sent, in the binary format")
    func values() async throws {
        try await RunningPostgres.with { server in
            let connection = try PostgresConnection(.init(url: server.url))
            let rows = try connection.run(
                [
                    PostgresStatement(
                        "SELECT $1::int8, $2::text, $3::bytea, $4::int8, 7::int2, -8::int4, true",
                        .number(.max), .text("ä'\\"), .bytes([0, 255]), .integer(nil)),
                    PostgresStatement(
                        "SELECT u.* FROM unnest($1::int8[], $2::text[], $3::bytea[]) u",
                        .integers([1, nil, -3]), .texts(["a", "", nil]), .blobs([[0], [], nil])),
                    PostgresStatement("SELECT u FROM unnest($1::int8[]) u", .integers([])),
                ], within: Self.timeout)
            let row = try #require(rows[0].first)
            #expect(row.number(0) == .max && row.text(1) == "ä'\\" && row.blob(2) == [0, 255])
            #expect(row.isNull(3) && row.optionalNumber(3) == nil)
            #expect(row.integer(4) == 7 && row.integer(5) == -8 && row.integer(6) == 1)
            let elements = rows[1].map {
                "\($0.isNull(0) ? "-" : "\($0.integer(0))") \($0.text(1)) \($0.blob(2)) \($0.isNull(2))"
            }
            #expect(elements == ["1 a [0] false", "-  [] false", "-3  [] true"])
            #expect(rows[2].count == 0)
            connection.close()
        }
    }

    @Test("a refused statement stops those behind it, and rolls its transaction back")
    func refused() async throws {
        try await RunningPostgres.with { server in
            let connection = try PostgresConnection(.init(url: server.url))
            try connection.execute("CREATE TABLE public.t (a int8 PRIMARY KEY)", within: Self.timeout)
            func group(_ first: Int64, _ second: Int64) -> [PostgresStatement] {
                [
                    PostgresStatement("BEGIN"),
                    PostgresStatement("INSERT INTO public.t VALUES ($1)", .integer(first)),
                    PostgresStatement("INSERT INTO public.t VALUES ($1)", .integer(second)),
                    PostgresStatement("COMMIT"),
                ]
            }
            let found = failure { () throws(PostgresFailure) in
                _ = try connection.run(group(1, 1), within: Self.timeout)
            }
            #expect(found?.cause == .refused("23505") && found?.statement == 2)
            // What was never prepared because of the failure is prepared now.
            let rows = try connection.run(group(1, 2), within: Self.timeout)
            #expect(rows.map(\.tag) == ["BEGIN", "INSERT 0 1", "INSERT 0 1", "COMMIT"])
            #expect(rows[1].affected == 1)
            #expect(try server.query("SELECT count(*) FROM t") == "2")
            // A text with U+0000 is refused, and the connection is as good as before.
            let zero = failure { () throws(PostgresFailure) in
                _ = try connection.run(
                    [PostgresStatement("SELECT $1::text", .text("\0"))], within: Self.timeout)
            }
            #expect(zero?.cause == .refused("22021") && connection.isUsable)
            connection.close()
        }
    }

    @Test("a pipeline that is larger than all buffers, in both directions, ends")
    func large() async throws {
        try await RunningPostgres.with { server in
            let connection = try PostgresConnection(.init(url: server.url))
            let block = [UInt8](repeating: 7, count: 1 << 20)
            let statements = (0..<32).map { _ in
                PostgresStatement("SELECT $1::bytea", .bytes(block))
            }
            let rows = try connection.run(statements, within: .seconds(30))
            #expect(rows.count == 32 && rows.allSatisfy { $0.first?.blob(0).count == 1 << 20 })
            connection.close()
        }
    }

    @Test("what is late makes the connection useless, and a killed server is a lost connection")
    func lost() async throws {
        try await RunningPostgres.with { server in
            let slow = try PostgresConnection(.init(url: server.url))
            let late = failure { () throws(PostgresFailure) in
                _ = try slow.run([PostgresStatement("SELECT pg_sleep(30)")], within: .milliseconds(50))
            }
            #expect(late?.cause == .late && !slow.isUsable)
            let other = try PostgresConnection(.init(url: server.url))
            server.kill()
            let gone = failure { () throws(PostgresFailure) in
                _ = try other.run([PostgresStatement("SELECT 1")], within: Self.timeout)
            }
            #expect(gone != nil && !other.isUsable)
            let unreachable = failure { () throws(PostgresFailure) in
                _ = try PostgresConnection(.init(url: server.url))
            }
            #expect(unreachable?.cause == .lost)
            #expect(unreachable.map { StoreFailure($0).kind } == .unreachable)
        }
    }

    @Test("a commit whose wait for a standby was cancelled warns of it, and another one doesn't")
    func warned() async throws {
        try await RunningPostgres.with(["synchronous_standby_names": "standby"]) { server in
            let connection = try PostgresConnection(.init(url: server.url))
            _ = try connection.run(
                [PostgresStatement("SET synchronous_commit = local")], within: Self.timeout)
            try connection.execute("CREATE TABLE public.t (a int8)", within: Self.timeout)
            #expect(!connection.hasWarned)
            _ = try connection.run(
                [PostgresStatement("SET synchronous_commit = on")], within: Self.timeout)
            // A thread, because the connection blocks the one of this task.
            Thread.detachNewThread {
                let cancel = """
                    SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'
                    """
                while (try? server.query(cancel)) == "0" {}
            }
            let rows = try connection.run(
                [
                    PostgresStatement("BEGIN"), PostgresStatement("INSERT INTO public.t VALUES (1)"),
                    PostgresStatement("COMMIT"),
                ], within: Self.timeout)
            #expect(rows.last?.tag == "COMMIT" && connection.hasWarned)
            connection.close()
        }
    }

    @Test("of several hosts the one is taken that can be written, and a replica alone is refused")
    func hosts() async throws {
        try await RunningPostgres.with(["default_transaction_read_only": "on"]) { replica in
            try await RunningPostgres.with { primary in
                let places = [replica, primary].map { $0.directory.replacing("/", with: "%2F") }
                let both = "postgres://heliograph@\(places[0]),\(places[1])/postgres"
                let connection = try PostgresConnection(.init(url: both))
                let rows = try connection.run(
                    [PostgresStatement("SHOW unix_socket_directories")], within: Self.timeout)
                #expect(rows[0].first?.text(0) == primary.directory)
                connection.close()
                let alone = failure { () throws(PostgresFailure) in
                    _ = try PostgresConnection(.init(url: replica.url))
                }
                #expect(alone?.reason.contains("read-only") == true)
            }
        }
    }

    @Test("with TLS the certificate is checked as the URL says, and a server without one is refused")
    func tls() async throws {
        try await TestCertificate.with { certificate in
            try RunningPostgres.own(certificate.key)
            let port = try FreePorts.take(1)[0]
            let settings = [
                "listen_addresses": "127.0.0.1", "port": "\(port)", "ssl": "on",
                "ssl_cert_file": certificate.certificate, "ssl_key_file": certificate.key,
            ]
            try await RunningPostgres.with(settings) { _ in
                let address = "postgres://heliograph@127.0.0.1:\(port)/postgres?sslmode=verify-full"
                let known = address + "&sslrootcert=\(certificate.certificate)"
                let connection = try PostgresConnection(.init(url: known))
                let used = try connection.run(
                    [PostgresStatement("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")],
                    within: Self.timeout)
                #expect(used[0].first?.integer(0) == 1)
                connection.close()
                try await TestCertificate.with { other in
                    let refused = failure { () throws(PostgresFailure) in
                        _ = try PostgresConnection(
                            .init(url: address + "&sslrootcert=\(other.certificate)"))
                    }
                    #expect(refused?.reason.contains("certificate verify failed") == true)
                }
            }
        }
    }

    @Test("a pool that gives each transaction another session is refused, with what to do")
    func pool() async throws {
        try await RunningPostgres.with { server in
            try await server.withPool { socket in
                let refused = failure { () throws(PostgresFailure) in
                    _ = try PostgresConnection(.init(url: server.url(socket: socket)))
                }
                #expect(
                    refused?.reason.contains("pgbouncer") == true
                        || refused?.reason.contains("options") == true, "\(String(describing: refused))")
            }
        }
    }

    @Test("a URL that libpq can't read is a problem of the configuration, and the password isn't shown")
    func urls() throws {
        #expect(PostgresOptions.problem(of: "postgres://u:secret@h/d?sslmode=require") == nil)
        #expect(PostgresOptions.problem(of: "postgres://h1:5432,h2:5433/d") == nil)
        let problem = PostgresOptions.problem(of: "postgres://u:secret@h/d?colour=blue")
        #expect(problem?.contains("colour") == true && problem?.contains("secret") == false)
        var options = PostgresOptions(url: "postgres://u@h/d?target_session_attrs=any")
        options.password = "word"
        let parameters = try options.parameters()
        #expect(parameters["target_session_attrs"] == "read-write" && parameters["password"] == "word")
    }

    @Test(
        "the cause of a failure follows from the SQLSTATE",
        arguments: [
            ("53100", StoreFailure.Kind.full), ("53300", .unreachable), ("57P01", .unreachable),
            ("25006", .readOnly), ("40001", .locked), ("XX001", .corrupt), ("58030", .inputOutput),
            ("22021", .refused), ("42501", .refused),
        ])
    func causes(_ state: String, _ kind: StoreFailure.Kind) {
        #expect(StoreFailure.kind(of: state) == kind)
        let failure = StoreFailure(.init(cause: .refused(state), reason: "so"), doing: "it")
        #expect(failure.reason == "so (PostgreSQL \(state), \(kind.rawValue)), at: it")
    }
}
