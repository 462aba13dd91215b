// This target is compiled with the main actor as the default isolation, as new apps are. What the compiler
// accepts here has to be safe to call.

import AgoraRtmKit
import RTMTestSupport
import Testing

/// A delegate as an app writes it: a class of the main actor, although nothing says so.
final class Screen: NSObject, AgoraRtmClientDelegate {
    private(set) var states: [AgoraRtmLinkState] = []

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
        MainActor.assertIsolated()
        states.append(event.currentState)
    }
}

@Suite("Delegates of the main actor", .ends(withinMinutes: 1))
struct MainActorTests {
    private func kit(_ delegate: Screen) throws -> AgoraRtmClientKit {
        let config = AgoraRtmClientConfig(appId: "demo", userId: "alice")
        let privateConfig = AgoraRtmPrivateConfig()
        privateConfig.serviceType = [.message]
        // Nothing needs to listen there, because the attempt alone changes the link.
        privateConfig.accessPointHosts = ["127.0.0.1:9"]
        config.privateConfig = privateConfig
        return try AgoraRtmClientKit(config, delegate: delegate)
    }

    @Test("N-9: they are called on the main actor")
    func delegates() async throws {
        let screen = Screen()
        let kit = try kit(screen)
        kit.login(nil) { _, _ in }
        try await eventually("the link begins to connect") { screen.states.first == .connecting }
        kit.destroy()
    }

    @Test("N-9: a completion block comes on the main queue")
    func blocks() async throws {
        let kit = try kit(Screen())
        let key = DispatchSpecificKey<String>()
        DispatchQueue.main.setSpecific(key: key, value: "main")
        let place = await withCheckedContinuation { continuation in
            kit.logout { _, _ in continuation.resume(returning: DispatchQueue.getSpecific(key: key)) }
        }
        #expect(place == "main")
    }

    @Test(
        "N-9, N-11: a command-line program whose delegate belongs to the main actor, without a server's name")
    func program() async throws {
        let process = ChildProcess()
        // Nothing needs to listen there, because the attempt alone changes the link.
        process.environment = ["RTM_SERVER": "127.0.0.1:9"]
        process.executableURL = ServiceProcess.executables.appending(path: "rtm-main-actor-program")
        try process.run()
        try await eventually("the program ends", within: .seconds(20)) { !process.isRunning }
        #expect(process.terminationStatus == 0)
    }
}
