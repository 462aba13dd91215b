import Logging
import NIOCore

/// One question to one server, over a connection of its own: to a sentinel, or to any node of a Cluster.
final class RedisQuestion: RedisConnectionDelegate {
    typealias Completion = RedisClient.Completion

    private let command: RedisCommand
    private var done: Completion?
    private var answer: Result<RedisReply, RedisFailure>?

    private init(_ command: RedisCommand, _ done: @escaping Completion) {
        self.command = command
        self.done = done
    }

    /// Completes exactly once, within the time limits of connecting and of a command.
    static func ask(
        _ command: RedisCommand, of endpoint: RedisEndpoint, _ configuration: RedisConfiguration,
        credentials: RedisCredentials, on eventLoop: any EventLoop, _ done: @escaping Completion
    ) {
        let logger = Logger(label: "question", factory: { _ in SwiftLogNoOpLogHandler() })
        let connection = RedisConnection(
            to: endpoint, configuration, as: .informant, credentials: credentials, on: eventLoop,
            logger: logger)
        connection.start(delegate: RedisQuestion(command, done))
    }

    func connectionIsUp(_ connection: RedisConnection) {
        connection.send(command) { [self] outcome in
            answer = outcome
            connection.shutdown()
        }
    }

    func connectionIsDown(_ connection: RedisConnection, _ cause: String) {
        guard let done else { return }
        self.done = nil
        connection.shutdown()
        done(answer ?? .failure(.notConnected(cause)))
    }

    func connectionAnswered(after time: TimeAmount) {}
}
