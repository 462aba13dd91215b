import AgoraRtmKit
import Foundation
import RTMTestSupport
import Synchronization
import Testing

/// The compatible API against the real system: what an app that was written for the reference sees.
@Suite(.serialized) struct AgoraRtmKitTests {
    /// Everything that a delegate gets, in order.
    private final class Listener: NSObject, AgoraRtmClientDelegate, Sendable {
        let messages = Mutex<[String]>([])
        let links = Mutex<[AgoraRtmLinkState]>([])
        let presence = Mutex<[AgoraRtmPresenceEventType]>([])

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
            let text = event.message.stringData ?? "\(event.message.rawData?.count ?? -1) bytes"
            let type = event.customType ?? "nil"
            messages.withLock { $0.append("\(event.channelName) \(event.publisher) \(type) \(text)") }
        }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
            links.withLock { $0.append(event.currentState) }
        }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
            presence.withLock { $0.append(event.type) }
        }

        func received(_ count: Int) async throws -> [String] {
            try await eventually("\(count) messages") { messages.withLock { $0.count } >= count }
            return messages.withLock { $0 }
        }
    }

    private func kit(_ system: RunningSystem, _ user: String, _ delegate: any AgoraRtmClientDelegate) throws
        -> AgoraRtmClientKit
    {
        let config = AgoraRtmClientConfig(appId: "dev", userId: user)
        let privateConfig = AgoraRtmPrivateConfig()
        privateConfig.serviceType = [.message]
        privateConfig.accessPointHosts = [system.address("edge")]
        config.privateConfig = privateConfig
        return try AgoraRtmClientKit(config, delegate: delegate)
    }

    @Test(
        "login, subscribe, publish, unsubscribe, logout, destroy in the async forms",
        arguments: Deployment.allCases)
    func asyncForms(_ deployment: Deployment) async throws {
        try await RunningSystem.with(deployment) { system in
            let (aliceListener, bobListener) = (Listener(), Listener())
            let alice = try kit(system, "alice", aliceListener)
            let bob = try kit(system, "bob", bobListener)
            for client in [alice, bob] {
                let (response, error) = await client.login(nil)
                #expect(response != nil)
                #expect(error == nil)
            }
            let (_, subscribed) = await bob.subscribe(channelName: "lobby", option: nil)
            #expect(subscribed == nil)
            let options = AgoraRtmPublishOptions()
            options.customType = "PlainText"
            let (_, text) = await alice.publish(
                channelName: "lobby", message: "Hello, Agora!", option: options)
            #expect(text == nil)
            let (_, data) = await alice.publish(channelName: "lobby", data: Data([0, 1, 2, 3]), option: nil)
            #expect(data == nil)
            let toUser = AgoraRtmPublishOptions()
            toUser.channelType = .user
            let (_, user) = await alice.publish(channelName: "bob", message: "psst", option: toUser)
            #expect(user == nil)
            #expect(
                try await bobListener.received(3) == [
                    "lobby alice PlainText Hello, Agora!", "lobby alice  4 bytes", "bob alice  psst",
                ])
            // Presence is on by default, so the snapshot comes first (P-1, M-4).
            try await eventually("the snapshot") { bobListener.presence.withLock { $0 } == [.snapshot] }
            #expect(bobListener.links.withLock { $0 } == [.connecting, .connected])

            let (_, offline) = await alice.publish(channelName: "carol", message: "?", option: toUser)
            #expect(offline?.errorCode == .channelReceiverOffline)
            #expect(offline?.operation.isEmpty == false)
            let (_, unsubscribed) = await bob.unsubscribe("lobby")
            #expect(unsubscribed == nil)
            let (_, loggedOut) = await bob.logout()
            #expect(loggedOut == nil)
            #expect(alice.destroy() == .ok)
            #expect(bob.destroy() == .ok)
        }
    }

    @Test("M-4: the completion of a subscribe comes before its snapshot, however many there are at once")
    func snapshotAfterCompletion() async throws {
        try await RunningSystem.with(.standalone) { system in
            let received = Mutex<[String]>([])
            let listener = SnapshotListener { channel in
                received.withLock { $0.append("snapshot \(channel)") }
            }
            let alice = try kit(system, "alice", listener)
            _ = await alice.login(nil)
            for _ in 0..<8 {
                for number in 0..<40 {
                    alice.subscribe(channelName: "\(number)", option: nil) { _, _ in
                        received.withLock { $0.append("done \(number)") }
                    }
                }
                try await eventually("all were subscribed") { received.withLock { $0.count } >= 80 }
                let order = received.withLock { order in
                    defer { order = [] }
                    return order
                }
                let early = (0..<40).filter { number in
                    (order.firstIndex(of: "snapshot \(number)") ?? 99)
                        < (order.firstIndex(of: "done \(number)") ?? 0)
                }
                #expect(early.isEmpty)
                for number in 0..<40 { _ = await alice.unsubscribe("\(number)") }
            }
            alice.destroy()
        }
    }

    private final class SnapshotListener: NSObject, AgoraRtmClientDelegate, Sendable {
        private let onSnapshot: @Sendable (String) -> Void

        init(_ onSnapshot: @escaping @Sendable (String) -> Void) { self.onSnapshot = onSnapshot }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
            if event.type == .snapshot { onSnapshot(event.channelName) }
        }
    }

    @Test("The completion forms do the same, one after the other in the order of the calls")
    func completionForms() async throws {
        try await RunningSystem.with(.standalone) { system in
            let (aliceListener, bobListener) = (Listener(), Listener())
            let alice = try kit(system, "alice", aliceListener)
            let bob = try kit(system, "bob", bobListener)
            let completed = Mutex<[String]>([])
            let note: @Sendable (String) -> AgoraRtmOperationBlock = { name in
                { response, error in
                    completed.withLock {
                        $0.append((response != nil) == (error == nil) ? name : "\(name) twice")
                    }
                }
            }
            _ = await bob.login(nil)
            _ = await bob.subscribe(channelName: "lobby", option: nil)
            _ = await alice.login(nil)
            for number in 0..<50 {
                alice.publish(
                    channelName: "lobby", message: "\(number)", option: nil, completion: note("\(number)"))
            }
            let expected = (0..<50).map { "lobby alice  \($0)" }
            #expect(try await bobListener.received(50) == expected)
            try await eventually("all completions") { completed.withLock { $0.count } == 50 }
            #expect(completed.withLock { Set($0) } == Set((0..<50).map { "\($0)" }))
            alice.logout(note("logout"))
            try await eventually("logout") { completed.withLock { $0.last } == "logout" }
            alice.destroy()
            bob.destroy()
        }
    }

    @Test(
        "M-4, -11032: presence that isn't there, or gives no snapshot within 5 s, is said; the channel is subscribed"
    )
    func presenceNotReady() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let (aliceListener, bobListener) = (Listener(), Listener())
            let alice = try kit(system, "alice", aliceListener)
            let bob = try kit(system, "bob", bobListener)
            for client in [alice, bob] { #expect(await client.login(nil).1 == nil) }
            // The server is there and doesn't answer.
            let presence = try system.process("rtm-presence")
            presence.signal(SIGSTOP)
            let (response, error) = await bob.subscribe(channelName: "lobby", option: nil)
            #expect(response == nil)
            #expect(error?.errorCode == .channelPresenceNotReady && error?.operation == "subscribe")
            try await eventually("it is said") {
                bobListener.presence.withLock { $0 } == [.errorOutOfService]
            }
            #expect(await alice.publish(channelName: "lobby", message: "still", option: nil).1 == nil)
            #expect(try await bobListener.received(1) == ["lobby alice  still"])
            // The server is not there at all, which is known at once.
            try await presence.kill9()
            let away = "http://\(system.address("rtm-edge admin"))/metrics"
            try await eventually("the edge notices") {
                try await system.get(away).body.contains("rtm_edge_links{service=\"presence\"} 0")
            }
            let (_, refusal) = await bob.subscribe(channelName: "hall", option: nil)
            #expect(refusal?.errorCode == .channelPresenceNotReady)
            let (_, call) =
                await bob.getPresence()?.whoNow(
                    channelName: "lobby", channelType: .message, options: nil) ?? (nil, nil)
            #expect(call?.errorCode == .presenceOperationFailed)
            // A user who doesn't ask for presence misses nothing.
            let options = AgoraRtmSubscribeOptions()
            options.features = [.message]
            #expect(await alice.subscribe(channelName: "lobby", option: options).1 == nil)
            try await system.launchPresence()
            try await eventually("snapshots of both channels") {
                bobListener.presence.withLock { $0.count { $0 == .snapshot } } >= 2
            }
            #expect(await bob.subscribe(channelName: "lobby", option: nil).1 == nil)
            for client in [alice, bob] { #expect(client.destroy() == .ok) }
        }
    }
}
