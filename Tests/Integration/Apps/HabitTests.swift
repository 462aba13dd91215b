import AgoraRtmKit
import Foundation
import RTMTestSupport
import Testing

/// What apps that were written against the vendor do although no page says that they may.
@Suite(.serialized, .ends(withinMinutes: 3)) struct HabitTests {
    private func withClients(
        _ users: String..., body: ([AppClient]) async throws -> Void
    ) async throws {
        try await RunningSystem.with(.standalone) { system in
            var clients: [AppClient] = []
            for user in users {
                clients.append(try await AppClient.login(user, at: system.address("edge")))
            }
            try await body(clients)
            for client in clients { client.destroy() }
        }
    }

    @Test("S-0a: calls from inside of completion blocks: login, subscribe, publish, logout, one in the other")
    func nested() async throws {
        try await withClients("anna", "ben") { clients in
            let (anna, ben) = (clients[0], clients[1])
            try succeeded(await ben.kit.subscribe(channelName: "lobby", option: nil))
            let kit = try anna.kit
            kit.subscribe(channelName: "lobby", option: nil) { _, error in
                anna.log.withLock { $0.append("subscribed \(error?.errorCode.rawValue ?? 0)") }
                kit.publish(channelName: "lobby", message: "one", option: nil) { _, error in
                    anna.log.withLock { $0.append("published \(error?.errorCode.rawValue ?? 0)") }
                    kit.unsubscribe("lobby") { _, error in
                        anna.log.withLock { $0.append("unsubscribed \(error?.errorCode.rawValue ?? 0)") }
                        kit.logout { _, error in
                            anna.log.withLock { $0.append("out \(error?.errorCode.rawValue ?? 0)") }
                            kit.login("") { _, error in
                                anna.log.withLock { $0.append("in \(error?.errorCode.rawValue ?? 0)") }
                            }
                        }
                    }
                }
            }
            try await eventually("the innermost block") { anna.log.present.contains("in 0") }
            #expect(
                anna.log.present.filter { !$0.hasPrefix("presence") }
                    == ["subscribed 0", "published 0", "unsubscribed 0", "out 0", "in 0"])
            try await eventually("the message") { ben.messages.present.count == 1 }
        }
    }

    @Test("M-5, P-1: subscribing twice in a row succeeds, and the block comes before the snapshot")
    func twice() async throws {
        try await withClients("anna") { clients in
            let anna = clients[0]
            let kit = try anna.kit
            kit.subscribe(channelName: "lobby", option: nil) { _, error in
                anna.log.withLock { $0.append("first \(error?.errorCode.rawValue ?? 0)") }
            }
            try await eventually("the snapshot") { anna.log.present.contains { $0.hasPrefix("presence") } }
            try succeeded(await kit.subscribe(channelName: "lobby", option: nil))
            let log = anna.log.present
            let block = try #require(log.firstIndex(of: "first 0"))
            let snapshot = try #require(log.firstIndex { $0.hasPrefix("presence") })
            #expect(block < snapshot)
        }
    }

    @Test("M-20, P-40: publishing and setting states right after the login, without or before a subscribe")
    func early() async throws {
        try await withClients("anna", "ben") { clients in
            let (anna, ben) = (clients[0], clients[1])
            try succeeded(await ben.kit.subscribe(channelName: "lobby", option: nil))
            let options = AgoraRtmPublishOptions()
            try succeeded(await anna.kit.publish(channelName: "lobby", message: "hi", option: options))
            try await eventually("the message") { ben.messages.present.count == 1 }
            let kit = try anna.kit
            let presence = try #require(kit.getPresence())
            try succeeded(
                await presence.setState(
                    channelName: "lobby", channelType: .message, items: ["mood": "fine"]))
            try succeeded(await kit.subscribe(channelName: "lobby", option: nil))
            let bens = try ben.kit
            let bensPresence = try #require(bens.getPresence())
            // The states follow the subscribe; its block doesn't wait for them.
            try await eventually("the states") {
                try succeeded(
                    await bensPresence.getState(
                        channelName: "lobby", channelType: .message, userId: "anna")
                ).state.states == ["mood": "fine"]
            }
        }
    }

    @Test("S-0b: nil, empty and odd arguments come back through the block, with a code")
    func odd() async throws {
        try await withClients("anna") { clients in
            let kit = try clients[0].kit
            // A call without a block is allowed, and its failure harms nothing.
            kit.publish(channelName: "", message: "x", option: nil, completion: nil)
            kit.subscribe(channelName: "", option: nil, completion: nil)
            kit.setUserMetadata(userId: "", data: AgoraRtmMetadata(), options: nil, completion: nil)
            #expect(await kit.subscribe(channelName: "", option: nil).1?.errorCode == .invalidChannelName)
            #expect(
                await kit.publish(channelName: "", message: "x", option: nil).1?.errorCode
                    == .invalidChannelName)
            try succeeded(await kit.publish(channelName: "lobby", message: "", option: nil))
            try succeeded(await kit.publish(channelName: "lobby", data: Data(), option: nil))
            #expect(await kit.unsubscribe("never").1?.errorCode == .channelNotSubscribed)
            // An empty set of features subscribes to nothing, and is a subscription all the same.
            let nothing = AgoraRtmSubscribeOptions()
            nothing.features = []
            try succeeded(await kit.subscribe(channelName: "lobby", option: nothing))
            try succeeded(await kit.unsubscribe("lobby"))
            #expect(
                await kit.setUserMetadata(userId: "", data: AgoraRtmMetadata(), options: nil).1?.errorCode
                    == .storageInvalidMetadataItem)
            try succeeded(await kit.getUserMetadata(userId: ""))
        }
    }

    @Test("N-8, S-9: a delegate removes itself, and the client is destroyed, inside of a callback")
    func destroyInside() async throws {
        try await withClients("anna", "ben") { clients in
            let (anna, ben) = (clients[0], clients[1])
            let kit = try ben.kit
            let leaver = Leaver()
            kit.addDelegate(leaver)
            try succeeded(await kit.subscribe(channelName: "lobby", option: nil))
            try succeeded(await anna.kit.publish(channelName: "lobby", message: "one", option: nil))
            try await eventually("the first message") { ben.messages.present.count == 1 }
            try succeeded(await anna.kit.publish(channelName: "lobby", message: "two", option: nil))
            try await eventually("the second message") { ben.messages.present.count == 2 }
            #expect(leaver.count.present == 1)
            let outcome = Shared<AgoraRtmErrorCode?>(nil)
            kit.unsubscribe("lobby") { _, _ in
                let code = kit.destroy()
                outcome.withLock { $0 = code }
            }
            try await eventually("destroyed") { outcome.present == .ok }
            #expect(
                await kit.publish(channelName: "lobby", message: "x", option: nil).1?.errorCode
                    == .instanceAlreadyReleased)
        }
    }

    private final class Leaver: NSObject, AgoraRtmClientDelegate, Sendable {
        let count = Shared(0)

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
            count.withLock { $0 += 1 }
            rtmKit.removeDelegate(self)
        }
    }
}
