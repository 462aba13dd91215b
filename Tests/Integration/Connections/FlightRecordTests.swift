import Foundation
import RTMClient
import RTMTestSupport
import Testing

/// What a client's record says after a real loss, and that no content is in it.
@Suite(.serialized, .ends(withinMinutes: 2)) struct FlightRecordTests {
    @Test("A record has the link's changes, calls with their errors, and frames, and none of their contents")
    func record() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let client = try system.client("anna")
            try await client.login()
            try await client.subscribe(to: "secret-channel")
            for _ in 0..<20 { try await client.publish("secret-text", to: .channel("secret-channel")) }
            let refusal = await code { try await client.publish("hi", to: .user("nobody")) }
            #expect(refusal == .channelReceiverOffline)
            let address = system.address("edge")
            try await system.process("rtm-edge").kill9()
            try await eventually("it is lost") { client.linkState != .connected }
            try await system.launchEdge(listen: address)
            try await eventually("it is back") { client.linkState == .connected }

            let record = await client.flightRecord()
            let states = record.entries.filter { $0.kind == .link }.map(\.name)
            #expect(states.prefix(3) == ["connecting", "connected", "disconnected"])
            #expect(states.last == "connected")
            let publishes = record.entries.filter { $0.kind == .calls && $0.name == "publish" }
            #expect(publishes.map(\.code) == [0, -11_033])
            #expect(publishes.first?.count == 20)
            let frames = record.entries.filter { $0.kind == .sent && $0.name == "Publish" }
            #expect(frames.reduce(0) { $0 + $1.count } == 21)
            #expect(frames.allSatisfy { $0.bytes > 20 * $0.count })
            #expect(record.entries.contains { $0.kind == .received && $0.name == "LoggedIn" && $0.bytes > 0 })
            let json = String(decoding: record.json(), as: UTF8.self)
            #expect(!json.contains("secret"))
            #expect(json.contains(#""userID":"anna""#))
            await client.close()
        }
    }
}
