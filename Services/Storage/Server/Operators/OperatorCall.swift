import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// One request of an operator's program to the service that runs. It goes to the node that leads the app's
/// shard, whichever node the program connects to first.
enum OperatorCall {
    /// What a link is called that a command of an operator opens.
    static let node = "operator"

    /// How long the service may take to answer.
    private static let timeout = Duration.seconds(10)

    static func ban(
        _ ban: Ban, _ access: OperatorCommands.Access, _ configuration: Configuration
    ) throws -> BanOutcome {
        try ask(access, configuration) { client, done in client.call(StorageMethod.ban, ban, done) }
    }

    static func bans(
        _ place: BansRequest, _ access: OperatorCommands.Access, _ configuration: Configuration
    ) throws -> BansResponse {
        try ask(access, configuration) { client, done in client.bans(place, done) }
    }

    private static func ask<Answer: Sendable>(
        _ access: OperatorCommands.Access, _ configuration: Configuration,
        _ question: @escaping @Sendable (StorageClient, @escaping (ServiceLinkResult<Answer>) -> Void) -> Void
    ) throws -> Answer {
        let address = access.address(configuration)
        let settings = try access.link(configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { try? group.syncShutdownGracefully() }
        let loop = group.next()
        let answer = loop.makePromise(of: Answer.self)
        loop.execute {
            let client = StorageClient(
                to: [address], settings, node: node, timeout: timeout, endOfTurn: .shared(on: loop),
                logger: Logger(label: "operator") { _ in SwiftLogNoOpLogHandler() })
            client.start(caller: OperatorCaller(client, question, answer))
        }
        loop.scheduleTask(in: TimeAmount(timeout)) {
            answer.fail(RTMError(.storageNotAvailable, "not every shard has a leader that can be reached"))
        }
        do {
            return try answer.futureResult.wait()
        } catch {
            throw ServiceFailure.unavailable("storage at \(address)", error)
        }
    }
}

/// Asks its question as soon as every shard has a leader.
private final class OperatorCaller<Answer: Sendable>: StorageCaller {
    typealias Question = (StorageClient, @escaping (ServiceLinkResult<Answer>) -> Void) -> Void

    private let client: StorageClient
    private let question: Question
    private let answer: EventLoopPromise<Answer>
    private var isAsked = false

    init(_ client: StorageClient, _ question: @escaping Question, _ answer: EventLoopPromise<Answer>) {
        self.client = client
        self.question = question
        self.answer = answer
    }

    func storageIsUp(_ shard: Int, isWhole: Bool) {
        guard isWhole, !isAsked else { return }
        isAsked = true
        question(client) { [self] result in
            switch result {
            case .success(let answer): self.answer.succeed(answer)
            case .failure(.refused(let error)): answer.fail(error)
            case .failure(let failure): answer.fail(failure)
            }
            client.shutdown()
        }
    }

    func storageIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) {}

    func storageIsUnreachable(_ reason: ServiceLinkDownReason) {
        guard !client.isReached else { return }
        answer.fail(RTMError(.storageNotAvailable, "it can't be reached: \(reason)"))
        client.shutdown()
    }
}
