import AgoraRtmKit
import Foundation
import RTMTestSupport
import Synchronization
import Testing

/// One client of an app that was written against the vendor, and what its delegate has got, in order.
final class AppClient: NSObject, AgoraRtmClientDelegate, Sendable {
    private let made = Mutex<AgoraRtmClientKit?>(nil)
    let log = Shared([String]())
    let messages = Shared([AgoraRtmMessageEvent]())
    let storage = Shared([AgoraRtmStorageEvent]())
    /// What the app does inside of the callback of a storage event.
    let onStorage = Shared<(@Sendable (AgoraRtmStorageEvent) -> Void)?>(nil)

    /// Makes the client and logs in.
    static func login(
        _ user: String, at address: String,
        _ change: (AgoraRtmClientConfig) -> Void = { _ in }
    ) async throws -> AppClient {
        let client = AppClient()
        let config = AgoraRtmClientConfig(appId: "dev", userId: user)
        let privateConfig = AgoraRtmPrivateConfig()
        privateConfig.serviceType = [.message, .stream]
        privateConfig.accessPointHosts = [address]
        config.privateConfig = privateConfig
        change(config)
        let kit = try AgoraRtmClientKit(config, delegate: client)
        client.made.withLock { $0 = kit }
        try succeeded(await kit.login(nil))
        return client
    }

    var kit: AgoraRtmClientKit {
        get throws { try #require(made.withLock { $0 }) }
    }

    func destroy() {
        _ = made.withLock { kit in
            defer { kit = nil }
            return kit?.destroy()
        }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
        messages.withLock { $0.append(event) }
        log.withLock { $0.append("message \(event.message.stringData ?? "bytes")") }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent) {
        storage.withLock { $0.append(event) }
        log.withLock { $0.append("storage \(event.eventType) \(event.data.majorRevision)") }
        onStorage.present?(event)
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
        log.withLock { $0.append("presence \(event.type)") }
    }
}

/// Fails the test unless the call succeeded, and has a response and no error (S-0a).
@discardableResult
func succeeded<Response>(
    _ result: (Response?, AgoraRtmErrorInfo?), sourceLocation: SourceLocation = #_sourceLocation
) throws -> Response {
    if let error = result.1 {
        Issue.record("\(error.errorCode): \(error.reason)", sourceLocation: sourceLocation)
    }
    return try #require(result.0, sourceLocation: sourceLocation)
}
