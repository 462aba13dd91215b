import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// A user who subscribes to some channels and then does nothing: no client, one socket, no heartbeats for
/// half an hour. Many of them fit into a test.
struct RawUser {
    let name: String
    let connection: RawConnection

    /// - Parameter presenceTimeout: the presence timeout in seconds.
    static func enter(
        _ name: String, _ channels: [String], at address: String, presenceTimeout: UInt32
    ) async throws -> RawUser {
        let connection = try await RawConnection.open(address)
        try await connection.hello()
        try await connection.send(
            2,
            .login(
                .with {
                    $0.appID = "dev"
                    $0.userID = name
                    $0.heartbeatIntervalS = 1_800
                    $0.presenceTimeoutS = presenceTimeout
                }))
        var answers = connection.frames.makeAsyncIterator()
        var subscribed = 0
        while subscribed < channels.count {
            switch try #require(await answers.next()).body {
            case .loggedIn:
                for (number, channel) in channels.enumerated() {
                    try await connection.send(
                        UInt64(3 + number), .subscribe(.with { ($0.channel, $0.features) = (channel, 4) }))
                }
            case .subscribed(let answer):
                try #require(answer.featuresUnavailable == 0)
                subscribed += 1
            case .error(let error): throw RTMError(.invalidParameter, "\(name) is refused: \(error.reason)")
            default: break
            }
        }
        return RawUser(name: name, connection: connection)
    }

    /// Makes many users, some at a time.
    static func enter(
        _ users: [(name: String, channels: [String])], at address: String, presenceTimeout: UInt32
    ) async throws -> [RawUser] {
        try await withThrowingTaskGroup(of: RawUser.self) { group in
            var entered: [RawUser] = []
            for (number, user) in users.enumerated() {
                if number >= 50, let one = try await group.next() { entered.append(one) }
                group.addTask {
                    try await enter(
                        user.name, user.channels, at: address, presenceTimeout: presenceTimeout)
                }
            }
            for try await one in group { entered.append(one) }
            return entered
        }
    }
}
