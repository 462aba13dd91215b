import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMProtocol
import RTMTestSupport
import Testing

/// A user has at most one session, and the newer login wins (S-10 … S-12).
@Suite(.serialized) struct TakeoverTests {
    @Test(
        "the older session ends as failed, serverReject, sameUidLogin, and doesn't come back by itself (S-11)",
        arguments: Deployment.allCases)
    func sameEdge(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            try await takeover(system, of: system.address("edge"))
        }
    }

    @Test("across edges, too")
    func acrossEdges() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let first = system.address("edge")
            try await system.launchEdge()
            try await takeover(system, of: first)
        }
    }

    @Test(
        "a client that comes back with its position gets what it missed of its inbox, in order, once (S-19)")
    func inboxContinues() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            try await system.withClients("alice") { clients in
                let first = try await RawConnection.open(system.address("edge"))
                try await first.logIn("bob")
                var answers = first.frames.makeAsyncIterator()
                var position: Rtm_Client_StreamPosition?
                while position == nil, let frame = await answers.next() {
                    if case .loggedIn(let answer) = frame.body { position = answer.inboxPosition }
                }
                for number in 0..<100 { try await clients[0].publish("\(number)", to: .user("bob")) }
                // This looks as if its socket had died before it read anything.
                let second = try await RawConnection.open(system.address("edge"))
                try await second.logIn("bob", inboxAfter: position)
                try await clients[0].publish("100", to: .user("bob"))
                var received: [String] = []
                for await frame in second.frames {
                    if case .loggedIn(let answer) = frame.body {
                        #expect(!answer.inboxGap && received.isEmpty)
                    }
                    guard case .publication(let publication) = frame.body else { continue }
                    received.append(String(decoding: publication.message.payload, as: UTF8.self))
                    if received.count == 101 { break }
                }
                #expect(received == (0...100).map(String.init))
                // The edge has closed the first connection.
                try await second.close()
            }
        }
    }

    /// One client logs in at the server, then the same user logs in at the system's newest edge.
    private func takeover(_ system: RunningSystem, of server: String) async throws {
        let address = try ServerAddress(server)
        try await system.withClients("alice") { clients in
            let older = try system.client("bob") { $0.servers = [address] }
            let newer = try system.client("bob")
            var states = older.events().makeAsyncIterator()
            var received = newer.events().makeAsyncIterator()
            try await older.login()
            try await newer.login()
            let change = try #require(await states.nextLinkState(.failed))
            #expect(change.previousState == .connected)
            #expect(change.operation == .serverReject && change.reasonCode == .sameUidLogin)
            try await clients[0].publish("for the newer one", to: .user("bob"))
            #expect(try #require(await received.nextMessage()).payload == .text("for the newer one"))
            #expect(newer.linkState == .connected && older.linkState == .failed)
            for client in [older, newer] { await client.close() }
        }
    }
}
