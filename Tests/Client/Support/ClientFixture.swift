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
        configuration.timing.logoutAnswer = .seconds(10)
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

extension Rtm_Client_ClientFrame {
    var isPublish: Bool { if case .publish = body { true } else { false } }
    var isSubscribe: Bool { if case .subscribe = body { true } else { false } }
    var isUnsubscribe: Bool { if case .unsubscribe = body { true } else { false } }
    var isLogin: Bool { if case .login = body { true } else { false } }
    var isRenewToken: Bool { if case .renewToken = body { true } else { false } }
    var isLogout: Bool { if case .logout = body { true } else { false } }
    var isHeartbeat: Bool { if case .heartbeat = body { true } else { false } }
}
