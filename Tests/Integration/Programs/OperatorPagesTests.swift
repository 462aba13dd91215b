import Foundation
import RTMClient
import RTMTestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What the admin port of a running edge shows of its users.
@Suite(.serialized, .ends(withinMinutes: 2)) struct OperatorPagesTests {
    private static let key = "a key of an operator"

    private struct Sessions: Decodable {
        struct Session: Decodable {
            struct Channel: Decodable, Hashable {
                let channel: String
                let type: String
                let offset: Int?
                let subscribed: Bool
            }

            let app: String
            let user: String
            let session: String
            let since: String
            let address: String
            let client: String
            let queuedBytes: Int
            let channelCount: Int
            let channels: [Channel]?
            let channelsOmitted: Int?
        }

        struct End: Decodable {
            let session: String
            let at: String
            let cause: String
        }

        let sessions: [Session]
        let next: String?
        let lastEnd: End?
    }

    private struct Levels: Decodable {
        struct Level: Decodable {
            let user: String
            let level: String
        }

        let levels: [Level]
    }

    private func ask(
        _ system: RunningSystem, _ page: String, _ method: String = "GET", key: String? = key
    ) async throws -> (status: Int, body: Data) {
        let address = system.address("rtm-edge admin")
        var request = URLRequest(url: try #require(URL(string: "http://\(address)\(page)")))
        request.httpMethod = method
        if let key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }

    private func read<Answer: Decodable>(
        _: Answer.Type, _ system: RunningSystem, _ page: String, _ method: String = "GET"
    ) async throws -> Answer {
        let answer = try await ask(system, page, method)
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        return try JSONDecoder().decode(Answer.self, from: answer.body)
    }

    private func withEdge(_ body: (RunningSystem) async throws -> Void) async throws {
        try await RunningSystem.with(.fourProcesses, edge: ["--admin-key", Self.key], body)
    }

    @Test("sessions are found by user, with their channels and positions, and the last end with its cause")
    func sessions() async throws {
        try await withEdge { system in
            try await system.withClients("anna", "ben") { clients in
                try await clients[0].subscribe(to: "lobby")
                for _ in 0..<3 { try await clients[1].publish("hello", to: .channel("lobby")) }
                #expect(try await ask(system, "/sessions", key: nil).status == 401)
                #expect(try await ask(system, "/sessions?limit=2000").status == 400)
                let page = "/sessions?app=dev&user=anna"
                let found = try await read(Sessions.self, system, page)
                let anna = try #require(found.sessions.first)
                #expect(found.sessions.count == 1 && found.next == nil && found.lastEnd == nil)
                #expect(anna.app == "dev" && anna.user == "anna")
                #expect(anna.address == "127.0.0.1" && anna.client == "RTMClient (Swift)", "\(anna)")
                #expect(anna.since.hasPrefix("20") && anna.channelCount == 2 && anna.channelsOmitted == 0)
                let lobby = anna.channels?.first { $0.channel == "lobby" }
                // Three messages, and the joins of two users at most.
                #expect(lobby?.type == "message" && lobby?.subscribed == true, "\(anna)")
                #expect((3...5).contains(lobby?.offset ?? 0), "\(anna)")
                try await clients[0].logout()
                try await eventually("the end is there") {
                    let found = try await read(Sessions.self, system, page)
                    return found.sessions.isEmpty && found.lastEnd?.cause == "loggedOut"
                        && found.lastEnd?.session == anna.session
                }
            }
        }
    }

    @Test("page by page every session of every loop is there once")
    func pages() async throws {
        try await withEdge { system in
            let names = (0..<23).map { "user\($0)" }
            let clients = try names.map { try system.client($0) }
            for client in clients { try await client.login() }
            var users: [String] = []
            var next: String?
            repeat {
                let after = next.map { "&after=\($0)" } ?? ""
                let page = try await read(Sessions.self, system, "/sessions?limit=5\(after)")
                #expect(page.sessions.count <= 5 && page.sessions.allSatisfy { $0.channels == nil })
                users += page.sessions.map(\.user)
                next = page.next
            } while next != nil
            #expect(users.sorted() == names.sorted())
            for client in clients { await client.close() }
        }
    }

    @Test("the level of one user is raised, listed and ended, and the log has the user's requests meanwhile")
    func level() async throws {
        try await withEdge { system in
            try await system.withClients("anna", "ben") { clients in
                let page = "/log-level?app=dev&user=anna"
                #expect(try await ask(system, page + "&level=loud", "POST").status == 400)
                #expect(try await ask(system, page, "DELETE").status == 404)
                let raised = try await read(Levels.self, system, page + "&level=debug&for=10m", "POST")
                #expect(raised.levels.map(\.user) == ["anna"] && raised.levels.map(\.level) == ["debug"])
                for client in clients { try await client.subscribe(to: "lobby") }
                let process = try system.process("rtm-edge")
                var requests: [Substring] = []
                try await eventually("the subscribe is in the log") {
                    requests = process.log.split(separator: "\n")
                        .filter { $0.contains("\"message\":\"request\"") }
                    return requests.contains { $0.contains("\"kind\":\"subscribe\"") }
                }
                #expect(requests.allSatisfy { $0.contains("\"user\":\"anna\"") })
                #expect(try await read(Levels.self, system, "/log-level").levels.count == 1)
                #expect(try await read(Levels.self, system, page, "DELETE").levels.isEmpty)
            }
        }
    }
}
