import AgoraRtmKit
import Foundation
import RTMTestSupport
import Synchronization
import Testing

/// The samples of the reference's page on presence against a real server: what they print is that their calls
/// succeed, and another user sees what they do. On a client that is destroyed none of them succeeds, so every
/// such line comes from here.
@Suite("The reference's presence samples on a running system", .serialized, .ends(withinMinutes: 2))
struct RunningPresenceTests {
    /// What another user receives.
    private final class Listener: NSObject, AgoraRtmClientDelegate, Sendable {
        let received = Mutex<[String]>([])

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
            let states = event.states.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let text = (["\(event.type)", event.publisher ?? ""] + states).joined(separator: " ")
            received.withLock { $0.append(text) }
        }
    }

    private func kit(_ user: String, _ address: String, _ delegate: Listener) async throws
        -> AgoraRtmClientKit
    {
        let config = AgoraRtmClientConfig(appId: "dev", userId: user)
        config.privateConfig = AgoraRtmPrivateConfig()
        config.privateConfig?.serviceType = [.message]
        config.privateConfig?.accessPointHosts = [address]
        let kit = try AgoraRtmClientKit(config, delegate: delegate)
        #expect(await kit.login(nil).1 == nil)
        #expect(await kit.subscribe(channelName: "your_channel", option: nil).1 == nil)
        return kit
    }

    private func prints(_ line: String) async throws {
        try await eventually(line) { printedLines.withLock { $0.contains(line) } }
    }

    @Test("every call succeeds, in both forms and under both names, and is seen by the others")
    func samples() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let server = try ServiceProcess(
            "rtm-standalone",
            [
                "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--gateway-listen", "127.0.0.1:0",
                "--edge-web-socket-listen", "127.0.0.1:0",
                "--edge-rates-calls", "0", "--data",
                directory.appending(path: "data").path,
            ], directory: directory)
        defer { server.signal(SIGKILL) }
        let address = try #require(try await server.listening()["edge"])
        let (own, other) = (Listener(), Listener())
        // The users that the samples ask about.
        let rtm = try await kit("userid", address, own)
        let viewer = try await kit("userId", address, other)
        try await calls(rtm, viewer)
        try await eventually("the viewer receives all") { other.received.withLock { $0.count } >= 5 }
        #expect(
            other.received.withLock { $0 } == [
                "snapshot ", "remoteStateChanged userid key1=value1 key2=value2", "remoteStateChanged userid",
                "remoteStateChanged userid key1=value1", "remoteStateChanged userid",
            ])
        #expect(own.received.withLock { $0 } == ["snapshot ", "remoteJoinChannel userId"])
        sample002Delegate(rtm: rtm)
        #expect(rtm.destroy() == .ok && viewer.destroy() == .ok)
    }

    private func calls(_ rtm: AgoraRtmClientKit, _ viewer: AgoraRtmClientKit) async throws {
        sample002SetState(rtm: rtm)
        try await prints("setState success!!")
        sample002GetState(rtm: viewer)
        try await prints("getState success!!")
        sample002WhoNow(rtm: viewer)
        try await prints("whoNow success!!")
        sample002WhereNow(rtm: rtm)
        try await prints("whereNow success!!")
        sample002RemoveState(rtm: rtm)
        try await prints("removeState success!!")
        await sample002WhoNowAsync(rtm: viewer)
        try await prints("userId [:]")
        try await prints("userid [:]")
        try await prints("next page: none")
        await sample002NewerNamesAsync(rtm: viewer)
        for line in ["getOnlineUsers: 2", "getOnlineUser: 2", "getUserChannels: 1"] {
            try await prints("\(line), error none")
        }
        await sample002StateAsync(rtm: rtm)
        for line in [
            "setState: success", "getState: [\"key1\": \"value1\"], success", "removeState: success",
        ] {
            try await prints(line)
        }
    }
}
