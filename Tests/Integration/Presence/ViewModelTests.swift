import RTMTestSupport
import Testing

@testable import RTMClient

/// What a view shows of a client, against the real system.
@MainActor @Suite(.serialized, .ends(withinMinutes: 2)) struct ViewModelTests {
    @Test("The link: connected, lost with its reason, back, and idle when the client is closed")
    func link() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let client = try system.client("anna")
            let model = LinkModel(client)
            #expect(model.state == .idle)
            #expect(model.reason == "")
            var reported: [RTMLinkState] = []
            model.onChange = { [unowned model] in reported.append(model.state) }
            try await client.login()
            try await eventually("it is connected") { model.isConnected }
            #expect(reported.last == .connected)
            let address = system.address("edge")
            try await system.process("rtm-edge").kill9()
            try await eventually("it is lost") { model.state == .disconnected }
            #expect(model.lastChange?.currentState == .disconnected)
            #expect(!model.reason.isEmpty)
            try await system.launchEdge(listen: address)
            try await eventually("it is back") { model.isConnected }
            await client.close()
            try await eventually("it is idle") { model.state == .idle }
        }
    }

    @Test("A roster: unknown, then everybody with states, each change, and unknown after the unsubscribe")
    func roster() async throws {
        try await RunningSystem.with(.standalone, presence: ["--debounce", "0s"]) { system in
            try await system.withClients("anna", "ben") { clients in
                let (anna, ben) = (clients[0], clients[1])
                let model = RosterModel(anna, of: "lobby")
                #expect(!model.isKnown)
                try await anna.subscribe(to: "lobby", features: [.presence, .message])
                try await eventually("she sees herself") { model.isKnown && model.users == ["anna"] }
                try await ben.subscribe(to: "lobby")
                try await ben.setState(["mood": "good"], in: "lobby")
                try await eventually("she sees Ben's mood") { model.members["ben"] == ["mood": "good"] }
                #expect(model.users == ["anna", "ben"])
                try await ben.unsubscribe(from: "lobby")
                try await eventually("Ben is gone") { model.users == ["anna"] }
                try await anna.unsubscribe(from: "lobby")
                try await eventually("nobody is known") { !model.isKnown && model.users.isEmpty }
            }
        }
    }

    @Test("A view that goes away is told nothing more, and holds nothing")
    func released() async throws {
        try await RunningSystem.with(.standalone) { system in
            let client = try system.client("anna")
            weak var gone: LinkModel?
            weak var goneRoster: RosterModel?
            do {
                let (link, roster) = (LinkModel(client), RosterModel(client, of: "lobby"))
                (gone, goneRoster) = (link, roster)
                #expect(client.hub.consumerCount == 1)
            }
            #expect(gone == nil)
            #expect(goneRoster == nil)
            try await eventually("the hub has no consumer") { client.hub.consumerCount == 0 }
            try await client.login()
            await client.close()
        }
    }
}
