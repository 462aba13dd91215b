import NIOCore
import RTMClient
import RTMProtocol
import Testing

extension RTMClient {
    /// A client of the fake edge, with times that a test can wait for.
    static func forTest(
        _ edge: FakeEdge, user: String = "alice", _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> RTMClient {
        var configuration = Configuration(
            servers: [ServerAddress(host: "127.0.0.1", port: edge.port)], appID: "app", userID: user)
        configuration.timing.firstRetryDelay = .milliseconds(10)
        configuration.timing.jitter = 0
        configuration.timing.goodbye = .seconds(10)
        change(&configuration)
        return try RTMClient(configuration)
    }
}

/// Runs the test with a client that is logged in, and closes both ends afterwards.
func withClient(
    _ script: FakeEdge.Script? = nil, _ change: (inout RTMClient.Configuration) -> Void = { _ in },
    _ body: (RTMClient, FakeEdge) async throws -> Void
) async throws {
    let edge = try await FakeEdge.start()
    if let script { edge.follow(script) }
    let client = try RTMClient.forTest(edge, change)
    do {
        try await client.login()
        try await body(client, edge)
    } catch {
        await client.close()
        try await edge.stop()
        throw error
    }
    await client.close()
    try await edge.stop()
}

extension RTMEvents.Iterator {
    mutating func nextLinkState(_ state: LinkState) async -> LinkStateEvent? {
        while let event = await next() {
            if case .linkState(let change) = event, change.currentState == state { return change }
        }
        return nil
    }

    mutating func nextMessage() async -> MessageEvent? {
        while let event = await next() {
            if case .message(let message) = event { return message }
        }
        return nil
    }

    mutating func nextGap() async -> GapEvent? {
        while let event = await next() {
            if case .gap(let gap) = event { return gap }
        }
        return nil
    }
}

/// The code that the call throws; nil if it succeeds.
func code(of call: () async throws -> Void) async -> ErrorCode? {
    do {
        try await call()
        return nil
    } catch {
        return (error as? RTMError)?.code
    }
}

extension Rtm_Client_ClientFrame {
    var isPublish: Bool { if case .publish = body { true } else { false } }
    var isSubscribe: Bool { if case .subscribe = body { true } else { false } }
    var isUnsubscribe: Bool { if case .unsubscribe = body { true } else { false } }
    var isLogin: Bool { if case .login = body { true } else { false } }
    var isLogout: Bool { if case .logout = body { true } else { false } }
    var isHeartbeat: Bool { if case .heartbeat = body { true } else { false } }
}
