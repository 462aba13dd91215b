import AgoraRtmKit
import Foundation
import NIOCore
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMClient

/// An app that lets go of an object without ending anything first has no leak: the object is gone while
/// events still flow, its connection is closed, and others see the user leave.
@Suite("What an app lets go of is gone", .serialized, .ends(withinMinutes: 2)) struct ReleaseTests {
    private struct Watched: Sendable {
        let what: String
        // Safety: whether it is nil is all that anybody asks, and a weak reference may be asked anywhere.
        nonisolated(unsafe) private weak var object: AnyObject?
        var isGone: Bool { object == nil }

        init(_ object: AnyObject) {
            what = "\(type(of: object))"
            self.object = object
        }
    }

    private final class Listener: NSObject, AgoraRtmClientDelegate, Sendable {
        let count: Mutex<Int>

        init(_ count: Int = 0) { self.count = Mutex(count) }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
            count.withLock { $0 += 1 }
        }
    }

    /// Somebody publishes to "lobby" without an end while the body runs.
    private func withFlow(_ body: (RunningSystem, RTMClient) async throws -> Void) async throws {
        try await RunningSystem.with(.standalone) { system in
            let publisher = try system.client("publisher")
            try await publisher.login()
            let flow = Task {
                var count = 0
                while !Task.isCancelled {
                    count += 1
                    try await publisher.publish("\(count)", to: .channel("lobby"))
                }
            }
            do { try await body(system, publisher) } catch {
                flow.cancel()
                await publisher.close()
                throw error
            }
            flow.cancel()
            _ = await flow.result
            await publisher.close()
        }
    }

    private func areGone(_ watched: [Watched], _ witness: RTMClient) async throws {
        try await eventually("all is gone: \(watched.filter { !$0.isGone }.map(\.what))") {
            watched.allSatisfy(\.isGone)
        }
        try await eventually("the user has left") {
            try await witness.whoNow(in: "lobby").users.map(\.userID).contains("reader") == false
        }
    }

    @Test("RTMClient: the client, its link and its events, while a loop still waits for them")
    func client() async throws {
        try await withFlow { system, witness in
            let received = Shared(0)
            func use() async throws -> ([Watched], Task<Void, Never>) {
                let client = try system.client("reader")
                let events = client.events()
                let loop = Task {
                    for await case .message in events { received.withLock { $0 += 1 } }
                }
                try await client.login()
                try await client.subscribe(to: "lobby")
                let room = try await client.join("room")
                try await room.joinTopic("chat")
                try await eventually("messages come") { received.present > 50 }
                let link = try await client.eventLoop.submit { [link = client.link] in Watched(link.value) }
                    .get()
                return ([Watched(client), link, Watched(client.hub)], loop)
            }
            let (watched, loop) = try await use()
            try await areGone(watched, witness)
            await loop.value
        }
    }

    @Test("AgoraRtmKit: the kit, its parts and its delegate", arguments: [false, true])
    func kit(_ isDestroyed: Bool) async throws {
        try await withFlow { system, witness in
            func use() async throws -> [Watched] {
                let config = AgoraRtmClientConfig(appId: "dev", userId: "reader")
                let privateConfig = AgoraRtmPrivateConfig()
                privateConfig.serviceType = [.message, .stream]
                privateConfig.accessPointHosts = [system.address("edge")]
                config.privateConfig = privateConfig
                let listener = Listener()
                let kit = try AgoraRtmClientKit(config, delegate: listener)
                var watched = [Watched(config), Watched(listener), Watched(kit)]
                #expect(await kit.login(nil).1 == nil)
                #expect(await kit.subscribe(channelName: "lobby", option: nil).1 == nil)
                let stream = try kit.createStreamChannel("room")
                #expect(await stream.join(AgoraRtmJoinChannelOption()).1 == nil)
                let parts: [AnyObject?] = [
                    stream, kit.getPresence(), kit.getStorage(), kit.getLock(), kit.getHistory(),
                ]
                watched += try parts.map { Watched(try #require($0)) }
                try await eventually("messages come") { listener.count.withLock { $0 } > 50 }
                if isDestroyed { #expect(kit.destroy() == .ok) }
                return watched
            }
            try await areGone(try await use(), witness)
        }
    }
}
