// A command-line program whose code belongs to the main actor, as the compiler's default for new apps has it.
// It ends with 0 when its delegate has heard of the link, and traps if the delegate is called off the main
// actor.

import AgoraRtmKit

final class ProgramScreen: NSObject, AgoraRtmClientDelegate {
    private(set) var states: [AgoraRtmLinkState] = []

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
        MainActor.assertIsolated()
        states.append(event.currentState)
        if event.currentState == .idle { exit(states.first == .connecting ? 0 : 1) }
    }
}

// Where its server is, the environment says: no line does.
let config = AgoraRtmClientConfig(appId: "demo", userId: "alice")
let screen = ProgramScreen()
let kit = try AgoraRtmClientKit(config, delegate: screen)
kit.login(nil)
kit.logout { _, _ in }
dispatchMain()
