import Foundation
import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// Operators end sessions and shut users out (S-4, T14).
@Suite(.serialized, .ends(withinMinutes: 2)) struct BanTests {
    /// Returns what the command prints.
    @discardableResult
    private func order(
        _ command: String, _ text: String?, _ system: RunningSystem, _ options: [String] = [],
        status: Int32 = 0
    ) async throws -> String {
        let isStandalone = !system.address("rtm-standalone admin").isEmpty
        let access =
            isStandalone
            ? ["--data", system.directory.appending(path: "data").path]
            : ["--listen", system.address("storage")]
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = ServiceProcess.executables.appending(
            path: isStandalone ? "rtm-standalone" : "rtm-storage")
        process.arguments = [command] + (text.map { [$0] } ?? []) + options + access
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == status, "\(printed)")
        return printed
    }

    @Test(
        "W-23: commands say what they found and did, bans are listed, and a line in the log says who, whom and why",
        arguments: Deployment.allCases)
    func findings(deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            let admin = system.address(deployment == .standalone ? "rtm-standalone admin" : "rtm-edge admin")
            try await eventually("the edge reaches storage") {
                try await system.get("http://\(admin)/ready").body.contains(
                    #""name":"edge storage","ready":true"#)
            }
            let nobody = "The user \"ben\" of the app \"dev\" was not logged in.\n"
            #expect(try await order("kick", "dev/ben", system, status: 1) == nobody)
            #expect(
                try await order("kick", "nope/ben", system, status: 1) == "No edge knows the app \"nope\".\n")
            #expect(try await order("bans", nil, system) == "Nobody is banned.\n")
            try await system.withClients("ben") { clients in
                var states = clients[0].events().makeAsyncIterator()
                let kick = try await order(
                    "kick", "dev/ben", system, ["--by", "ann", "--reason", "too loud", "--json"])
                #expect(kick.contains(#""appKnown":true,"sessionsEnded":1,"#))
                #expect(await states.nextLinkState(.failed)?.reasonCode == .kickedOutByServer)
                try await clients[0].login()
                let ban = try await order("ban", "dev/ben/1h", system, ["--by", "ann", "--reason", "spam"])
                #expect(ban.contains("One session of the user \"ben\""))
                #expect(await states.nextLinkState(.failed)?.reasonCode == .kickedOutByServer)
                try await isShutOut(clients[0])
            }
            let bans = try await order("bans", nil, system)
            #expect(bans.hasPrefix("dev/ben  since 20") && bans.hasSuffix("  by ann  spam\n"))
            let again = try await order("ban", "dev/ben/2h", system)
            #expect(again.contains(" by ann (spam) was to end at "))
            #expect(try await order("unban", "dev/ben", system).contains("may log in again"))
            #expect(try await order("unban", "dev/ben", system, status: 1).contains("was not banned"))
            let program = deployment == .standalone ? "rtm-standalone" : "rtm-storage"
            let line = try system.process(program).log.split(separator: "\n").first {
                $0.contains("\"an operator's command\"") && $0.contains("too loud")
            }
            let audit = try #require(line)
            for part in [#""by":"ann""#, #""user":"ben""#, #""command":"kick""#, #""sessions":1"#] {
                #expect(audit.contains(part), "\(part)")
            }
            let metrics = try await system.get("http://\(admin)/metrics").body
            #expect(metrics.contains(#"rtm_edge_login_refusals_total{reason="banned"} 1"#))
            #expect(metrics.contains(#"rtm_edge_login_refusals_total{reason="rate"} 0"#))
        }
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
                    left = presence.change == .left("ben")
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
