import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// From the commit of an app's own transaction to a subscriber, through the whole system.
@Suite(
    "Publishing from SQL, through the system", .serialized, .ends(withinMinutes: 2), .withPostgreSQL)
struct SQLPublishTests {
    private func with(
        _ body: (RunningPostgres, RTMClient, inout RTMEvents.Iterator) async throws -> Void
    ) async throws {
        try await RunningPostgres.with { server in
            try await RunningSystem.with(.standalone, edge: ["--storage-database", server.url]) {
                system in
                let address = try ServerAddress(system.address("edge"))
                let anna = try RTMClient(.init(servers: [address], appID: "dev", userID: "anna"))
                try await anna.login()
                var events = anna.events().makeAsyncIterator()
                try await anna.subscribe(to: "orders")
                try await body(server, anna, &events)
                await anna.close()
            }
        }
    }

    @Test("M-39, M-41: a subscriber receives what a transaction has published, when it has committed")
    func arrives() async throws {
        try await with { server, anna, events in
            try server.query("CREATE TABLE public.orders (id int PRIMARY KEY, state text)")
            try server.query(
                """
                BEGIN;
                INSERT INTO public.orders VALUES (1, 'lost');
                SELECT heliograph.heliograph_publish('dev', 'orders', 'lost');
                ROLLBACK;
                BEGIN;
                INSERT INTO public.orders VALUES (2, 'paid');
                SELECT heliograph.heliograph_publish('dev', 'orders', '{"order":2}', 'paid', 'shop',
                    history => true);
                SELECT heliograph.heliograph_publish('dev', 'anna', '\\x0102'::bytea, channel_type => 'user');
                COMMIT;
                """)
            // Channels lie in different shards, which are drained beside one another.
            var received: [MessageEvent] = []
            while received.count < 2, let event = await events.nextMessage() { received.append(event) }
            let order = received.first { $0.channelType == .message }
            #expect(order?.payload == .text("{\"order\":2}") && order?.customType == "paid")
            #expect(order?.publisher == "shop" && order?.channelName == "orders")
            let own = received.first { $0.channelType == .user }
            #expect(own?.payload == .data(Data([1, 2])) && own?.publisher == "server")
            let kept = try await anna.history(of: .channel("orders"))
            #expect(kept.messages.map(\.payload) == [.text("{\"order\":2}")])
        }
    }

    @Test("from the commit to the subscriber it takes a few milliseconds")
    func latency() async throws {
        try await with { server, _, events in
            let app = try PsqlSession(server)
            defer { app.end() }
            var times: [Duration] = []
            for number in 0..<200 {
                let begin = ContinuousClock.now
                try app.send("SELECT heliograph.heliograph_publish('dev', 'orders', '\(number)');")
                #expect(await events.nextMessage()?.payload == .text("\(number)"))
                times.append(ContinuousClock.now - begin)
            }
            times.sort()
            // Other tests may have the cores meanwhile; on a calm machine the median is below 5 ms.
            #expect(times[100] < .milliseconds(50) * timeScale, "\(times[100])")
        }
    }
}

/// An app that keeps its connection.
private final class PsqlSession {
    private let process = ChildProcess()
    private let input = Pipe()

    init(_ server: RunningPostgres) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", server.url]
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
    }

    func send(_ sql: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(sql)\n".utf8))
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
