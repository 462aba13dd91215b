import Foundation
import RTMClient
import RTMModel
import RTMProtocol
import RTMTestSupport
import Testing

/// A client that lost the connection before the answer sends its message again.
@Suite struct PublishAgainTests {
    /// A link that stalls may hold the first copy back until the receiver is there (simulation, seed 40514).
    @Test("M-31: to somebody offline has an unknown fate, unless it is sent for the first time")
    func notStored() async throws {
        try await RunningSystem.with(.standalone) { system in
            let edge = system.address("edge")
            let first = try await publish("m", sequence: 1, isAgain: false, isStored: false, at: edge)
            #expect(first == .channelReceiverOffline)
            let again = try await publish("m", sequence: 1, isAgain: true, isStored: false, at: edge)
            #expect(again == .channelPublishMessageFailed)
        }
    }

    @Test(
        "M-25, M-32: a message for somebody offline is stored once, however often its client sends it",
        .ends(withinMinutes: 3))
    func offline() async throws {
        try await RunningSystem.with(.standalone) { system in
            for isAgain in [false, true, true] {
                #expect(
                    try await publish("for later", sequence: 1, isAgain: isAgain, at: system.address("edge"))
                        == .channelReceiverOfflineButMessageStoreSucceeded)
            }
            #expect(
                try await publish("and this", sequence: 2, isAgain: false, at: system.address("edge"))
                    == .channelReceiverOfflineButMessageStoreSucceeded)
            try await system.withClients("bob") { clients in
                // Now he is online: the message is delivered, and still stored once.
                let refusal = try await publish(
                    "for later", sequence: 1, isAgain: true, at: system.address("edge"))
                #expect(refusal == nil)
                var texts: [MessagePayload] = []
                for try await message in clients[0].historyMessages(of: .user("bob"), pageSize: 10) {
                    texts.append(message.payload)
                }
                #expect(texts == [.text("and this"), .text("for later")])
            }
        }
    }

    /// Sends the message over a new connection, each time as the same client object, and returns the refusal.
    private func publish(
        _ text: String, sequence: UInt64, isAgain: Bool, isStored: Bool = true, at edge: String
    ) async throws -> ErrorCode? {
        let connection = try await RawConnection.open(edge)
        try await connection.logIn("alice", instance: 77)
        var publish = Rtm_Client_Publish()
        publish.channelType = .user
        publish.channel = "bob"
        publish.messageType = .text
        publish.payload = .init(text.utf8)
        publish.storeInHistory = isStored
        publish.sequence = sequence
        publish.again = isAgain
        publish.ageMs = isAgain ? 1_000 : 0
        for await frame in connection.frames {
            if frame.requestID == 2 { try await connection.send(3, .publish(publish)) }
            guard frame.requestID == 3 else { continue }
            try await connection.close()
            guard case .error(let error)? = frame.body else { return nil }
            return ErrorCode(rawValue: Int(error.code.rawValue)) ?? .invalidParameter
        }
        Issue.record("the connection has ended before the answer")
        return nil
    }
}
