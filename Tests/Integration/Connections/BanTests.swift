import RTMClient
import RTMModel
import RTMTestSupport
import Testing

/// Operators end sessions and shut users out (S-4, T14).
@Suite(.serialized, .ends(withinMinutes: 2)) struct BanTests {
    private func order(_ command: String, _ text: String, _ system: RunningSystem) async throws {
        let process = try ServiceProcess(
            "rtm-storage", [command, text, "--listen", system.address("storage")],
            directory: system.directory)
        let status = try await process.exit()
        #expect(status == 0, "\(process.log)")
    }

    @Test("T14: a session that an operator ends has failed, with kickedOutByServer, and others see the leave")
    func kick() async throws {
        try await RunningSystem.with(.fourProcesses, presence: ["--debounce", "0s"]) { system in
            try await system.launchEdge()
            try await system.withClients("anna", "ben") { clients in
                let (anna, ben) = (clients[0], clients[1])
                var seen = anna.events().makeAsyncIterator()
                var states = ben.events().makeAsyncIterator()
                try await anna.subscribe(to: "lobby")
                try await ben.subscribe(to: "lobby")
                try await order("kick", "dev/ben", system)
                let change = try #require(await states.nextLinkState(.failed))
                #expect(change.previousState == .connected && change.operation == .serverReject)
                #expect(change.reasonCode == .kickedOutByServer)
                var left = false
                while !left, let presence = await seen.nextPresence(in: "lobby") {
                    left = presence.change == .remoteLeave(userID: "ben")
                }
                #expect(left)
                // Nothing keeps the user out.
                try await ben.login()
                try await ben.subscribe(to: "lobby")
            }
        }
    }

    @Test("S-4, W-10: a user who is shut out can't log in, also after restarts, until an operator allows it")
    func ban() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            try await system.withClients("ben") { clients in
                let ben = clients[0]
                var states = ben.events().makeAsyncIterator()
                try await order("ban", "dev/ben/1h", system)
                #expect(await states.nextLinkState(.failed)?.reasonCode == .kickedOutByServer)
                try await isShutOut(ben)
                #expect(await states.nextLinkState(.failed)?.reasonCode == .loginRejected)
                try await system.process("rtm-storage").kill9()
                try await isShutOut(ben)
                try await system.launchStorage()
                try await system.process("rtm-edge").kill9()
                try await system.launchEdge(listen: system.address("edge"))
                try await eventually("the new edge knows it") {
                    await code { try await ben.login() } == .loginRejected
                }
                try await order("unban", "dev/ben", system)
                try await eventually("every loop of the edge knows it") {
                    await code { try await ben.login() } == nil
                }
            }
        }
    }

    private func isShutOut(_ client: RTMClient) async throws {
        do {
            try await client.login()
            Issue.record("the user is let in")
        } catch {
            #expect(error.code == .loginRejected && error.retryAfter == nil)
            #expect(error.reason.contains("may not log in"))
        }
    }
}
